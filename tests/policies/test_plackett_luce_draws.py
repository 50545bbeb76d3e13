"""Draws of slates, and of orders of a displayed set: chi-square against the exact laws, with fixed seeds."""

from __future__ import annotations

import numpy as np
import pytest

from offrank.errors import UsageError
from offrank.policies.plackett_luce import order_given_set, rank_probs, sample, sample_order_given_set
from tests.policies.laws import WEIGHTS, orders, slates, spread, surprise

DRAWS = 40_000


def against(drawn: np.ndarray, law: dict[tuple[int, ...], float]) -> float:
    """Chi-square of whole slates."""
    found, counts = np.unique(drawn, axis=0, return_counts=True)
    seen = {tuple(slate): count for slate, count in zip(found.tolist(), counts.tolist(), strict=True)}
    assert set(seen) <= set(law)
    likely = [slate for slate, chance in law.items() if chance * len(drawn) > 5]
    expected = np.array([law[slate] * len(drawn) for slate in likely])
    return surprise(np.array([float(seen.get(slate, 0)) for slate in likely]), expected)


@pytest.mark.parametrize("name", WEIGHTS)
def test_slates(name: str) -> None:
    weights = WEIGHTS[name]
    length = min(3, len(weights))
    drawn = sample(weights, length, DRAWS, np.random.default_rng(1))
    assert against(drawn, slates(weights, length)) < 4


def test_whole_slates_of_unlike_weights() -> None:
    drawn = sample([1e3, 1.0, 2.0, 1e-3, 0.0, 0.0], 6, DRAWS, np.random.default_rng(2))
    assert against(drawn, slates((1e3, 1.0, 2.0, 1e-3, 0.0, 0.0), 6)) < 4


@pytest.mark.parametrize(("m", "length", "decades"), [(100, 10, 1), (100, 100, 1), (50, 20, 8), (1000, 5, 3)])
def test_ranks_of_many(m: int, length: int, decades: float) -> None:
    weights = spread(np.random.default_rng(m), m, decades)
    drawn = sample(weights, length, DRAWS, np.random.default_rng(3))
    assert (np.sort(drawn, axis=1)[:, 1:] > np.sort(drawn, axis=1)[:, :-1]).all()
    law = rank_probs(weights, length)
    for rank in {0, 1, length // 2, length - 1}:
        likely = law[:, rank] * DRAWS > 5
        counts = np.bincount(drawn[:, rank], minlength=m)
        assert surprise(counts[likely].astype(float), law[likely, rank] * DRAWS) < 4


@pytest.mark.parametrize("rest", [0.0, 1e-6, 0.5, 8.0, 1e5])
@pytest.mark.parametrize(
    "shown", [(5.0, 2.0, 1.0), (1.0, 1.0, 1.0, 1.0), (1e4, 1.0, 1e-4), (3.0, 0.1), (2.0,)], ids=str
)
def test_orders(shown: tuple[float, ...], rest: float) -> None:
    drawn = sample_order_given_set(shown, rest, DRAWS, np.random.default_rng(4))
    assert against(drawn, orders(shown, (rest,) if rest else ())) < 4


@pytest.mark.parametrize("rest", [0.0, 2.0])
def test_orders_with_zeros(rest: float) -> None:
    shown = [1.0, 0.0, 3.0, 0.0]
    drawn = sample_order_given_set(shown, rest, DRAWS, np.random.default_rng(5))
    law = order_given_set(shown, rest)
    for rank in range(4):
        assert surprise(np.bincount(drawn[:, rank], minlength=4).astype(float), law[:, rank] * DRAWS) < 4


@pytest.mark.parametrize(("size", "decades", "rest"), [(16, 2, 5.0), (16, 12, 1e-3), (30, 1, 1.0), (60, 1, 300.0)])
def test_orders_of_many(size: int, decades: float, rest: float) -> None:
    shown = spread(np.random.default_rng(size), size, decades)
    drawn = sample_order_given_set(shown, rest, DRAWS, np.random.default_rng(6))
    assert (np.sort(drawn, axis=1) == np.arange(size)).all()
    law = order_given_set(shown, rest)
    for rank in {0, 1, size // 2, size - 1}:
        likely = law[:, rank] * DRAWS > 5
        counts = np.bincount(drawn[:, rank], minlength=size)
        assert surprise(counts[likely].astype(float), law[likely, rank] * DRAWS) < 4


def test_a_seed_is_repeated() -> None:
    first, second = (sample([1, 2, 3, 4], 3, 50, np.random.default_rng(7)) for _ in range(2))
    assert (first == second).all()
    first, second = (sample_order_given_set([1, 2, 3], 4.0, 50, np.random.default_rng(7)) for _ in range(2))
    assert (first == second).all()
    assert sample([1, 2, 3], 2, 0, np.random.default_rng(0)).shape == (0, 2)


def test_what_cannot_be() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(UsageError, match="length"):
        sample([1, 2], 3, 1, rng)
    with pytest.raises(UsageError, match="scores"):
        sample([[1, 2]], 1, 1, rng)
    with pytest.raises(UsageError, match="rest"):
        sample_order_given_set([1, 2], -1.0, 1, rng)
    with pytest.raises(UsageError, match="shown"):
        sample_order_given_set([1, np.inf], 1.0, 1, rng)
