"""Evaluations: from a question and a log to estimates, their doubt and the result."""

from .estimates import Estimates
from .result import Result

__all__ = ["Estimates", "Result"]
