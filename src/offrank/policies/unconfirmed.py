"""A logging policy that was read off a log, and that nobody has confirmed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from ..errors import UsageError
from ..language.spelling import Spelled
from ..log.batch import Contexts, Floats, Integers, LogBatch
from ..log.source import Needs
from .base import Ability, Policy
from .mixture import refuse_no_policy
from .propensities import AnyPolicy, Propensities, ShownAbility, ShownPolicy, is_law, law, propensities, reads
from .registry import POLICIES


@POLICIES.register
@dataclass(frozen=True, repr=False)
class Unconfirmed(Spelled, ShownPolicy):
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
    base: AnyPolicy
    departure: float = field(default=1.0, kw_only=True)

    def __post_init__(self) -> None:
        refuse_no_policy(self, self.base)
        if not 0 <= self.departure <= 1:
            raise UsageError(f"departure is {self.departure}", "give a share of the rows, between 0 and 1")

    @property
    def any_slate(self) -> bool:
        return is_law(self.base)

    @property
    def as_law(self) -> Policy:
        return law(self.base, "log_prob")

    def shown_needs(self, ability: ShownAbility) -> Needs:
        return reads(self.base, ability)

    def on(self, batch: LogBatch) -> Propensities:
        return propensities(self.base, batch)

    def needs(self, ability: Ability) -> Needs:
        """The columns that this ability reads."""
        return law(self.base, ability).needs(ability)

    def sample(self, contexts: Contexts, rng: np.random.Generator) -> Integers:
        """[n, k] candidate indices, -1 pads."""
        return law(self.base, "sample").sample(contexts, rng)

    def log_prob(self, contexts: Contexts, slates: Integers) -> Floats:
        """[n] log-probability of each slate."""
        return law(self.base, "log_prob").log_prob(contexts, slates)

    def slot_probs(self, contexts: Contexts, slates: Integers) -> Floats:
        """[n, k] probability of each slot's item given the slots above; 1 on pads."""
        return law(self.base, "slot_probs").slot_probs(contexts, slates)

    def rank_probs(self, contexts: Contexts, items: Integers) -> Floats:
        """[n, q, k] probability that candidate items[n, q] is at each rank; 0 on pads."""
        return law(self.base, "rank_probs").rank_probs(contexts, items)


def confirmed(policy: AnyPolicy) -> AnyPolicy:
    """The policy itself, whether it was confirmed or not."""
    return confirmed(policy.base) if isinstance(policy, Unconfirmed) else policy


def departure(policy: AnyPolicy) -> float | None:
    """The departure that an unconfirmed policy names; None of any other."""
    return policy.departure if isinstance(policy, Unconfirmed) else None
