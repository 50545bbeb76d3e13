"""What one policy says of the slates of one batch, computed once however many estimators ask."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

from ..log.batch import Floats, LogBatch
from .base import Policy
from .rank_law import RankLaw, rank_law

T = TypeVar("T")


@dataclass(frozen=True)
class Shown:
    """A policy looked at through the slates that were shown."""

    policy: Policy
    batch: LogBatch
    _memo: dict[Hashable, Any] = field(default_factory=dict, repr=False, compare=False)

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` gives, made for the first who asks by this key."""
        if key not in self._memo:
            self._memo[key] = make()
        found: T = self._memo[key]
        return found

    @cached_property
    def log_prob(self) -> Floats:
        """[n] log-probability of the shown slate."""
        return self.policy.log_prob(self.batch.contexts, self.batch.slates)

    @cached_property
    def slot_probs(self) -> Floats:
        """[n, k] probability of each shown slot given the slots above; 1 on pads."""
        return self.policy.slot_probs(self.batch.contexts, self.batch.slates)

    @cached_property
    def rank_law(self) -> RankLaw:
        """Probability of each displayed item at each rank."""
        return rank_law(self.policy, self.batch.contexts, self.batch.slates)
