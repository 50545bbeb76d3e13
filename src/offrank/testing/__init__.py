"""Shipped test tools: small worlds to enumerate, laws of policies and folds, changes that may not change an answer."""

from .conformance import check_fold, same, take
from .exact import MemorySource, World
from .laws import Situation, law
from .metamorphic import RELATIONS, LogTable, Relation, check_relation

__all__ = [
    "RELATIONS",
    "LogTable",
    "MemorySource",
    "Relation",
    "Situation",
    "World",
    "check_fold",
    "check_relation",
    "law",
    "same",
    "take",
]
