"""The bound of the probability of a mean weight above 1: it holds for any number of rows, and finds what it should."""

from __future__ import annotations

import math

import numpy as np
import pytest

from offrank.inference.betting import chance_above


def bound(weights: np.ndarray) -> float:
    away = weights - 1
    return chance_above(float(away.sum()), float(away @ away))


@pytest.mark.parametrize(("rows", "weight"), [(3, 8.0), (10, 2.0), (100, 1.05), (2_000, 30.0)])
def test_it_is_never_too_small(rows: int, weight: float) -> None:
    """A few rows that all have the same weight have no standard error, but they are no proof."""
    drawn = np.random.default_rng(1).binomial(rows, 1 / weight, 20_000)
    chances = np.array([bound(np.repeat([weight, 0.0], [hits, rows - hits])) for hits in range(rows + 1)])
    for level in (0.3, 0.1, 0.01):
        assert (chances[drawn] <= level).mean() <= level
    assert bound(np.full(rows, weight)) >= weight**-rows * (1 - 1e-9)


def test_it_is_nearly_that_of_a_normal_law_for_many_rows() -> None:
    weights = 1.1 + np.tile([-0.9, 0.9], 5_000)  # 11 standard errors above 1
    deviate = 0.1 * math.sqrt(10_000) / math.sqrt(0.81 + 0.01)
    assert 0.85 < -math.log(bound(weights)) / (deviate**2 / 2) < 1


def test_a_mean_of_at_most_1_says_nothing() -> None:
    assert bound(np.array([1.0, 0.5, 1.2])) == bound(np.ones(3)) == 1.0
