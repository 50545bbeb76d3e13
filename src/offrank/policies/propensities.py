"""The probabilities that a policy gives to the slates shown in one batch.

A policy is a law over any slate; logged probabilities are of the shown slate only. Weights of estimators
need only the second, so that is all they get: code that needs a law calls `law`, which raises an error if
there is none.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal, cast, get_args

import numpy as np

from ..log.batch import Floats, Integers, LogBatch
from ..log.source import Needs
from . import _kernels
from .base import Ability, BySlots, OwnRanks, Policy, RefusesRows, Remembers, StructuredRanks, all_items, unable
from .rank_law import RankLaw
from .sorting import Sorting

ShownAbility = Literal["log_prob", "slot_probs", "rank_law"]
"""Probabilities that are available for the shown slate."""
Asked = ShownAbility | Ability
"""Abilities for shown slates (`log_prob`, `slot_probs`, `rank_law`), or for any slate, which only a law has."""


@dataclass(eq=False, repr=False)
class Propensities(ABC):
    """Probabilities of the shown slates of one batch, each computed once.

    Parameters:
        policy: whose probabilities they are.
        batch: some rows of a log.
    """

    policy: AnyPolicy
    batch: LogBatch

    @property
    @abstractmethod
    def log_prob(self) -> Floats:
        """[n] log-probability of the shown slate."""

    @property
    @abstractmethod
    def slot_probs(self) -> Floats:
        """[n, k] probability of each shown slot given the slots above; 1 on pads."""

    @property
    @abstractmethod
    def rank_law(self) -> RankLaw:
        """Probability of each displayed item at each rank."""

    @cached_property
    def own_ranks(self) -> Floats:
        """[n, k] probability of each displayed item at its own rank; 0 on pads."""
        return self.rank_law.own_ranks(self.batch.contexts.length)

    @cached_property
    def candidate_ranks(self) -> Floats:
        """[n, m, k] probability of each candidate at each rank.

        Raises:
            AbilityError: the policy is known only for the shown slates.
        """
        contexts = self.batch.contexts
        return law(self.policy, "rank_probs").rank_probs(contexts, all_items(contexts))


class ShownPolicy(ABC):
    """A policy that gives the probabilities of shown slates without a law over any slate."""

    @property
    @abstractmethod
    def any_slate(self) -> bool:
        """Whether it also has a law over any slate, like a `Policy`."""

    @property
    def as_law(self) -> Policy:
        """The law over any slate, if there is one; by default the policy itself."""
        return cast(Policy, self)

    @abstractmethod
    def shown_needs(self, ability: ShownAbility) -> Needs:
        """The columns to read for shown slates."""

    @abstractmethod
    def on(self, batch: LogBatch) -> Propensities:
        """The probabilities of a batch's shown slates, as a new object; `propensities` keeps one per batch."""


AnyPolicy = Policy | ShownPolicy


def propensities(policy: AnyPolicy, batch: LogBatch) -> Propensities:
    """The probabilities that a policy gives to the shown slates of a batch; one object per policy and batch."""
    if isinstance(policy, ShownPolicy):
        make = policy.on
    elif isinstance(policy, RefusesRows):
        make = partial(_of_known_rows, policy)
    else:
        make = partial(_OfSorting if isinstance(policy, Sorting) else _OfLaw, policy)
    return batch.once(("propensities", id(policy)), lambda: make(batch))  # the object keeps the policy, and so its id


def reads(policy: AnyPolicy, asked: Asked) -> Needs:
    """The columns that a policy reads for what is asked of it; `log_prob` and `slot_probs` of shown slates only.

    Raises:
        AbilityError: it lacks the ability.
    """
    if not isinstance(policy, ShownPolicy):
        return policy.needs("rank_probs" if asked == "rank_law" else asked)
    if asked in get_args(ShownAbility):
        return policy.shown_needs(cast(ShownAbility, asked))
    return law_needs(policy, cast(Ability, asked))


def is_law(policy: AnyPolicy) -> bool:
    """Whether a policy is a law over any slate, not only known for shown slates."""
    return not isinstance(policy, ShownPolicy) or policy.any_slate


def law(policy: AnyPolicy, ability: Ability) -> Policy:
    """The policy, if it is a law over any slate.

    Raises:
        AbilityError: it was logged only for the shown slates.
    """
    if not isinstance(policy, ShownPolicy):
        return policy
    if not policy.any_slate:
        unable(
            policy,
            ability,
            "logged propensities cover the shown slate only. If the scores behind it were logged, use "
            "plackett_luce(scores), epsilon(top(scores), 0.1) or swaps(top(scores), 0.9)",
        )
    return policy.as_law


def law_needs(policy: AnyPolicy, ability: Ability) -> Needs:
    """The columns that a law reads.

    Raises:
        AbilityError: it lacks the ability, or is not a law.
    """
    return law(policy, ability).needs(ability)


def remembering(policy: AnyPolicy) -> AnyPolicy:
    """The same policy, which keeps the laws of the last rows where these take long."""
    return policy.remembering() if isinstance(policy, Remembers) else policy


class _OfLaw(Propensities):
    """The propensities of a law on the shown slates."""

    policy: Policy

    @cached_property
    def log_prob(self) -> Floats:
        if not (isinstance(self.policy, BySlots) and self.policy.by_slots):
            return self.policy.log_prob(self.batch.contexts, self.batch.slates)
        found = np.empty(len(self.batch.row))
        _kernels.log_products(self.slot_probs, found)
        return found

    @cached_property
    def slot_probs(self) -> Floats:
        return self.policy.slot_probs(self.batch.contexts, self.batch.slates)

    @cached_property
    def own_ranks(self) -> Floats:
        known = vars(self).keys() & {"rank_law", "candidate_ranks"}  # of which it is a part
        if isinstance(self.policy, OwnRanks) and not known:
            return self.policy.own_ranks(self.batch.contexts, self.batch.slates)
        return self.rank_law.own_ranks(self.batch.contexts.length)

    @cached_property
    def rank_law(self) -> RankLaw:
        contexts, slates = self.batch.contexts, self.batch.slates
        if isinstance(self.policy, StructuredRanks):
            return self.policy.rank_law(contexts, slates)
        if "candidate_ranks" in vars(self):  # computed before
            shown = np.take_along_axis(self.candidate_ranks, np.maximum(slates, 0)[:, :, None], axis=1)
            return RankLaw.of(np.where((slates >= 0)[:, :, None], shown, 0.0))
        return RankLaw.of(self.policy.rank_probs(contexts, slates))


class _OfSorting(_OfLaw):
    """The propensities of a policy that sorts, all from the blocks of the shown items."""

    policy: Sorting

    @cached_property
    def slot_probs(self) -> Floats:
        found = np.empty(self.batch.slates.shape)
        _kernels.block_slot_probs(*self._blocks, self.batch.slates, found)
        return found

    @cached_property
    def rank_law(self) -> RankLaw:
        return RankLaw.blocks(*self._blocks)

    @cached_property
    def _blocks(self) -> tuple[Integers, Integers]:
        return self.policy.blocks(self.batch.contexts, self.batch.slates)


def _of_known_rows(policy: Any, batch: LogBatch) -> Propensities:
    """The propensities of a law that may not be known for some rows.

    Raises:
        RowError: of one of these it is not known.
    """
    policy.refuse_unknown(batch)
    return _OfLaw(policy, batch)


def complete(batch: LogBatch) -> bool:
    """Whether every row shows all of its candidates, so that logged probabilities cover them all."""
    return bool(np.array_equal(batch.contexts.size, batch.contexts.length))
