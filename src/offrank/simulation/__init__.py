"""Simulated worlds whose truth is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..language.registry import later as _later

if TYPE_CHECKING:
    from .adverts import AdvertWorld
    from .judged_queries import mslr_like, stratified
    from .search import SearchWorld
    from .source import SimulatedSource
    from .truth import Truth
    from .worlds import JudgedWorld

__all__ = ["AdvertWorld", "JudgedWorld", "SearchWorld", "SimulatedSource", "Truth", "mslr_like", "stratified"]

_HOMES = {
    "AdvertWorld": "adverts",
    "JudgedWorld": "worlds",
    "SearchWorld": "search",
    "SimulatedSource": "source",
    "Truth": "truth",
    "mslr_like": "judged_queries",
    "stratified": "judged_queries",
}

if not TYPE_CHECKING:  # otherwise a type checker would accept any name
    __getattr__ = _later(__name__, _HOMES)
