"""How the importance weights are spread, as data: one histogram per target and estimator on a shared axis."""

from __future__ import annotations

from dataclasses import dataclass

from offrank.report import words
from offrank.report.facts import Document, Record
from offrank.report.plots import Axis, Tick


@dataclass(frozen=True)
class Bar:
    """One bar of a histogram: its ends from 0 to 1, its height as a part of the tallest one."""

    left: float
    right: float
    height: float


@dataclass(frozen=True)
class Histogram:
    """Importance weights of one estimator; `note` says what the bars do not show."""

    target: str
    estimator: str
    bars: tuple[Bar, ...]
    ticks: tuple[Tick, ...]
    one: float | None
    note: str

    @property
    def title(self) -> str:
        """What is drawn, for those who cannot see it."""
        return f"Importance weights of {self.estimator} for {self.target}"


def histograms(document: Document) -> list[Histogram]:
    """The weights of every estimator that has some; the axis (powers of ten) is the same for all."""
    found = [one for one in document.get("weights") or [] if _filled(one) or one.get("zeros")]
    edges = [edge for one in found for pair in _filled(one) for edge in pair[:2]]
    axis = Axis(min(edges), max(edges), log=True) if edges else Axis(0.1, 10.0, log=True)
    return [_histogram(one, axis) for one in found]


def _histogram(weights: Record, axis: Axis) -> Histogram:
    filled = _filled(weights)
    tallest = max((share for _, _, share in filled), default=1.0)
    one = axis.position(1.0)
    return Histogram(
        target=weights["target"],
        estimator=weights["estimator"],
        bars=tuple(Bar(axis.position(a), axis.position(b), share / tallest) for a, b, share in filled),
        ticks=axis.ticks(4),
        one=one if 0 <= one <= 1 else None,
        note=_note(weights, filled, tallest),
    )


def _note(weights: Record, filled: list[tuple[float, float, float]], tallest: float) -> str:
    zeros = weights.get("zeros") or 0.0
    total = zeros + sum(weights.get("counts") or [])
    if not filled:
        return "Every weight is zero."
    missing = f"{words.percent(zeros / total)} of the weights are zero" if zeros else "No weight is zero"
    largest = max(right for _, right, _ in filled)
    most = f"the tallest bar holds {words.percent(tallest)}"
    below = words.number(largest, words.decimals(largest, None))
    return f"{missing}; {most}, the largest weight is below {below}."


def _filled(weights: Record) -> list[tuple[float, float, float]]:
    """Left edge, right edge and share of all weights, for the bins that hold any."""
    edges, counts = weights.get("edges") or [], weights.get("counts") or []
    total = sum(counts) + (weights.get("zeros") or 0.0)
    bins = zip(edges[:-1], edges[1:], counts, strict=True) if counts else ()
    return [(left, right, number / total) for left, right, number in bins if number > 0]
