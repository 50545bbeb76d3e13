"""Contexts in, slates and their probabilities out; a file per policy."""

from .base import Deterministic, Policy, Prepares
from .counted import Counted
from .epsilon import EpsilonUniform
from .logged import Logged
from .named import POLICIES, policy
from .plackett_luce import PlackettLuce
from .ranking import Ranking
from .shown import Shown
from .swaps import Swaps
from .top import Top
from .uniform import Uniform

__all__ = [
    "POLICIES",
    "Counted",
    "Deterministic",
    "EpsilonUniform",
    "Logged",
    "PlackettLuce",
    "Policy",
    "Prepares",
    "Ranking",
    "Shown",
    "Swaps",
    "Top",
    "Uniform",
    "policy",
]
