"""Mixtures with the uniform policy: limits, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

from offrank.errors import UsageError
from offrank.log.batch import Contexts
from offrank.policies import EpsilonUniform, Swaps, Top, policy
from offrank.policies.base import all_items


def contexts(sizes: list[int]) -> Contexts:
    widest = max(sizes)
    return Contexts(
        np.tile(np.arange(widest), (len(sizes), 1)),
        np.array(sizes),
        np.array(sizes),
        {"score": np.tile(np.arange(widest, 0, -1.0), (len(sizes), 1))},
    )


@pytest.mark.parametrize("stay", [0.2, 0.5, 0.95, 1.0])
def test_swaps_stay_as_often_as_they_say(stay: float) -> None:
    here = contexts([10, 5, 6, 1])
    found = Swaps(Top("score"), stay).rank_probs(here, all_items(here))
    for row, size in enumerate(here.size):
        elsewhere = (1 - stay) / (size - 1) if size > 1 else 0.0
        expected = np.full((size, size), elsewhere)
        np.fill_diagonal(expected, stay if size > 1 else 1.0)
        assert found[row, :size, :size] == pytest.approx(expected, rel=1e-12)


def test_swaps_refuse_to_stay_less_often_than_by_chance() -> None:
    here = contexts([3, 4, 2])
    with pytest.raises(UsageError, match="with 2 candidates: an item stays less often than by chance") as error:
        Swaps(Top("score"), 0.3).rank_probs(here, all_items(here))
    assert "1 / candidates" in error.value.remedy


@pytest.mark.parametrize("epsilon", [-0.1, 1.1, float("nan")])
def test_epsilon_is_a_probability(epsilon: float) -> None:
    with pytest.raises(UsageError, match="epsilon is"):
        EpsilonUniform(Top("score"), epsilon)


@pytest.mark.parametrize("stay", [0, -0.5, 1.5, float("nan")])
def test_stay_is_a_probability(stay: float) -> None:
    with pytest.raises(UsageError, match="stay is"):
        Swaps(Top("score"), stay)


def test_long_mixtures_do_not_underflow() -> None:
    here = contexts([220])
    mixed = policy("epsilon(top(score), 0.1)")
    backwards = np.arange(219, -1, -1)[None]
    assert np.isfinite(mixed.log_prob(here, backwards)).all()
    found = mixed.slot_probs(here, backwards)[0]
    assert found == pytest.approx(np.concatenate([[0.1 / 220], 1 / np.arange(219, 0, -1)]), rel=1e-9)
