"""Guardrails at their very bound: how often is one said to hold, or to be broken, and do their intervals cover?

Lists of three of six items for 20 queries; what a click orders and pays depends on the item. The true changes are sums
over all 120 lists of each query, and each guardrail's bound is the true change: whatever is said of it is wrong.

    python benchmarks/guardrails.py [--logs 400] [--rows 4000] [--write docs/how-to/recipes.md]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path

import numpy as np
import pyarrow as pa
from _page import generated
from rich.progress import track

import offrank
from offrank.language.formatting import percent

QUERIES, ITEMS, SLOTS = 20, 6, 3
LOGGING, TARGET = "plackett_luce(old)", "plackett_luce(new)"
OUTCOMES = ("orders", "revenue", "orders / clicks", "revenue / orders")
EXAMINED = np.array([1.0, 0.7, 0.5])
_RNG = np.random.default_rng(11)
OLD = np.exp(_RNG.normal(size=(QUERIES, ITEMS)) / 2)
NEW = OLD * np.exp(_RNG.normal(size=OLD.shape) / 3)
CLICKS, ORDERS = _RNG.uniform(0.1, 0.6, OLD.shape), _RNG.uniform(0.1, 0.5, OLD.shape)
PRICES = _RNG.uniform(5, 40, OLD.shape)
LISTS = np.array(list(permutations(range(ITEMS), SLOTS)))


def true_means(weight: np.ndarray) -> dict[str, float]:
    """The mean of each outcome under Plackett-Luce by these weights, summed over all lists."""
    picked = weight[:, LISTS]
    left = weight.sum(axis=1)[:, None, None] - np.cumsum(picked, axis=2) + picked
    law = (picked / left).prod(axis=2)
    clicks = CLICKS[:, LISTS] * EXAMINED
    orders = clicks * ORDERS[:, LISTS]
    each = {"clicks": clicks, "orders": orders, "revenue": orders * PRICES[:, LISTS]}
    means = {name: float((law * one.sum(axis=2)).sum() / QUERIES) for name, one in each.items()}
    ratios = {name: (one, per) for name in OUTCOMES for one, _, per in [name.partition(" / ")] if per}
    return means | {name: means[one] / means[per] for name, (one, per) in ratios.items()}


def simulate(rows: int, rng: np.random.Generator) -> pa.Table:
    query = rng.integers(0, QUERIES, rows)
    slate = np.argsort(-np.log(OLD[query]) - rng.gumbel(size=(rows, ITEMS)), axis=1)[:, :SLOTS]
    at = query[:, None], slate
    clicked = rng.random(slate.shape) < CLICKS[at] * EXAMINED
    ordered = clicked & (rng.random(slate.shape) < ORDERS[at])
    paid = ordered * PRICES[at] * rng.lognormal(-0.125, 0.5, slate.shape)
    columns = {
        "query": query,
        "slate": [*slate],
        "candidates": [np.arange(ITEMS)] * rows,
        "clicks": [*clicked.astype(int)],
    }
    columns |= {"old": [*OLD[query]], "new": [*NEW[query]], "orders": ordered.sum(axis=1), "revenue": paid.sum(axis=1)}
    return pa.table({name: pa.array(one) for name, one in columns.items()})


def lines(logs: int, rows: int) -> Iterator[str]:
    before, after = true_means(OLD), true_means(NEW)
    change = {name: after[name] / before[name] - 1 for name in OUTCOMES}
    rails = [f"{name} > {100 * change[name]:.12f}%" for name in OUTCOMES]
    covered, alone, together = dict.fromkeys(OUTCOMES, 0), dict.fromkeys(OUTCOMES, 0), [0, 0]
    for seed in track(range(logs), transient=True):
        log = simulate(rows, np.random.default_rng(seed))
        found = offrank.evaluate(log, TARGET, LOGGING, "snips", cluster=None, outcomes=OUTCOMES, guardrails=rails)
        wrong = []
        for name in OUTCOMES:
            ends = found.outcomes[name].verdict.relative
            wrong.append(not ends.low <= change[name] <= ends.high)
            covered[name] += not wrong[-1]
        for one in found.guardrails:
            alone[one.guardrail.outcome] += one.state != "not shown"
        together[0] += any(wrong)
        together[1] += any(one.state != "not shown" for one in found.guardrails)
    yield "| outcome | true change | its own 95 % interval covers | said of its guardrail, wrongly |"
    yield "|---|--:|--:|--:|"
    for name in OUTCOMES:
        shares = (percent(one[name] / logs, 1) for one in (covered, alone))
        yield f"| {name} | {percent(change[name], 2)} | " + " | ".join(shares) + " |"
    yield f"| any of the four | | {percent(1 - together[0] / logs, 1)} | {percent(together[1] / logs, 1)} |"
    yield ""
    yield f"{logs} logs of {rows:,} rows, by snips."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--logs", type=int, default=400)
    parser.add_argument("--rows", type=int, default=4000)
    parser.add_argument("--write", type=Path, help="the page that includes the table")
    given = parser.parse_args()
    found = list(lines(given.logs, given.rows))
    print(*found, sep="\n")
    if given.write:
        generated(given.write, "guardrails", found, "benchmarks/guardrails.py")


if __name__ == "__main__":
    main()
