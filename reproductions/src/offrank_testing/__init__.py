"""Test tools for users: small enumerable worlds, laws of policies and folds."""

from .conformance import check_fold, same, take
from .exact import MemorySource, World
from .laws import Situation, law

__all__ = ["MemorySource", "Situation", "World", "check_fold", "law", "same", "take"]
