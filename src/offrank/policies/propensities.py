"""What a policy says of the slates that were shown in one batch.

A policy is a law over any slate; what was written in a log speaks of the shown slate alone. Weights of estimators
need only the second, so that is all they are given: whoever needs a law asks for one by `law`, and is refused where
there is none.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from functools import cached_property
from typing import Any, Literal, TypeVar, cast, final

import numpy as np

from ..log.batch import Floats, LogBatch
from ..log.source import Needs
from ..running.cache import RunCache
from .base import Ability, Policy, unable
from .rank_law import RankLaw
from .sorting import Sorting
from .uniform import Uniform

T = TypeVar("T")

ShownAbility = Literal["log_prob", "slot_probs", "rank_law"]
"""What may be asked of the shown slate."""


class Propensities(ABC):
    """Probabilities of the shown slates of one batch, each computed once however many estimators ask.

    cache: what may be kept until the whole log is read.
    """

    def __init__(self, policy: AnyPolicy, batch: LogBatch, cache: RunCache | None = None) -> None:
        self.policy, self.batch = policy, batch
        self.cache = RunCache() if cache is None else cache
        self._known: dict[Hashable, Any] = {}

    @cached_property
    @final
    def log_prob(self) -> Floats:
        """[n] log-probability of the shown slate."""
        return self._log_prob()

    @cached_property
    @final
    def slot_probs(self) -> Floats:
        """[n, k] probability of each shown slot given the slots above; 1 on pads."""
        return self._slot_probs()

    @cached_property
    @final
    def rank_law(self) -> RankLaw:
        """Probability of each displayed item at each rank."""
        return self._rank_law()

    @final
    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` gives; it is called for the first who asks by this key."""
        if key not in self._known:
            self._known[key] = make()
        found: T = self._known[key]
        return found

    @abstractmethod
    def _log_prob(self) -> Floats: ...

    @abstractmethod
    def _slot_probs(self) -> Floats: ...

    @abstractmethod
    def _rank_law(self) -> RankLaw: ...


class ShownPolicy(ABC):
    """What knows the probabilities of shown slates otherwise than by a law over any slate."""

    @property
    @abstractmethod
    def any_slate(self) -> bool:
        """Whether it has a law over any slate too, as a `Policy` has."""

    @abstractmethod
    def shown_needs(self, ability: ShownAbility) -> Needs:
        """The columns that are read for shown slates."""

    @abstractmethod
    def on(self, batch: LogBatch, cache: RunCache | None = None) -> Propensities:
        """The probabilities of a batch's shown slates."""


AnyPolicy = Policy | ShownPolicy


def propensities(policy: AnyPolicy, batch: LogBatch, cache: RunCache | None = None) -> Propensities:
    """What a policy says of the slates that a batch shows."""
    return policy.on(batch, cache) if isinstance(policy, ShownPolicy) else _OfLaw(policy, batch, cache)


def shown_needs(policy: AnyPolicy, ability: ShownAbility) -> Needs:
    """The columns that a policy reads to say this of shown slates.

    Raises:
        AbilityError: it cannot know.
    """
    if isinstance(policy, ShownPolicy):
        return policy.shown_needs(ability)
    return policy.needs("rank_probs" if ability == "rank_law" else ability)


def is_law(policy: AnyPolicy) -> bool:
    """Whether a policy speaks of any slate, not only of those that were shown."""
    return policy.any_slate if isinstance(policy, ShownPolicy) else True


def law(policy: AnyPolicy, ability: Ability) -> Policy:
    """The policy, if it speaks of any slate.

    Raises:
        AbilityError: it was written down for the shown slates alone.
    """
    if not is_law(policy):
        unable(
            policy,
            ability,
            "what was written in the log tells of the shown slate alone. If the scores behind it were logged, use "
            "plackett_luce(scores), epsilon(top(scores), 0.1) or swaps(top(scores), 0.9)",
        )
    return cast(Policy, policy)


def law_needs(policy: AnyPolicy, ability: Ability) -> Needs:
    """The columns that a law reads.

    Raises:
        AbilityError: it cannot know, or is no law.
    """
    return law(policy, ability).needs(ability)


class _OfLaw(Propensities):
    """A law, looked at through the slates that were shown."""

    policy: Policy

    def _log_prob(self) -> Floats:
        return self.policy.log_prob(self.batch.contexts, self.batch.slates)

    def _slot_probs(self) -> Floats:
        return self.policy.slot_probs(self.batch.contexts, self.batch.slates)

    def _rank_law(self) -> RankLaw:
        contexts, slates = self.batch.contexts, self.batch.slates
        if isinstance(self.policy, Sorting):
            return RankLaw.blocks(*self.policy.blocks(contexts, slates))
        if isinstance(self.policy, Uniform):
            return RankLaw.uniform(contexts.size, slates.shape[1])
        return RankLaw.of(self.policy.rank_probs(contexts, slates))


def complete(batch: LogBatch) -> bool:
    """Whether every row shows all of its candidates, so that what was written tells of them all."""
    return bool(np.array_equal(batch.contexts.size, batch.contexts.length))
