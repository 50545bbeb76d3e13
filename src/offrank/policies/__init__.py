"""Policies turn contexts into slates and their probabilities; each has its own file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..language import lazy as _lazy
from .base import Policy as Policy
from .propensities import Propensities as Propensities
from .propensities import ShownPolicy as ShownPolicy
from .propensities import propensities as propensities
from .registry import POLICIES as POLICIES
from .registry import policy as policy

if TYPE_CHECKING:
    from .balanced import Balanced as Balanced
    from .base import Fits as Fits
    from .by import By as By
    from .counted import Counted as Counted
    from .distinct import Distinct as Distinct
    from .epsilon import EpsilonUniform as EpsilonUniform
    from .filtered import Filtered as Filtered
    from .interleaved import Interleaved as Interleaved
    from .logged_probabilities import Logged as Logged
    from .logged_probabilities import Written as Written
    from .noisy import Noisy as Noisy
    from .pinned import Pinned as Pinned
    from .plackett_luce import PlackettLuce as PlackettLuce
    from .policy_mixture import PolicyMixture as PolicyMixture
    from .ranking import Ranking as Ranking
    from .shuffled import Shuffled as Shuffled
    from .sorting import Sorting as Sorting
    from .swaps import Swaps as Swaps
    from .thompson import Thompson as Thompson
    from .top import Top as Top
    from .unconfirmed import Unconfirmed as Unconfirmed
    from .uniform import Uniform as Uniform

_HOMES = _lazy.homes(__file__)
__all__ = [*["POLICIES", "Policy", "Propensities", "ShownPolicy", "policy", "propensities"], *_HOMES]  # noqa: PLE0604

if not TYPE_CHECKING:  # otherwise a type checker would accept any name
    __getattr__ = _lazy.later(__name__, _HOMES)
