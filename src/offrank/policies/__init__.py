"""Policies turn contexts into slates and their probabilities; each has its own file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..language.registry import later as _later
from .base import Policy
from .propensities import Propensities, ShownPolicy, propensities
from .registry import POLICIES, policy

if TYPE_CHECKING:
    from .balanced import Balanced
    from .base import Fits
    from .by import By
    from .counted import Counted
    from .distinct import Distinct
    from .epsilon import EpsilonUniform
    from .filtered import Filtered
    from .interleaved import Interleaved
    from .logged_probabilities import Logged, Written
    from .noisy import Noisy
    from .pinned import Pinned
    from .plackett_luce import PlackettLuce
    from .policy_mixture import PolicyMixture
    from .ranking import Ranking
    from .shuffled import Shuffled
    from .sorting import Sorting
    from .swaps import Swaps
    from .thompson import Thompson
    from .top import Top
    from .unconfirmed import Unconfirmed
    from .uniform import Uniform

__all__ = [
    "POLICIES",
    "Balanced",
    "By",
    "Counted",
    "Distinct",
    "EpsilonUniform",
    "Filtered",
    "Fits",
    "Interleaved",
    "Logged",
    "Noisy",
    "Pinned",
    "PlackettLuce",
    "Policy",
    "PolicyMixture",
    "Propensities",
    "Ranking",
    "ShownPolicy",
    "Shuffled",
    "Sorting",
    "Swaps",
    "Thompson",
    "Top",
    "Unconfirmed",
    "Uniform",
    "Written",
    "policy",
    "propensities",
]

_WRITTEN = """
    Balanced=balanced By=by Counted=counted Distinct=distinct EpsilonUniform=epsilon Filtered=filtered Fits=base
    Interleaved=interleaved Logged=logged_probabilities Noisy=noisy Pinned=pinned PlackettLuce=plackett_luce
    PolicyMixture=policy_mixture Ranking=ranking Shuffled=shuffled Sorting=sorting Swaps=swaps Thompson=thompson
    Top=top Unconfirmed=unconfirmed Uniform=uniform Written=logged_probabilities
"""
_HOMES = dict(one.split("=") for one in _WRITTEN.split())

if not TYPE_CHECKING:  # otherwise a type checker would accept any name
    __getattr__ = _later(__name__, _HOMES)
