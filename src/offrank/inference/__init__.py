"""From column sums to intervals: one file a kind of interval, registered by being there.

What an estimate is (a ratio, a mean with a control variate), how it would differ in other logs, and which interval
follows from that.
"""

from .pareto import tail_index
from .ratio import Controlled, Mean, Ratio
from .registry import Method
from .spec import METHODS, IntervalSpec
from .spread import Inference

__all__ = ["METHODS", "Controlled", "Inference", "IntervalSpec", "Mean", "Method", "Ratio", "tail_index"]
