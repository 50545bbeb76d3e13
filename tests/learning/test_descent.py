"""Gradients against differences, the bound, and an objective that never rises."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import check_grad

from offrank.learning.descent import Descent, Spread, Terms
from offrank.learning.dr_poem import Robust
from offrank.learning.poem import Weighted, quantile, unit
from offrank.learning.reductions import Scorer
from offrank.learning.snpoem import Normalised
from tests.learning.worlds import examples, prepared, store

SIZE = 8
RNG = np.random.default_rng(1)
MODEL = Scorer(RNG.normal(size=SIZE), -0.5)


def terms(kind: str, slots: int) -> Terms:
    data = store(examples(1, slots), examples(2, slots))
    if kind == "robust":
        return Robust(data, 2.5, 1.7, MODEL)
    return Weighted(data, 2.5 if kind == "clipped" else math.inf, 1.7, baseline=0.3)


CASES = [*itertools.product(["weighted", "clipped"], [1, 3]), ("robust", 1)]


@pytest.mark.parametrize(("kind", "slots"), CASES)
@pytest.mark.parametrize(("linear", "square"), [(1.0, 0.0), (0.4, 0.9)])
def test_gradient_is_that_of_differences(kind: str, slots: int, linear: float, square: float) -> None:
    made = terms(kind, slots)

    def value(weights: np.ndarray) -> float:
        total, squares = made.sums(weights, linear, square, np.zeros(SIZE))
        return linear * total + square * squares

    def gradient(weights: np.ndarray) -> np.ndarray:
        found = np.zeros(SIZE)
        made.sums(weights, linear, square, found)
        return found

    point = np.random.default_rng(5).normal(size=SIZE)
    assert np.abs(gradient(point)).max() > 0.1
    assert check_grad(value, gradient, point) < 1e-4 * np.abs(gradient(point)).max()


def test_bound_lies_above_and_touches() -> None:
    n, variance = 50, 1.5
    before = RNG.normal(size=n)
    found = Spread.of(n, before.sum(), float(before @ before))
    linear, square = found.bound(variance)

    def objective(u: np.ndarray) -> float:
        return float(u.mean() + variance * u.std(ddof=1) / math.sqrt(n))

    def bound(u: np.ndarray) -> float:
        return float((linear * u + square * u**2).mean())

    gap = bound(before) - objective(before)
    for _ in range(50):
        other = before + RNG.normal(scale=2, size=n) + RNG.normal()
        assert bound(other) - gap >= objective(other) - 1e-12


@pytest.mark.parametrize("kind", ["weighted", "robust"])
def test_objective_never_rises(kind: str) -> None:
    train = prepared()[0].train
    clip = quantile(train, 0.97)
    model = Scorer(np.zeros(1 << 12), -5.0)
    made: Terms = Weighted.of(train, clip) if kind == "weighted" else Robust(train, clip, unit(train), model)
    descent = Descent(train, 1 << 12, variance=2.0, l2=1e-3, rounds=5)
    found = [descent.objective(made, weights) for weights in [np.zeros(1 << 12), *descent.run(made)]]
    assert (np.diff(found) <= 1e-12).all()
    assert found[-1] < found[0] - 0.1


def test_self_normalised_ratio_never_falls() -> None:
    train = prepared()[0].train
    made = Normalised.of(train, quantile(train, 0.97))
    descent = Descent(train, 1 << 12, variance=0.0, l2=0.0, rounds=4)
    ratios = [made.refreshed(weights).baseline for weights in [np.zeros(1 << 12), *descent.run(made)]]
    assert (np.diff(ratios) >= -1e-12).all()


def test_a_constant_added_to_rewards_is_added_to_the_baseline() -> None:
    given, weights = examples(3), np.random.default_rng(0).normal(size=SIZE)
    plain = Normalised(store(given), math.inf, 1.0).refreshed(weights).baseline
    moved = Normalised(store(replace(given, reward=given.reward + 2)), math.inf, 1.0).refreshed(weights).baseline
    assert moved == pytest.approx(plain + 2)
