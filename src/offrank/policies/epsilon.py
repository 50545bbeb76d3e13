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

    @property
    def ascending(self) -> bool:  # type: ignore[override]  # that of its base
        return self.base.ascending

    def turned(self) -> Policy | None:
        base = self.base.turned()
        return None if base is None else replace(self, base=base)
