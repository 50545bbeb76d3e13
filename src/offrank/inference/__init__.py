"""Intervals from column sums: each kind of interval has its own file, which registers it.

An estimate (a ratio, or a mean with a control variate), its sampling distribution, and the interval that
follows from it.
"""

from .pareto import tail_index
from .ratio import Controlled, Mean, Ratio
from .registry import INTERVALS, interval
from .spec import IntervalSpec
from .spread import Inference

__all__ = ["INTERVALS", "Controlled", "Inference", "IntervalSpec", "Mean", "Ratio", "interval", "tail_index"]
