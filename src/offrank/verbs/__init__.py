"""The jobs of the library, one module per verb; `offrank.evaluate` and the others are their public names."""

from .data import Estimates
from .result import Result

__all__ = ["Estimates", "Result"]
