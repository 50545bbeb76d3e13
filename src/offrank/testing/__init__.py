"""Shipped test tools: worlds small enough to enumerate, and laws that policies and folds must keep."""

from .exact import MemorySource, World
from .laws import Situation, law

__all__ = ["MemorySource", "Situation", "World", "law"]
