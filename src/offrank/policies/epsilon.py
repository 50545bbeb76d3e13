"""Mostly one policy, sometimes a uniform slate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..errors import UsageError
from ..language.spelling import Spelled
from ..log.batch import Contexts, Floats
from .base import Policy, refuse_no_policy
from .mixture import UniformMixture
from .registry import POLICIES
from .top import Top


@POLICIES.register
@dataclass(frozen=True, repr=False)
class EpsilonUniform(Spelled, UniformMixture):
    """With probability epsilon a uniform slate, else the base policy; paper criteo-test-bed, Eq. 9.

    Parameters:
        base: the policy of the other slates.
        epsilon: the share of uniform slates, from 0 to 1.

    Raises:
        UsageError: an epsilon outside [0, 1].

    Examples:
        >>> offrank.EpsilonUniform(offrank.Top("new_score"), 0.1)
        epsilon(top(new_score), 0.1)
    """

    name: ClassVar[str] = "epsilon"
    base: Policy
    epsilon: float

    def __post_init__(self) -> None:
        refuse_no_policy(self, self.base)
        if not 0 <= self.epsilon <= 1:
            raise UsageError(f"epsilon is {self.epsilon}", "give a probability between 0 and 1")

    def uniform_share(self, contexts: Contexts) -> Floats:
        """[n] probability of the uniform slate."""
        return np.full(len(contexts), float(self.epsilon))


def sorted_as(law: Policy, scores: str) -> Top:
    """Return the ranker that sorts by a column as a law does: the lowest first where that does."""
    base = law.base if isinstance(law, EpsilonUniform) else law
    return base if isinstance(base, Top) else Top(scores)


def turned(policy: Policy) -> Policy | None:
    """The same ranker with its score the other way round, also below epsilon; None if it does not sort by one."""
    if isinstance(policy, EpsilonUniform):
        base = turned(policy.base)
        return None if base is None else replace(policy, base=base)
    return replace(policy, ascending=not policy.ascending) if isinstance(policy, Top) else None
