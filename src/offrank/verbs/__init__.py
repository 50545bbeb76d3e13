"""The jobs, one module per verb; `offrank.evaluate` and its like are their public names."""

from .result import Estimates, Result

__all__ = ["Estimates", "Result"]
