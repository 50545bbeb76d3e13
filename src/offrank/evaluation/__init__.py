"""Evaluations: from a question and a log to estimates, their doubt and the result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..language.registry import later as _later

if TYPE_CHECKING:
    from .estimates import Estimates
    from .result import Result

__all__ = ["Estimates", "Result"]

_HOMES = {"Estimates": "estimates", "Result": "result"}

if not TYPE_CHECKING:  # otherwise a type checker would accept any name
    __getattr__ = _later(__name__, _HOMES)
