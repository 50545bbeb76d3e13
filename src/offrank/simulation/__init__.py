"""Simulated worlds whose truth is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..language import lazy as _lazy

if TYPE_CHECKING:
    from .judged_queries import mslr_like, stratified
    from .search import SearchWorld
    from .source import SimulatedSource
    from .truth import Truth
    from .worlds import JudgedWorld

__all__ = ["JudgedWorld", "SearchWorld", "SimulatedSource", "Truth", "mslr_like", "stratified"]

if not TYPE_CHECKING:  # otherwise a type checker would accept any name
    __getattr__ = _lazy.later(__name__, _lazy.homes(__file__))
