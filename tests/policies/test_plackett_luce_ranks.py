"""P(item at rank): against enumeration, golden values, sums, closed forms, and itself by other ways."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from offrank.errors import UsageError
from offrank.log.batch import Contexts, LogBatch, Shown
from offrank.policies import EpsilonUniform, PlackettLuce, Uniform, policy, propensities
from offrank.policies.base import all_items
from offrank.policies.plackett_luce import rank_probs
from tests.policies.laws import CASES, WEIGHTS, contexts, rank_matrix, slates, spread


def by_race(weights: ArrayLike, length: int) -> np.ndarray:
    """The quadrature, however few the candidates."""
    return rank_probs(weights, length, "quadrature")


@pytest.mark.parametrize(("name", "length"), CASES)
def test_few_candidates_as_enumerated(name: str, length: int) -> None:
    weights = WEIGHTS[name]
    expected = rank_matrix(slates(weights, length), len(weights), length)
    assert rank_probs(weights, length) == pytest.approx(expected, rel=1e-11, abs=1e-13)
    assert by_race(weights, length) == pytest.approx(expected, rel=1e-11, abs=1e-13)


def test_golden_values() -> None:
    assert rank_probs([4, 2, 1, 1], 2)[:, 1] == pytest.approx([0.309524, 0.321429, 0.184524, 0.184524], abs=5e-7)
    third = [0.117138, 0.199062, 0.238320, 0.232623, 0.212857]
    assert by_race([1, 2, 3, 4, 5], 3)[:, 2] == pytest.approx(third, abs=5e-7)


@given(st.lists(st.floats(-12, 12), min_size=2, max_size=9), st.data())
def test_quadrature_is_the_sum_over_sets(decades: list[float], data: st.DataObject) -> None:
    length = data.draw(st.integers(1, len(decades)))
    weights = 10.0 ** np.array(decades)
    assert by_race(weights, length) == pytest.approx(rank_probs(weights, length, "sets"), rel=1e-9, abs=1e-13)


@pytest.mark.parametrize("decades", [0, 1, 4, 24])
@pytest.mark.parametrize(("m", "length"), [(13, 13), (40, 1), (100, 10), (100, 100), (300, 20), (1000, 3), (1000, 100)])
def test_many_candidates_add_up(m: int, length: int, decades: float) -> None:
    weights = spread(np.random.default_rng(m + length), m, decades)
    law = rank_probs(weights, length)
    assert (law >= 0).all()
    assert law.sum(axis=0) == pytest.approx(np.ones(length), abs=1e-12)
    assert law[:, 0] == pytest.approx(weights / weights.sum(), rel=1e-12)
    if length == m:
        assert law.sum(axis=1) == pytest.approx(np.ones(m), abs=1e-12)


def test_second_rank_in_closed_form() -> None:
    weights = spread(np.random.default_rng(2), 60, 6)
    total, one_less = weights.sum(), np.array([np.delete(weights, item).sum() for item in range(60)])
    first = weights / total / one_less
    expected = weights * [np.delete(first, item).sum() for item in range(60)]
    assert rank_probs(weights, 2)[:, 1] == pytest.approx(expected, rel=1e-12)


def test_alike_are_uniform_and_the_dominant_is_first() -> None:
    assert rank_probs(np.full(500, 1e-12), 40) == pytest.approx(np.full((500, 40), 1 / 500), rel=1e-11)
    law = rank_probs(np.r_[1e12, np.full(99, 1e-12)], 10)
    assert law[0] == pytest.approx([1.0, *[0.0] * 9], abs=1e-20)
    assert law[1:, 1:] == pytest.approx(np.full((99, 9), 1 / 99), rel=1e-11)
    assert law[0, 1] == pytest.approx(99e-24, rel=1e-11)  # relative accuracy, far below rounding of one


def test_zeros_come_last_alike() -> None:
    weights = np.r_[0.0, np.arange(1.0, 16.0), np.zeros(4)]
    law = rank_probs(weights, 18)
    assert law[1:16, :15] == pytest.approx(rank_probs(np.arange(1.0, 16.0), 15), rel=1e-13)
    assert law[[0, 16, 17, 18, 19], 15:] == pytest.approx(np.full((5, 3), 0.2))
    assert not law[1:16, 15:].any()
    assert not law[[0, 16, 17, 18, 19], :15].any()
    assert rank_probs(np.zeros(30), 4) == pytest.approx(np.full((30, 4), 1 / 30))


def test_a_batch_is_its_rows_and_repeats_are_seen() -> None:
    rng = np.random.default_rng(5)
    distinct = rng.random((7, 30))
    rows = distinct[rng.integers(7, size=50)]
    law = rank_probs(rows, 4)
    for row in (0, 17, 49):
        assert law[row] == pytest.approx(rank_probs(rows[row], 4), rel=1e-12)


def test_a_ragged_batch_of_the_policy() -> None:
    rng = np.random.default_rng(6)
    rows = [rng.random(m).tolist() for m in (20, 5, 33, 20, 1)]
    lengths = [3, 5, 2, 6, 1]
    here = contexts([*rows, rows[0]], [*lengths, 4])
    items = all_items(here)
    law = PlackettLuce("score").rank_probs(here, items)
    for index, (row, length) in enumerate(zip([*rows, rows[0]], [*lengths, 4], strict=True)):
        assert law[index, : len(row), :length] == pytest.approx(rank_probs(row, length), rel=1e-12)
        assert not law[index, len(row) :].any()
        assert not law[index, :, length:].any()
    some = np.array([[2, -1, 0], [4, 4, 1], [32, 0, 5], [-1, -1, -1], [0, -1, -1], [7, 8, 9]])
    found = PlackettLuce("score").rank_probs(here, some)
    assert found[2, 0] == pytest.approx(law[2, 32], rel=1e-12)
    assert found[1, 1] == pytest.approx(law[1, 4], rel=1e-12)
    assert not found[3].any()


@pytest.mark.parametrize("temperature", [0.5, 3.0])
def test_temperatures_and_logarithms(temperature: float) -> None:
    scores = np.random.default_rng(7).random(25) + 0.1
    expected = rank_probs(scores ** (1 / temperature), 5)
    here = contexts([scores.tolist()], [5])
    found = PlackettLuce("score", temperature=temperature).rank_probs(here, all_items(here))[0]
    assert found == pytest.approx(expected, rel=1e-10)
    logits = contexts([np.log(scores).tolist()], [5])
    found = PlackettLuce("score", temperature=temperature, log=True).rank_probs(logits, all_items(logits))[0]
    assert found == pytest.approx(expected, rel=1e-10)


def test_logits_hundreds_of_decades_apart() -> None:
    # Sixteen pairs, each a world below the one before: only the order inside a pair is open.
    logits = [1000.0 * -pair + inside for pair in range(8) for inside in (0.0, -0.5)]
    here = contexts([logits], [16])
    law = PlackettLuce("score", log=True).rank_probs(here, all_items(here))[0]
    often = 1 / (1 + np.exp(-0.5))
    expected = np.kron(np.eye(8), [[often, 1 - often], [1 - often, often]])
    assert law == pytest.approx(expected, abs=1e-12)


def test_mixtures_have_many_candidates_too() -> None:
    here = contexts([np.random.default_rng(8).random(60).tolist()], [5])
    base, items = PlackettLuce("score"), all_items(here)
    expected = 0.7 * base.rank_probs(here, items) + 0.3 * Uniform().rank_probs(here, items)
    assert EpsilonUniform(base, 0.3).rank_probs(here, items) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("scores", "length"), [([1, -1], 1), ([1, np.nan], 1), ([], 1), ([1, 2], 3), ([1, 2], 0), ([1, 2], 1.5)]
)
def test_what_cannot_be(scores: list[float], length: Any) -> None:
    with pytest.raises(UsageError, match=r"scores|length"):
        rank_probs(scores, length)


@pytest.mark.parametrize("spelling", ["plackett_luce(w)", "plackett_luce(w, temperature=0.3)", "uniform", "top(w)"])
@pytest.mark.parametrize("decades", [0.0, 3.0, 300.0])
def test_own_ranks_are_those_of_the_whole_law(spelling: str, decades: float) -> None:
    """Slates of all lengths, weights of 0 and some hundreds of decades apart, and a few rows alone."""
    rng = np.random.default_rng(int(decades))
    n, m, k = 300, 6, 4
    size, length = rng.integers(1, m + 1, n), rng.integers(1, k + 1, n)
    length = np.minimum(size, length)
    weights = 10.0 ** (rng.integers(-1, 2, (n, m)) * decades / 2) * (rng.random((n, m)) > 0.1)
    slate = np.argsort(np.where(np.arange(m) < size[:, None], rng.random((n, m)), 9.0), axis=1)[:, :k]
    slate = np.where(np.arange(k) < length[:, None], slate, -1)
    here, law = Contexts(np.zeros((n, m), np.int64), size, length, {"w": weights}), policy(spelling)
    rows = np.arange(n, dtype=np.uint64)
    every = LogBatch(here, Shown(slate), None, np.ones(n), np.ones(n), rows)
    for batch in (every, every.take(np.arange(n - 5, n))):
        whole = law.rank_probs(batch.contexts, batch.slates)  # type: ignore[union-attr]
        expected = np.diagonal(whole, axis1=1, axis2=2)
        assert propensities(law, batch).own_ranks == pytest.approx(expected, rel=1e-12, abs=1e-300)
