"""Plackett-Luce: known values, and weights that differ by more than a float can hold."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest

from offrank.errors import UsageError
from offrank.log.batch import Contexts
from offrank.policies import PlackettLuce, Uniform
from offrank.policies.base import all_items


def contexts(scores: list[float], slots: int, rows: int = 1) -> Contexts:
    m = len(scores)
    return Contexts(
        candidates=np.tile(np.arange(m), (rows, 1)),
        size=np.full(rows, m),
        length=np.full(rows, slots),
        scores={"score": np.tile(np.array(scores, dtype=float), (rows, 1))},
    )


def test_rank_probs_of_most_candidates_sum_to_one() -> None:
    here = contexts([0.1 * 1.5**item for item in range(14)], 14)
    found = PlackettLuce("score").rank_probs(here, all_items(here))[0]
    assert found.sum(axis=0) == pytest.approx(np.ones(14), rel=1e-13)
    assert found.sum(axis=1) == pytest.approx(np.ones(14), rel=1e-13)


@pytest.mark.parametrize(("temperature", "log"), [(0.0, False), (-1.0, False), (math.nan, False), (0.0, True)])
def test_temperature_is_positive(temperature: float, log: bool) -> None:
    with pytest.raises(UsageError, match="temperature is"):
        PlackettLuce("score", temperature=temperature, log=log)


FAR = [0.0, -900.0, -2000.0, -900.5]


def exact_log_prob(logits: list[float], slate: tuple[int, ...]) -> float:
    left, total = list(range(len(logits))), 0.0
    for item in slate:
        top = max(logits[other] for other in left)
        mass = math.fsum(math.exp(logits[other] - top) for other in left)
        total += logits[item] - top - math.log(mass)
        left.remove(item)
    return total


@pytest.mark.parametrize("temperature", [1.0, 0.01, 30.0])
@pytest.mark.parametrize("shift", [0.0, 800.0, -5000.0])
def test_far_logits_keep_their_order(temperature: float, shift: float) -> None:
    slates = list(permutations(range(4), 3))
    law = PlackettLuce("score", temperature=temperature, log=True)
    here = contexts([x * temperature + shift for x in FAR], 3, rows=len(slates))
    expected = [exact_log_prob(FAR, slate) for slate in slates]
    assert law.log_prob(here, np.array(slates)) == pytest.approx(expected, rel=1e-12, abs=1e-12)
    slot = law.slot_probs(here, np.array([(0, 1, 3)] * len(slates)))[0]
    assert slot == pytest.approx([1, 1 / (1 + math.exp(-0.5)), 1], rel=1e-12)


def test_far_logits_have_rank_probs() -> None:
    here = contexts(FAR, 4)
    found = PlackettLuce("score", log=True).rank_probs(here, all_items(here))[0]
    often, seldom = 1 / (1 + math.exp(-0.5)), 1 / (1 + math.exp(0.5))
    assert found == pytest.approx(
        np.array([[1, 0, 0, 0], [0, often, seldom, 0], [0, 0, 0, 1], [0, seldom, often, 0]]), abs=1e-15
    )


def test_low_temperature_is_the_order_by_score() -> None:
    scores = [1e-5, 0.3, 0.004, 1e-4]
    law, here = PlackettLuce("score", temperature=0.005), contexts(scores, 4)
    best = np.array([[1, 2, 3, 0]])
    assert law.log_prob(here, best) == pytest.approx([0.0], abs=1e-100)
    assert law.rank_probs(here, best)[0] == pytest.approx(np.eye(4))
    assert (law.sample(here, np.random.default_rng(0)) == best).all()


def test_long_slates_do_not_underflow() -> None:
    m = 300
    here = contexts([1.0] * m, m)
    slate = np.arange(m)[None]
    expected = -math.lgamma(m + 1)
    assert PlackettLuce("score").log_prob(here, slate) == pytest.approx([expected], rel=1e-12)
    assert Uniform().log_prob(here, slate) == pytest.approx([expected], rel=1e-12)
    tiny = contexts([1e100, 1e90, 1e-60, 1e-70], 4)
    found = PlackettLuce("score").log_prob(tiny, np.array([[3, 2, 1, 0]]))
    assert found == pytest.approx([math.log(1e-170) + math.log(1e-160) + math.log(1e-10)], rel=1e-9)


def test_zero_weights_follow_in_any_order() -> None:
    here = contexts([0, 2, 0, 0], 3, rows=4)
    slates = np.array([[1, 0, 2], [1, 3, 0], [0, 1, 2], [1, 2, 3]])
    for temperature in (1.0, 0.5):
        found = np.exp(PlackettLuce("score", temperature=temperature).log_prob(here, slates))
        assert found == pytest.approx([1 / 6, 1 / 6, 0, 1 / 6])


@pytest.mark.parametrize("temperature", [-0.5, -3.0])
def test_below_zero_the_lowest_logits_come_first(temperature: float) -> None:
    """As of a distance: the weights are exp(-distance / -temperature)."""
    far = [0.3, 4.0, 2.5, 1.0]
    slates = list(permutations(range(4), 3))
    law = PlackettLuce("score", temperature=temperature, log=True)
    expected = [exact_log_prob([one / temperature for one in far], slate) for slate in slates]
    assert law.log_prob(contexts(far, 3, rows=24), np.array(slates)) == pytest.approx(expected, rel=1e-12, abs=1e-12)
    ranks = law.rank_probs(here := contexts(far, 3), all_items(here))[0]
    chances = np.exp(expected)
    for item in range(4):
        own = [sum(p for slate, p in zip(slates, chances, strict=True) if slate[rank] == item) for rank in range(3)]
        assert ranks[item] == pytest.approx(own, rel=1e-12)
