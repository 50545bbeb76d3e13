"""The types, rules and errors of a log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..language import lazy as _lazy

if TYPE_CHECKING:
    from .batch import Contexts, Labels, LogBatch, Shown, SparseFeatures
    from .source import Needs, Source

__all__ = ["Contexts", "Labels", "LogBatch", "Needs", "Shown", "Source", "SparseFeatures"]

if not TYPE_CHECKING:  # otherwise a type checker would accept any name
    __getattr__ = _lazy.later(__name__, _lazy.homes(__file__))
