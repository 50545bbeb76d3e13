"""Shipped test tools: worlds small enough to enumerate, and laws that policies and folds must keep."""

from .conformance import check_fold, same, take
from .exact import MemorySource, World
from .laws import Situation, law

__all__ = ["MemorySource", "Situation", "World", "check_fold", "law", "same", "take"]
