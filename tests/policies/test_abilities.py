"""What a policy of one's own can do is asked of it: whoever uses policies never asks for their class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

import numpy as np
import pytest
from numpy.typing import NDArray

from offrank.errors import AbilityError
from offrank.estimators.pseudoinverse.estimator import fills_slots
from offrank.estimators.pseudoinverse.overlap import overlap
from offrank.log.batch import Contexts, LogBatch, Shown
from offrank.log.source import Needs
from offrank.metrics.orders import drawn_order_law, order_law
from offrank.policies import PlackettLuce, Policy, Top, Uniform, propensities
from tests.policies.laws import contexts

FOUND = contexts([[5.0, 2.0, 1.0], [1.0, 3.0, 9.0], [2.0, 2.0, 4.0]], [3, 3, 2])
SCORES = PlackettLuce(next(iter(FOUND.scores)))


@dataclass(frozen=True)
class Own(Policy):
    """A policy of one's own that says nothing of itself but which columns it needs."""

    def reads(self, ability: Any) -> Needs:
        return Uniform().reads(ability)

    def refuse(self, ability: Any) -> NoReturn:
        raise AssertionError(f"it is asked for {ability}")


class Shuffling(Own):
    """All slates alike."""

    shuffles: ClassVar[bool] = True


class Weighing(Own):
    """Plackett-Luce under another name."""

    draws_items: ClassVar[bool] = True

    def log_weights(self, contexts: Contexts) -> NDArray[np.float64]:
        return SCORES.log_weights(contexts)


class Filling(Own):
    """A slate is full where there are three slots."""

    def fills_slots(self, contexts: Contexts) -> NDArray[np.bool_]:
        return contexts.length == 3


class Slots(Policy):
    """Slots alone: every one is a fair draw between the item that it shows and all that lie below."""

    def reads(self, ability: Any) -> Needs:
        return Needs(frozenset(["candidates"]))

    def slot_probs(self, contexts: Contexts, slates: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.where(slates >= 0, 0.5, 1.0)


def test_a_law_of_ones_own_gives_what_it_has_and_refuses_the_rest() -> None:
    here, own = batch(), Slots()
    asked = propensities(own, here)
    assert asked.slot_probs.tolist() == [[0.5] * 3, [0.5] * 3, [0.5, 0.5, 1.0]]
    assert np.exp(asked.log_prob) == pytest.approx([1 / 8, 1 / 8, 1 / 4])
    assert propensities(own, here) is asked
    assert (own.any_slate, own.sorts, own.shuffles, own.always_sorts) == (True, False, False, False)
    assert [own.fills_slots(FOUND), own.log_weights(FOUND), own.learnt_rows(), own.departure] == [None] * 4
    assert not own.tied(here).any()
    assert not own.sure_slates(FOUND)[0].any()
    for refused in (
        lambda: own.sample(FOUND, np.random.default_rng(0)),
        lambda: own.rank_probs(FOUND, here.slates),
        lambda: own.pair_probs(FOUND),
        lambda: propensities(own, here).rank_law,
        lambda: propensities(own, here).candidate_ranks,
    ):
        with pytest.raises(AbilityError, match=r"Slots object at .* cannot"):
            refused()


def batch() -> LogBatch:
    shown = np.array([[2, 0, 1], [0, 1, 2], [1, 2, -1]])
    return LogBatch(FOUND, Shown(shown), None, None, np.ones(3), np.arange(3, dtype=np.uint64))


def test_a_policy_that_shuffles_has_the_inverse_of_uniform_slates() -> None:
    same, other = (overlap(logging, Top(SCORES.scores), FOUND) for logging in (Shuffling(), Uniform()))
    assert np.array_equal(same.sigma2, other.sigma2)
    assert np.array_equal(same.rho, other.rho)
    assert [one.shuffles for one in (Shuffling(), Uniform(), Weighing(), SCORES)] == [True, True, False, False]


def test_a_policy_that_draws_by_weights_has_orders_drawn_by_them() -> None:
    drawn, expected = (drawn_order_law(one, batch(), 50, seed=1) for one in (Weighing(), SCORES))
    assert np.array_equal(drawn, expected)
    assert drawn[:2].sum(axis=2) == pytest.approx(1.0)


def test_a_policy_that_fills_slots_is_not_asked_for_its_law() -> None:
    assert fills_slots(Filling(), FOUND).tolist() == [True, True, False]
    assert fills_slots(Uniform(), FOUND).tolist() == [True] * 3


def test_all_orders_of_a_uniform_slate_are_alike() -> None:
    half = [[1 / 2, 1 / 2, 0], [1 / 2, 1 / 2, 0], [0, 0, 0]]
    assert order_law(Uniform(), batch()) == pytest.approx(np.array([np.full((3, 3), 1 / 3)] * 2 + [half]))
