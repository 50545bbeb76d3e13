"""The types, rules and errors of a log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..language.registry import later as _later

if TYPE_CHECKING:
    from .batch import Contexts, Labels, LogBatch, Shown, SparseFeatures
    from .source import Needs, Source

__all__ = ["Contexts", "Labels", "LogBatch", "Needs", "Shown", "Source", "SparseFeatures"]

_HOMES = {name: "source" if name in ("Needs", "Source") else "batch" for name in __all__}

if not TYPE_CHECKING:  # otherwise a type checker would accept any name
    __getattr__ = _later(__name__, _HOMES)
