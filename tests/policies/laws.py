"""What the tests of the exact Plackett-Luce laws share: sets of weights, and their laws by enumeration."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from offrank.log.batch import Contexts
from offrank.policies import PlackettLuce
from offrank_testing.laws import Situation, law

Floats = NDArray[np.float64]
Law = dict[tuple[int, ...], float]

# Weights that are far apart, tied, zero, dominant, all alike.
WEIGHTS = {
    "four": (4.0, 2.0, 1.0, 1.0),
    "one to five": (1.0, 2.0, 3.0, 4.0, 5.0),
    "alike": (0.3,) * 6,
    "far apart": (1e12, 1e-12, 1.0, 1e-12, 1e6, 1e-3),
    "dominant": (1e9, 1.0, 2.0, 3.0, 4.0),
    "feeble": (1.0, 2.0, 3.0, 1e-12),
    "zeros": (0.0, 2.0, 0.0, 1.0, 0.0, 1e-9),
    "one positive": (0.0, 0.0, 5.0, 0.0),
    "all zero": (0.0, 0.0, 0.0),
    "two": (3.0, 1.0),
    "one": (7.0,),
}
CASES = [(name, length) for name, weights in WEIGHTS.items() for length in range(1, len(weights) + 1)]


def slates(weights: Sequence[float], length: int) -> Law:
    """Every slate with its probability."""
    return law(PlackettLuce("score"), Situation(len(weights), length, {"score": tuple(weights)}))


def rank_matrix(found: Law, m: int, length: int) -> Floats:
    """[m, length] P(item at rank), by summing over slates."""
    matrix = np.zeros((m, length))
    for slate, chance in found.items():
        matrix[slate, range(length)] += chance
    return matrix


def orders(shown: Sequence[float], rest: Sequence[float]) -> Law:
    """P(order | the set `shown` is displayed), by Bayes' rule over the slates of shown and unshown candidates."""
    length = len(shown)
    found = slates([*shown, *rest], length)
    inside = {slate: chance for slate, chance in found.items() if max(slate) < length}
    total = math.fsum(inside.values())
    return {slate: chance / total for slate, chance in inside.items()}


def contexts(rows: Sequence[Sequence[float]], lengths: Sequence[int]) -> Contexts:
    """Rows of unlike size, padded with what must not be read."""
    m = max(map(len, rows))
    return Contexts(
        candidates=np.zeros((len(rows), m), dtype=np.int64),
        size=np.array([len(row) for row in rows]),
        length=np.array(lengths),
        scores={"score": np.array([[*row, *[99.0] * (m - len(row))] for row in rows])},
    )


def spread(rng: np.random.Generator, m: int, decades: float) -> Floats:
    """[m] weights, log-uniform over so many decades around one."""
    return 10 ** rng.uniform(-decades / 2, decades / 2, m)


def surprise(counts: Floats, expected: Floats) -> float:
    """Chi-square of counts, in standard deviations above its mean."""
    inside = expected > 0
    assert not counts[~inside].any()
    chi = ((counts - expected)[inside] ** 2 / expected[inside]).sum()
    free = max(int(inside.sum()) - 1, 1)
    return float((chi - free) / math.sqrt(2 * free))
