"""The jobs, one module per verb; `offrank.evaluate` and its like are their public names."""

from .estimates import Estimates
from .result import Result

__all__ = ["Estimates", "Result"]
