"""Policies turn contexts into slates and their probabilities; each has its own file."""

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
from .propensities import AnyPolicy, Propensities, ShownPolicy, propensities
from .ranking import Ranking
from .registry import POLICIES
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
