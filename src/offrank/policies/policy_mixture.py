"""A mixture of policies with given shares: in each impression one of them is drawn."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..errors import UsageError
from ..language.spelling import Frozen, Spelled
from ..log.batch import Contexts, Floats
from .base import Policy, refuse_no_policy
from .mixture import MixedPolicy
from .registry import POLICIES

_ROUNDING = 1e-9
"""What shares written with all their digits may miss of 1."""


@POLICIES.register
@dataclass(frozen=True, repr=False)
class PolicyMixture(Spelled, MixedPolicy):
    """A mixture of policies with shares: for each impression one is drawn at random and shows its slate.

    Parameters:
        parts: policy -> its share; the shares sum to 1.

    Examples:
        >>> offrank.PolicyMixture({offrank.Top("old_score"): 0.9, offrank.Top("new_score"): 0.1})
        mixture({top(old_score): 0.9, top(new_score): 0.1})
    """

    name: ClassVar[str] = "mixture"
    parts: Mapping[Policy, float]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", frozen(self.parts, "mixture({top(old_score): 0.9, top(new_score): 0.1})"))
        refuse_no_policy(self, *self.parts)
        refuse_no_shares(self, self.parts)

    @property
    def mixed(self) -> tuple[Policy, ...]:
        return tuple(self.parts)

    def mixed_shares(self, contexts: Contexts) -> Floats:
        """[p, n] the share of each policy."""
        return np.repeat(np.array(list(self.parts.values()), np.float64)[:, None], len(contexts), axis=1)


def frozen(given: Any, example: str) -> Frozen[Any, Any]:
    """A mapping that an argument has to be.

    Raises:
        UsageError: it is none, or empty.
    """
    if not isinstance(given, Mapping) or not given:
        raise UsageError(f"{given!r} is not a mapping", f"use one in braces: {example}")
    return Frozen(given)


def refuse_no_shares(policy: object, shares: Mapping[Any, Any]) -> None:
    """Raise unless the values are probabilities that add up to 1.

    Raises:
        UsageError: one is no probability, or they do not.
    """
    for share in shares.values():
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
            raise UsageError(f"{policy!r}: the share {share!r} is not a probability", "give one between 0 and 1")
    total = math.fsum(shares.values())
    if abs(total - 1) > _ROUNDING:
        raise UsageError(f"{policy!r}: the shares add up to {total:g}, not 1", "give the share of each, such as 0.7")
