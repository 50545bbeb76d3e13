"""Evaluations: from a question and a log to estimates, their doubt and the result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..language import lazy as _lazy

if TYPE_CHECKING:
    from .estimates import Estimates
    from .result import Result

__all__ = ["Estimates", "Result"]

if not TYPE_CHECKING:  # otherwise a type checker would accept any name
    __getattr__ = _lazy.later(__name__, _lazy.homes(__file__))
