"""Mixtures, with the uniform policy or of any others: limits, and what they refuse."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from offrank.errors import UsageError
from offrank.log.batch import Contexts
from offrank.policies import Counted, EpsilonUniform, PolicyMixture, Swaps, Top, Uniform, policy
from offrank.policies.base import all_items
from offrank.policies.fit import counts, replaced


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
    with pytest.raises(UsageError, match="an item would keep its rank less often than by chance") as error:
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


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        ({Top("score"): 0.7, Uniform(): 0.2}, "the shares add up to 0.9, not 1"),
        ({Top("score"): 1.5, Uniform(): -0.5}, "the share 1.5 is not a probability"),
        ({Top("score"): float("nan")}, "the share nan is not a probability"),
        ({Top("score"): True}, "the share True is not a probability"),
        ({Top("score"): "all"}, "the share 'all' is not a probability"),
        ({"score": 1.0}, "'score' is not a policy"),
        ({}, "{} is not a mapping"),
        (Top("score"), "is not a mapping"),
    ],
)
def test_shares_are_of_policies_and_add_up_to_one(parts: Any, why: str) -> None:
    with pytest.raises(UsageError, match=re.escape(why)):
        PolicyMixture(parts)


def test_shares_may_miss_one_by_their_last_digit() -> None:
    assert len(policy("mixture({top(a): 0.1, top(b): 0.2, top(c): 0.7})").parts) == 3  # type: ignore[union-attr]


def test_epsilon_is_a_mixture_with_uniform_slates() -> None:
    here = contexts([4, 3, 1])
    one, other = policy("epsilon(top(score), 0.2)"), policy("mixture({top(score): 0.8, uniform: 0.2})")
    items = all_items(here)
    for ability in ("log_prob", "slot_probs", "rank_probs"):
        assert getattr(one, ability)(here, items) == pytest.approx(getattr(other, ability)(here, items), rel=1e-12)
    drawn = [one.sample(here, np.random.default_rng(3)) for one in (one, other)]
    assert np.array_equal(*drawn)


def test_what_is_counted_is_found_in_a_mixture() -> None:
    mixed = PolicyMixture({Counted(): 0.5, Uniform(): 0.5})
    assert counts(mixed)
    found = replaced(mixed, lambda one: Top("score"))
    assert repr(found) == "mixture({top(score): 0.5, uniform: 0.5})"
    assert replaced(mixed, lambda one: one) is mixed
