"""The probabilities that a policy gives to the slates shown in one batch, each computed once.

A policy is a law over any slate; logged probabilities are of the shown slate only. Weights of estimators
need only the second, so that is all they get: code that needs a law calls `Policy.law`, which raises an error if
there is none.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from ..log.batch import Contexts, Floats, Integers, LogBatch, Shown
from ..log.source import Ability
from . import _kernels
from .base import Policy, refuse_shown_only
from .rank_law import RankLaw


@final
@dataclass(eq=False, repr=False)
class Propensities:
    """Probabilities of the shown slates of one batch, each computed once.

    Parameters:
        policy: whose probabilities they are.
        batch: some rows of a log.

    Examples:
        >>> row = {"slate": ["a", "b"], "clicks": [1, 0], "candidates": ["a", "b", "c"], "score": [2.0, 1.0, 1.0]}
        >>> policy = offrank.PlackettLuce("score")
        >>> [batch] = offrank.read_log([row]).select(policy.reads("slot_probs")).batches(0)
        >>> offrank.policies.propensities(policy, batch).slot_probs.tolist()
        [[0.5, 0.5]]
    """

    policy: Policy
    batch: LogBatch

    @cached_property
    def log_prob(self) -> Floats:
        """[n] log-probability of the shown slate."""
        return _kernels.log_product(self.slot_probs) if self.policy.by_slots else self.policy.shown_slate(self.batch)

    @cached_property
    def slot_probs(self) -> Floats:
        """[n, k] probability of each shown slot given the slots above; 1 on pads."""
        return self.policy.shown_slots(self.batch)

    @cached_property
    def rank_law(self) -> RankLaw:
        """Probability of each displayed item at each rank."""
        law, slates = self.policy.shown_ranks(self.batch), self.batch.slates
        if law is not None:
            return law
        if "candidate_ranks" not in vars(self):
            return RankLaw.of(self.policy.rank_probs(self.batch.contexts, slates))
        shown = np.take_along_axis(self.candidate_ranks, np.maximum(slates, 0)[:, :, None], axis=1)
        return RankLaw.of(np.where((slates >= 0)[:, :, None], shown, 0.0))

    @cached_property
    def own_ranks(self) -> Floats:
        """[n, k] probability of each displayed item at its own rank; 0 on pads."""
        known = vars(self).keys() & {"rank_law", "candidate_ranks"}  # of which it is a part
        alone = None if known else self.policy.own_ranks(self.batch)
        return self.rank_law.own_ranks(self.batch.contexts.length) if alone is None else alone

    @cached_property
    def candidate_ranks(self) -> Floats:
        """[n, m, k] probability of each candidate at each rank.

        Raises:
            AbilityError: the policy is known only for the shown slates.
        """
        return self.policy.candidate_ranks(self.batch)


def propensities(policy: Policy, batch: LogBatch) -> Propensities:
    """The probabilities that a policy gives to the shown slates of a batch; one object per policy and batch."""
    # Beside the object stands the policy, whose id is the key.
    made = batch.once(("propensities", id(policy)), lambda: (policy, Propensities(policy.for_rows(batch), batch)))
    return made[1]


def known_of_policies(batch: LogBatch) -> dict[Hashable, Any]:
    """What is known of a batch by its policies alone, for a batch of the same slates with other rewards."""
    return {key: one for key, one in batch.known.items() if isinstance(key, tuple) and key[0] == "propensities"}


class ShownPolicy(Policy):
    """A policy that is asked about batches: it, or one that it is made of, may be known for their shown slates only.

    Any slates are a batch of their own.
    """

    @property
    @abstractmethod
    def any_slate(self) -> bool:
        """Whether it is a law over any slate, not only known for the slates that were shown."""

    @abstractmethod
    def shown_slate(self, batch: LogBatch) -> Floats:
        """[n] log-probability of each shown slate."""

    @abstractmethod
    def shown_slots(self, batch: LogBatch) -> Floats:
        """[n, k] probability of each shown slot given the slots above; 1 on pads."""

    @abstractmethod
    def shown_ranks(self, batch: LogBatch) -> RankLaw:
        """The probability of each shown item at each rank."""

    @final
    def law(self, ability: Ability) -> Policy:
        """As `Policy.law`."""
        refuse_shown_only(self, ability)
        return self

    @final
    def log_prob(self, contexts: Contexts, slates: Integers) -> Floats:
        """[n] log-probability of each slate."""
        self.law("log_prob")
        return _as_batch(contexts, slates, self.shown_slate)

    @final
    def slot_probs(self, contexts: Contexts, slates: Integers) -> Floats:
        """[n, k] probability of each slot's item given the slots above; 1 on pads."""
        self.law("slot_probs")
        return _as_batch(contexts, slates, self.shown_slots)


def _as_batch(contexts: Contexts, slates: Integers, ask: Callable[[LogBatch], Floats]) -> Floats:
    """What is said of any slates, asked as if a log had shown them."""
    n = len(contexts)
    batch = LogBatch(contexts, Shown(slates), None, None, np.ones(n), np.arange(n, dtype=np.uint64))
    try:
        return ask(batch)
    finally:
        batch.known.clear()  # what is kept there refers to the batch
