"""Intervals from named sums: each kind of interval has its own file, which registers it.

The sampling distribution of a mean of `offrank.sums`, and the interval that follows from it.
"""

from .pareto import tail_index
from .registry import INTERVALS, interval
from .spec import IntervalSpec
from .spread import Inference

__all__ = ["INTERVALS", "Inference", "IntervalSpec", "interval", "tail_index"]
