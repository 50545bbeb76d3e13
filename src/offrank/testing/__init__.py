"""Test tools for users: small enumerable worlds, laws of policies and folds, and invariances of answers."""

from .conformance import check_fold, same, take
from .exact import MemorySource, World
from .laws import Situation, law
from .metamorphic import RELATIONS, LogTable, Relation, check_more_estimators, check_relation

__all__ = [
    "RELATIONS", "LogTable", "MemorySource", "Relation", "Situation", "World", "check_fold", "check_more_estimators",
    "check_relation", "law", "same", "take",
]  # fmt: skip
