"""Exact Plackett-Luce laws and draws, against what NumPy does instead, in one process and one thread.

Where no exact NumPy code is practical the reference is counting in drawn slates, whose error is given.

    python benchmarks/plackett_luce.py [--repeats 5]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from _timing import in_turn
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from offrank.log import Contexts
from offrank.policies import PlackettLuce
from offrank.policies.plackett_luce import order_given_set, pair_probs, rank_probs, sample, sample_order_given_set

Floats = NDArray[np.float64]
Job = Callable[[], Any]
RNG = np.random.default_rng(0)
SCORES = RNG.lognormal(size=(200, 100))
LEVELS = 2.0 ** -np.floor(np.log2(1 + np.arange(100)))
SHOWN = RNG.lognormal(size=(200, 16))
POLICY = PlackettLuce("score")
CONTEXTS = Contexts(
    np.zeros((50_000, 100), np.int64),
    np.full(50_000, 100),
    np.full(50_000, 10),
    scores={"score": RNG.lognormal(size=(50_000, 100))},
)


def drawn(scores: Floats, length: int, n: int) -> NDArray[np.int64]:
    """Gumbel noise, the largest `length`, sorted."""
    keys = np.log(scores) + RNG.gumbel(size=(n, len(scores)))
    top = np.argpartition(-keys, length, axis=1)[:, :length]
    order = np.argsort(-np.take_along_axis(keys, top, axis=1), axis=1)
    return np.take_along_axis(top, order, axis=1)


def counted_ranks(scores: Floats, length: int, n: int) -> Floats:
    slates = drawn(scores, length, n)
    return np.stack([np.bincount(slates[:, rank], minlength=len(scores)) for rank in range(length)], axis=1) / n


def counted_pairs(scores: Floats, length: int, n: int) -> Floats:
    places = drawn(scores, length, n) * length + np.arange(length)
    size = len(scores) * length
    pairs = places[:, :, None] * size + places[:, None, :]
    return np.bincount(pairs.ravel(), minlength=size * size) / n


def literal_recursion(shown: Floats, rest: float) -> Floats:
    """Lemmas 1 and 2 of paper non-shuffled-traffic as they stand, with a cache."""
    size, total = len(shown), shown.sum() + rest
    mass = cache(lambda left: sum(shown[i] for i in range(size) if left >> i & 1))

    def step(left: int, item: int) -> float:
        return float(shown[item] / (total - mass(left ^ (1 << item))))

    @cache
    def at(left: int, item: int, rank: int) -> float:
        if left.bit_count() == rank:
            return first(left ^ (1 << item)) * step(left, item)
        others = (i for i in range(size) if left >> i & 1 and i != item)
        return sum(at(left ^ (1 << i), item, rank) * step(left, i) for i in others)

    @cache
    def first(left: int) -> float:
        return sum(first(left ^ (1 << i)) * step(left, i) for i in range(size) if left >> i & 1) if left else 1.0

    full = (1 << size) - 1
    return np.array([[at(full, item, rank + 1) for rank in range(size)] for item in range(size)]) / first(full)


@dataclass(frozen=True)
class Side:
    """What one side runs: a name, how many units one run does, and the job."""

    name: str
    units: float
    job: Job


def ours(name: str, job: Job, units: float = 1, aim: float | None = None) -> tuple[Side, float | None]:
    return Side(name, units, job), aim


COUNTED = "100,000 draws (error .0016)"
ORDERED = "10,000 exact draws (error .005)"
ROWS = [
    (
        ours("rank_probs, 10 of 100", lambda: rank_probs(SCORES, 10), 200, 1e-3),
        Side("10,000 draws (error .004)", 1, lambda: counted_ranks(SCORES[0], 10, 10_000)),
    ),
    (
        ours("rank_probs, 100 of 1,000", lambda: rank_probs(SCORES[:10].ravel(), 100)),
        Side("1,000 draws (error .01)", 1, lambda: counted_ranks(SCORES[:10].ravel(), 100, 1_000)),
    ),
    (
        ours("order_given_set, 10", lambda: order_given_set(SHOWN[:, :10], np.ones(200)), 200, 60e-6),
        Side("the paper's recursion", 1, lambda: literal_recursion(SHOWN[0, :10], 1.0)),
    ),
    (
        ours("order_given_set, 16", lambda: order_given_set(SHOWN[:20], np.ones(20)), 20, 15e-3),
        Side(ORDERED, 1, lambda: sample_order_given_set(SHOWN[0], 1.0, 10_000, RNG)),
    ),
    (
        ours("order_given_set, 50", lambda: order_given_set(SCORES[0, :50], 10.0)),
        Side(ORDERED, 1, lambda: sample_order_given_set(SCORES[0, :50], 10.0, 10_000, RNG)),
    ),
    (
        ours("sample, 1,000,000 of 10 from 100", lambda: sample(SCORES[0], 10, 1_000_000, RNG), 1, 1.5),
        Side("Gumbel noise, argpartition", 0.05, lambda: drawn(SCORES[0], 10, 50_000)),
    ),
    (
        ours("the same, a context each", lambda: POLICY.sample(CONTEXTS, RNG), 0.05, 1.5),
        Side("Gumbel noise, argpartition", 0.05, lambda: drawn(SCORES[0], 10, 50_000)),
    ),
    (
        ours("pair_probs, 10 of 100, 7 levels", lambda: pair_probs(LEVELS, 10), 1, 0.25),
        Side(COUNTED, 1, lambda: counted_pairs(LEVELS, 10, 100_000)),
    ),
    (
        ours("pair_probs, 5 of 50, no ties", lambda: pair_probs(SCORES[0, :50], 5)),
        Side(COUNTED, 1, lambda: counted_pairs(SCORES[0, :50], 5, 100_000)),
    ),
    (
        ours("pair_probs, 10 of 100, no ties", lambda: pair_probs(SCORES[0], 10)),
        Side(COUNTED, 1, lambda: counted_pairs(SCORES[0], 10, 100_000)),
    ),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    table = Table(title="Seconds for one, in one thread", title_justify="left")
    table.add_column("offrank")
    for heading in ("best", "median", "aim"):
        table.add_column(heading, justify="right")
    table.add_column("reference")
    for heading in ("best", "median", "reference / offrank"):
        table.add_column(heading, justify="right")
    for (our, aim), their in ROWS:
        found = in_turn({"ours": our.job, "theirs": their.job}, repeats)
        mine, other = (
            [found[name].best / side.units, found[name].median / side.units]
            for name, side in (("ours", our), ("theirs", their))
        )
        words = ["" if cell is None else f"{cell:.3g}" for cell in (*mine, aim, *other)]
        table.add_row(our.name, *words[:3], their.name, *words[3:], f"{other[0] / mine[0]:.3g}")
    Console(width=150).print(table)


if __name__ == "__main__":
    main()
