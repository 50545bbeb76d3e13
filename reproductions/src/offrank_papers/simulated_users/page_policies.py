"""Page policies of published code: places that differ from ranks, and ties in list order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from offrank.errors import UsageError
from offrank.language.spelling import Spelled
from offrank.log.batch import Booleans, Contexts, Floats, Integers
from offrank.log.source import Ability, Needs
from offrank.policies.base import Policy, unable
from offrank.policies.sorting import Sorting
from offrank.selection.strategies import Preset
from offrank.simulation.worlds import JudgedWorld

from .carousel import CarouselUser
from .dbn import MixtureDBNUser


@dataclass(frozen=True, repr=False)
class Placed(Spelled, Policy):
    """Rank k shows the item that `base` ranks at place order[k]; both count from 0. Slates have len(order) slots."""

    name: ClassVar[str] = "placed"
    base: Policy
    order: tuple[int, ...]

    def __post_init__(self) -> None:
        if sorted(self.order) != list(range(len(self.order))):
            raise UsageError(f"the order is {self.order}", "give every position once, counted from 0")

    def reads(self, ability: Ability) -> Needs:
        return self.base.reads(ability)

    def sample(self, contexts: Contexts, rng: np.random.Generator) -> Integers:
        self._check(contexts)
        return np.ascontiguousarray(self.base.sample(contexts, rng)[:, list(self.order)])

    def log_prob(self, contexts: Contexts, slates: Integers) -> Floats:
        self._check(contexts)
        return self.base.log_prob(contexts, np.ascontiguousarray(slates[:, np.argsort(self.order, kind="stable")]))

    def slot_probs(self, contexts: Contexts, slates: Integers) -> Floats:
        unable(self, "slot_probs", "its slots are not filled from the top: use ips, ipm, interpol or pbm")

    def rank_probs(self, contexts: Contexts, items: Integers) -> Floats:
        self._check(contexts)
        return np.ascontiguousarray(self.base.rank_probs(contexts, items)[:, :, list(self.order)])

    def sure_slates(self, contexts: Contexts) -> tuple[Booleans, Integers]:
        sure, slates = self.base.sure_slates(contexts)
        return sure, np.ascontiguousarray(slates[:, list(self.order)])

    def _check(self, contexts: Contexts) -> None:
        if (contexts.length != len(self.order)).any():
            raise UsageError(
                f"{self!r} places {len(self.order)} items, but a slate has {contexts.length.min()}",
                "give every impression this many slots",
            )


@dataclass(frozen=True, repr=False)
class InOrder(Spelled, Sorting):
    """The documents of highest score, best first; ties are in list order, unlike in a fair test."""

    name: ClassVar[str] = "in_order"
    scores: str

    def reads(self, ability: Ability) -> Needs:
        return Needs(frozenset(["candidates"]), scores=frozenset([self.scores]))

    def blocks(self, contexts: Contexts, items: Integers) -> tuple[Integers, Integers]:
        inside = np.arange(contexts.candidates.shape[1]) < contexts.size[:, None]
        order = np.argsort(np.where(inside, -contexts.scores[self.scores], np.inf), axis=1, kind="stable")
        rank = np.take_along_axis(np.argsort(order, axis=1, kind="stable"), np.maximum(items, 0), axis=1)
        return np.where((items >= 0) & (rank < contexts.length[:, None]), rank, -1), np.ones_like(rank)

    def ties(self, contexts: Contexts) -> Booleans:
        return np.zeros(len(contexts), np.bool_)

    def sample(self, contexts: Contexts, rng: np.random.Generator) -> Integers:
        return self.in_order(contexts)


def placed(world: JudgedWorld, policy: Policy) -> Policy:
    """Return a policy in the page order of the world's user; see `MixtureDBNUser.placement`."""
    user = world.user
    placement = user.placement(world.slots) if isinstance(user, CarouselUser | MixtureDBNUser) else None
    return policy if placement is None else Placed(policy, tuple(placement.tolist()))


def logging_policy(world: JudgedWorld, ranker: str) -> Policy:
    """Return a ranker's stochastic policy, in the page order of the world's user."""
    return placed(world, world.policy(ranker))


def test_policy(world: JudgedWorld, ranker: str, preset: Preset) -> Policy:
    """Return the policy for tests: the stochastic one; in the published code the ranking sorted by score.

    There a test uses temperature 0: one ranking per query. Ties keep the order of the documents, so
    that its "uniform" is one permutation per query too.
    """
    return logging_policy(world, ranker) if preset == "paper" else placed(world, InOrder(ranker))


def logging_relevance(world: JudgedWorld, ranker: str, preset: Preset) -> Floats:
    """Return the logging policy's relevance: the expected rank; in the published code the score [q, m]."""
    return world.logging_relevance(ranker) if preset == "paper" else world.score(ranker)
