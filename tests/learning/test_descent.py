"""Gradients against differences, the bound, and an objective that never rises."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import check_grad

from offrank.learning.descent import Descent, EmpiricalRisk, WeightedObjective, quantile
from offrank.learning.reductions import Scorer
from tests.learning.worlds import examples, prepared, store

SIZE = 8
RNG = np.random.default_rng(1)
MODEL = Scorer(RNG.normal(size=SIZE), -0.5)


def terms(kind: str, slots: int) -> WeightedObjective:
    data = store(examples(1, slots), examples(2, slots))
    if kind == "robust":
        return WeightedObjective(data, 2.5, 1.7, model=MODEL)
    return WeightedObjective(data, 2.5 if kind == "clipped" else math.inf, 1.7, baseline=0.3)


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


@pytest.mark.parametrize("distance", [0.01, 0.1, 1.0, 2.0])
def test_bound_lies_above_and_touches(distance: float) -> None:
    """The terms move by `distance` standard deviations; near the anchor a bound of wrong slope is crossed at once."""
    n, variance, rng = 50, 1.5, np.random.default_rng(3)
    before = rng.normal(size=n)
    linear, square = EmpiricalRisk.of(n, before.sum(), float(before @ before)).bound(variance)

    def objective(u: np.ndarray) -> float:
        return float(u.mean() + variance * u.std(ddof=1) / math.sqrt(n))

    def bound(u: np.ndarray) -> float:
        return float((linear * u + square * u**2).mean())

    gap = bound(before) - objective(before)
    rises = []
    for _ in range(200):
        other = before + distance * (rng.normal(size=n) + rng.normal())
        rises.append(bound(other) - gap - objective(other))
    assert min(rises) >= -1e-12
    assert np.median(rises) < distance**2  # of second order: it touches


METHODS = ["poem", "snpoem", "dr-poem"]


def of_method(kind: str) -> WeightedObjective:
    """The terms that a method descends on, of impressions of one slot."""
    data = store(examples(1), examples(2))
    made = {
        "poem": WeightedObjective.of(data, 4.0),
        "snpoem": WeightedObjective.of(data, 4.0, normalised=True).refreshed(np.zeros(SIZE)),
        "dr-poem": WeightedObjective(data, 4.0, 1.7, model=MODEL),
    }
    return made[kind]


@pytest.mark.parametrize("kind", METHODS)
def test_gradient_of_the_objective_with_its_variance(kind: str) -> None:
    """At the anchor the bound, which is descended on, has the slope of mean + variance deviation / sqrt(n)."""
    made, variance = of_method(kind), 2.0
    descent = Descent(store(examples(1), examples(2)), SIZE, variance, l2=0.0, rounds=1)
    n = descent.store.rows
    for seed, distance in enumerate([0.0, 0.01, 0.1, 1.0, 2.0]):
        anchor = distance * np.random.default_rng(seed).normal(size=SIZE)
        sums = made.sums(anchor, 1.0, 0.0, np.zeros(SIZE))
        linear, square = EmpiricalRisk.of(n, *sums).bound(variance)
        found = np.zeros(SIZE)
        made.sums(anchor, linear, square, found)
        steps = 1e-5 * np.eye(SIZE)
        expected = [
            (descent.objective(made, anchor + step) - descent.objective(made, anchor - step)) / 2e-5 for step in steps
        ]
        assert np.abs(expected).max() > 0.01
        assert found / n == pytest.approx(np.array(expected), abs=1e-6 * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("kind", METHODS)
@pytest.mark.parametrize("distance", [0.01, 0.1, 1.0, 2.0])
def test_bound_of_a_method_lies_above_its_objective(kind: str, distance: float) -> None:
    made, variance, rng = of_method(kind), 2.0, np.random.default_rng(8)
    descent = Descent(store(examples(1), examples(2)), SIZE, variance, l2=0.0, rounds=1)
    n, anchor = descent.store.rows, rng.normal(size=SIZE) / 2

    def sums(weights: np.ndarray) -> tuple[float, float]:
        return made.sums(weights, 1.0, 0.0, np.zeros(SIZE))

    linear, square = EmpiricalRisk.of(n, *sums(anchor)).bound(variance)

    def bound(weights: np.ndarray) -> float:
        total, squares = sums(weights)
        return (linear * total + square * squares) / n

    gap = bound(anchor) - descent.objective(made, anchor)
    for _ in range(30):
        weights = anchor + distance * rng.normal(size=SIZE)
        assert bound(weights) - gap >= descent.objective(made, weights) - 1e-12


@pytest.mark.turns(3)
@pytest.mark.parametrize("kind", ["weighted", "robust"])
def test_objective_never_rises(kind: str) -> None:
    train = prepared()[0].train
    clip = quantile(train, 0.97)
    model = Scorer(np.zeros(1 << 12), -5.0)
    made = WeightedObjective.of(train, clip, model=model if kind == "robust" else None)
    descent = Descent(train, 1 << 12, variance=2.0, l2=1e-3, rounds=5)
    found = [descent.objective(made, weights) for weights in [np.zeros(1 << 12), *descent.run(made)]]
    assert (np.diff(found) <= 1e-12).all()
    assert found[-1] < found[0] - 0.1


def test_self_normalised_ratio_never_falls() -> None:
    train = prepared()[0].train
    made = WeightedObjective.of(train, quantile(train, 0.97), normalised=True)
    descent = Descent(train, 1 << 12, variance=0.0, l2=0.0, rounds=4)
    ratios = [made.refreshed(weights).baseline for weights in [np.zeros(1 << 12), *descent.run(made)]]
    assert (np.diff(ratios) >= -1e-12).all()


def test_a_constant_added_to_rewards_is_added_to_the_baseline() -> None:
    given, weights = examples(3), np.random.default_rng(0).normal(size=SIZE)
    plain = WeightedObjective(store(given), math.inf, 1.0, normalised=True).refreshed(weights).baseline
    moved = (
        WeightedObjective(store(replace(given, reward=given.reward + 2)), math.inf, 1.0, normalised=True)
        .refreshed(weights)
        .baseline
    )
    assert moved == pytest.approx(plain + 2)
