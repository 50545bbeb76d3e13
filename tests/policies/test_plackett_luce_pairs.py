"""P(two items at two ranks): against enumeration, golden values and sums; the cost is said in advance."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import ArrayLike

from offrank.errors import AbilityError, UsageError
from offrank.policies import PlackettLuce
from offrank.policies.plackett_luce import pair_probs, pair_seconds, rank_probs
from offrank.policies.plackett_luce.pairs import pair_laws
from tests.policies.laws import CASES, WEIGHTS, contexts, slates, spread


def by_race(weights: ArrayLike, length: int) -> np.ndarray:
    """The double quadrature, however few the candidates."""
    return pair_probs(weights, length, math.inf, "quadrature")


def enumerated(weights: tuple[float, ...], length: int) -> np.ndarray:
    m = len(weights)
    law = np.zeros((m * length, m * length))
    for slate, chance in slates(weights, length).items():
        places = np.array(slate) * length + np.arange(length)
        law[np.ix_(places, places)] += chance
    return law.reshape(m, length, m, length)


@pytest.mark.parametrize(("name", "length"), CASES)
def test_few_candidates_as_enumerated(name: str, length: int) -> None:
    weights = WEIGHTS[name]
    expected = enumerated(weights, length)
    assert pair_probs(weights, length) == pytest.approx(expected, rel=1e-11, abs=1e-13)
    assert by_race(weights, length) == pytest.approx(expected, abs=1e-11)


def test_golden_values() -> None:
    rank = 1 + np.arange(10)
    law = pair_probs(2.0 ** -np.floor(np.log2(rank)), 5)
    assert law[0, 0, 1, 1] == pytest.approx(0.0623782, abs=6e-8)
    assert law[0, 0, 9, 4] == pytest.approx(0.0225740, abs=6e-8)


def check_sums(law: np.ndarray, weights: np.ndarray, length: int, tolerance: float) -> None:
    m = len(weights)
    single = rank_probs(weights, length)
    assert law[np.arange(m)[:, None], np.arange(length), np.arange(m)[:, None], np.arange(length)] == pytest.approx(
        single, rel=1e-10, abs=tolerance
    )
    # Something stands at rank k, whatever stands at rank j.
    assert law.sum(axis=2) == pytest.approx(np.repeat(single[:, :, None], length, axis=2), abs=tolerance)
    assert law == pytest.approx(law.transpose(2, 3, 0, 1), abs=0)


@pytest.mark.turns(3)
def test_a_hundred_candidates_of_seven_levels() -> None:
    weights = 2.0 ** -np.floor(np.log2(1 + np.arange(100)))
    check_sums(pair_probs(weights, 10), weights, 10, 1e-11)


@pytest.mark.parametrize(("m", "length", "decades"), [(12, 12, 3), (30, 4, 2), (30, 4, 24), (100, 3, 1)])
def test_scores_that_all_differ(m: int, length: int, decades: float) -> None:
    weights = spread(np.random.default_rng(m), m, decades)
    check_sums(pair_probs(weights, length), weights, length, 1e-11)


@pytest.mark.parametrize(("m", "length", "decades"), [(10, 5, 1), (10, 5, 24), (9, 9, 2), (25, 4, 3), (40, 2, 1)])
def test_types_are_the_quadrature(m: int, length: int, decades: float) -> None:
    weights = spread(np.random.default_rng(length), m, decades)
    assert by_race(weights, length) == pytest.approx(pair_probs(weights, length), abs=2e-11)


def test_quadrature_with_zeros() -> None:
    weights = np.r_[spread(np.random.default_rng(9), 6, 2), 0.0, 0.0, 0.0]
    assert by_race(weights, 8) == pytest.approx(pair_probs(weights, 8), abs=2e-11)


def test_nearly_ties_are_ties() -> None:
    weights = np.repeat([1.0, 2.0, 5.0], 4)
    nearly = weights * (1 + 1e-12 * np.arange(12))
    assert pair_probs(nearly, 4) == pytest.approx(pair_probs(weights, 4), abs=1e-11)


def test_the_cost_is_said_in_advance() -> None:
    weights = np.random.default_rng(0).random(200)
    assert pair_seconds(weights, 12) > 1
    assert pair_seconds(np.round(weights * 3) + 1, 3) < 1
    with pytest.raises(UsageError, match=r"200 candidates \(200 distinct scores\) in 12 slots would take about .* s"):
        pair_probs(weights, 12, most_seconds=1.0)
    with pytest.raises(UsageError, match=r"would take .* GiB"):
        pair_probs(np.ones(3000), 30)
    here = contexts([[1.0, 2.0], np.random.default_rng(1).random(900).tolist()], [2, 20])
    with pytest.raises(AbilityError, match=r"plackett_luce\(score\) cannot .* two items") as error:
        PlackettLuce("score").pair_probs(here)
    assert "900 candidates" in error.value.remedy


def test_a_ragged_batch_of_the_policy() -> None:
    rows = [[3.0, 1.0, 2.0], [1.0, 2.0, 2.0, 0.0, 5.0], [3.0, 1.0, 2.0], [3.0, 1.0, 2.0], [4.0]]
    lengths = [2, 3, 2, 3, 1]
    policy = PlackettLuce("score")
    law = policy.pair_probs(contexts(rows, lengths))
    assert law.shape == (5, 5, 3, 5, 3)
    for index, (row, length) in enumerate(zip(rows, lengths, strict=True)):
        m = len(row)
        expected = np.zeros((5, 3, 5, 3))
        expected[:m, :length, :m, :length] = enumerated(tuple(row), length)
        assert law[index] == pytest.approx(expected, abs=1e-13)


def test_each_context_of_a_batch_has_the_law_of_its_own_way() -> None:
    tied, apart = np.repeat([4.0, 2.0, 1.0], 8), np.random.default_rng(2).uniform(0.5, 5, 24)
    found = pair_laws(np.stack([tied, apart, tied[::-1]]), 5)
    assert found[0] == pytest.approx(pair_probs(tied, 5, way="types"), abs=1e-14)
    assert found[1] == pytest.approx(pair_probs(apart, 5, way="quadrature"), abs=1e-14)
    assert found[2] == pytest.approx(found[0][::-1, :, ::-1], abs=1e-14)


@pytest.mark.parametrize(("scores", "length"), [([1, -1], 1), ([[1, 2]], 1), ([1, 2], 3)])
def test_what_cannot_be(scores: list[float], length: int) -> None:
    with pytest.raises(UsageError, match=r"scores|length"):
        pair_probs(scores, length)
