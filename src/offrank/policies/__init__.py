"""Policies turn contexts into slates and their probabilities; each has its own file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..language.registry import later as _later
from .propensities import AnyPolicy, Propensities, ShownPolicy, propensities
from .registry import POLICIES

if TYPE_CHECKING:
    from .balanced import Balanced
    from .base import FillsSlots, Fits, ItemWeights, OrderGivenSet, PairProbs, Policy, Shuffles, Trained
    from .by import By
    from .counted import Counted
    from .distinct import Distinct
    from .epsilon import EpsilonUniform
    from .filtered import Filtered
    from .interleaved import Interleaved
    from .named import policy
    from .noisy import Noisy
    from .pinned import Pinned
    from .plackett_luce import PlackettLuce
    from .policy_mixture import PolicyMixture
    from .ranking import Ranking
    from .shuffled import Shuffled
    from .sorting import MaySort, Sorting
    from .swaps import Swaps
    from .thompson import Thompson
    from .top import Top
    from .unconfirmed import Unconfirmed
    from .uniform import Uniform
    from .written import Logged, Written

__all__ = [
    "POLICIES",
    "AnyPolicy",
    "Balanced",
    "By",
    "Counted",
    "Distinct",
    "EpsilonUniform",
    "FillsSlots",
    "Filtered",
    "Fits",
    "Interleaved",
    "ItemWeights",
    "Logged",
    "MaySort",
    "Noisy",
    "OrderGivenSet",
    "PairProbs",
    "Pinned",
    "PlackettLuce",
    "Policy",
    "PolicyMixture",
    "Propensities",
    "Ranking",
    "ShownPolicy",
    "Shuffled",
    "Shuffles",
    "Sorting",
    "Swaps",
    "Thompson",
    "Top",
    "Trained",
    "Unconfirmed",
    "Uniform",
    "Written",
    "policy",
    "propensities",
]

_HOMES = {
    "Balanced": "balanced",
    "By": "by",
    "Counted": "counted",
    "Distinct": "distinct",
    "EpsilonUniform": "epsilon",
    "FillsSlots": "base",
    "Filtered": "filtered",
    "Fits": "base",
    "Interleaved": "interleaved",
    "ItemWeights": "base",
    "Logged": "written",
    "MaySort": "sorting",
    "Noisy": "noisy",
    "OrderGivenSet": "base",
    "PairProbs": "base",
    "Pinned": "pinned",
    "PlackettLuce": "plackett_luce",
    "Policy": "base",
    "PolicyMixture": "policy_mixture",
    "Ranking": "ranking",
    "Shuffled": "shuffled",
    "Shuffles": "base",
    "Sorting": "sorting",
    "Swaps": "swaps",
    "Thompson": "thompson",
    "Top": "top",
    "Trained": "base",
    "Unconfirmed": "unconfirmed",
    "Uniform": "uniform",
    "Written": "written",
    "policy": "named",
}

if not TYPE_CHECKING:  # otherwise a type checker would accept any name
    __getattr__ = _later(__name__, _HOMES)
