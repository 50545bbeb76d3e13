"""How the importance weights of a target are spread, estimator by estimator."""

from __future__ import annotations

import math

from ...report import words
from ...report.charts import Chart, Series
from ...report.sheet import Figures
from .facts import Document, Record

Weights = tuple[str, list[Record]]
"""A target, and the histograms of its estimators."""


def weights_of(document: Document) -> list[Weights]:
    """The histograms of each target that hold any weight."""
    found: dict[str, list[Record]] = {}
    for one in document.get("weights") or []:
        if _total(one):
            found.setdefault(one["target"], []).append(one)
    return list(found.items())


def weights_chart(found: Weights) -> Chart:
    """The share of all weights in each bin above 0; the axis is of powers of ten."""
    lines = []
    for one in found[1]:
        bins = list(zip(one["edges"], one["edges"][1:], one["counts"], strict=False))
        seen = [place for place, (_, _, number) in enumerate(bins) if number]
        kept = bins[seen[0] : seen[-1] + 1] if seen else []
        shares = [100 * number / _total(one) for _, _, number in kept]
        lines.append(Series(one["estimator"], [math.sqrt(a * b) for a, b, _ in kept], shares, line=True))
    drawn = tuple(line for line in lines if line.x)
    return Chart(f"Weights of {found[0]}", "weight", "% of the weights", drawn, log_x=True)


def weights_table(found: Weights) -> Figures:
    """What the chart leaves out: weights of 0 and below, and the largest."""
    rows = []
    for one in found[1]:
        largest = max((edge for edge, number in zip(one["edges"][1:], one["counts"], strict=True) if number), default=0)
        shares = (words.percent(number / _total(one)) for number in (one["zeros"], sum(one["negative_counts"])))
        rows.append((one["estimator"], *shares, words.number(largest, words.decimals(largest, None))))
    return Figures(f"Weights of {words.quote(found[0])}", ("estimator", "zero", "negative", "all below"), tuple(rows))


def _total(one: Record) -> float:
    return sum(one["counts"]) + sum(one["negative_counts"]) + one["zeros"]
