"""The jobs of the library, one module per verb; `offrank.evaluate` and the others are their public names."""

from .result import Estimates, Result

__all__ = ["Estimates", "Result"]
