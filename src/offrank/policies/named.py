"""Policies by their spelling: `top(new_score)`, `epsilon(uniform, 0.1)`."""

from __future__ import annotations

from typing import cast

from ..spelling import parse
from .boosted import Boosted
from .counted import Counted
from .epsilon import EpsilonUniform
from .linear import Linear
from .plackett_luce import PlackettLuce
from .propensities import AnyPolicy
from .ranking import Ranking
from .swaps import Swaps
from .top import Top
from .unconfirmed import Unconfirmed
from .uniform import Uniform
from .written import Logged, Written

_ALL = (
    Boosted,
    Counted,
    EpsilonUniform,
    Linear,
    Logged,
    PlackettLuce,
    Ranking,
    Swaps,
    Top,
    Unconfirmed,
    Uniform,
    Written,
)
POLICIES = {policy.name: policy for policy in _ALL}


def policy(spelling: str | AnyPolicy) -> AnyPolicy:
    """The policy with this spelling; a policy is returned as it is.

    Raises:
        SpellingError: not a policy's spelling.
    """
    return cast(AnyPolicy, parse(spelling, POLICIES, "policy")) if isinstance(spelling, str) else spelling
