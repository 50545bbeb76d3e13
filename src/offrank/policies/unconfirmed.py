"""A logging policy that was read off a log, and that nobody has confirmed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from ..errors import UsageError
from ..language.spelling import Spelled
from ..log.batch import Contexts, Floats, Integers, LogBatch
from ..log.source import Ability, Needs
from .base import Policy, refuse_no_policy, refuse_shown_only
from .registry import POLICIES


@POLICIES.register
@dataclass(frozen=True, repr=False)
class Unconfirmed(Spelled, Policy):
    """The policy `base`, which a log does not contradict: its probabilities, and a warning in every verdict.

    Parameters:
        base: the policy that the log does not contradict.
        departure: the smallest share of rows that follow a fixed order instead, which the log would have shown; 1
            where it shows nothing. Who knows that the log was drawn by `base` names that alone.

    Raises:
        UsageError: a departure outside [0, 1].

    Examples:
        >>> offrank.Unconfirmed(offrank.PlackettLuce("old_score", temperature=0.8), departure=0.05)
        unconfirmed(plackett_luce(old_score, temperature=0.8), departure=0.05)
    """

    name: ClassVar[str] = "unconfirmed"
    base: Policy
    departure: float = field(default=1.0, kw_only=True)

    def __post_init__(self) -> None:
        refuse_no_policy(self, self.base)
        if not 0 <= self.departure <= 1:
            raise UsageError(f"departure is {self.departure}", "give a share of the rows, between 0 and 1")

    @property
    def any_slate(self) -> bool:
        return self.base.any_slate

    @property
    def confirmed(self) -> Policy:
        return self.base.confirmed

    def law(self, ability: Ability) -> Policy:
        refuse_shown_only(self, ability)
        return self.base.law(ability)

    def for_rows(self, batch: LogBatch) -> Policy:
        return self.base.for_rows(batch)

    def reads(self, ability: Ability) -> Needs:
        return self.reads_of([self.base], ability)

    def sample(self, contexts: Contexts, rng: np.random.Generator) -> Integers:
        return self.base.law("sample").sample(contexts, rng)

    def log_prob(self, contexts: Contexts, slates: Integers) -> Floats:
        return self.base.law("log_prob").log_prob(contexts, slates)

    def slot_probs(self, contexts: Contexts, slates: Integers) -> Floats:
        return self.base.law("slot_probs").slot_probs(contexts, slates)

    def rank_probs(self, contexts: Contexts, items: Integers) -> Floats:
        return self.base.law("rank_probs").rank_probs(contexts, items)
