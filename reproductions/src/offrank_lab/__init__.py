"""Verbs that are tried out beside offrank, with names that may still change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from offrank.language import lazy as _lazy

if TYPE_CHECKING:
    from .planning import plan as plan
    from .runs import measure_runs as measure_runs

__all__ = ["measure_runs", "plan"]

if not TYPE_CHECKING:  # loaded on first use: the help of the command waits for neither
    __getattr__ = _lazy.later(__name__, _lazy.homes(__file__))
