"""Boosted trees of sparse features, saved to one file: a score for each candidate, or for each candidate and slot."""

from .assignment import ASSIGNMENTS, Assigned, Assignment, best_slates
from .forest import TreeEnsemble, with_slots
from .model import BoostedModel
from .policy import Boosted

__all__ = [
    "ASSIGNMENTS",
    "Assigned",
    "Assignment",
    "Boosted",
    "BoostedModel",
    "TreeEnsemble",
    "best_slates",
    "with_slots",
]
