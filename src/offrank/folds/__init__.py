"""How a log is reduced: empty, add, merge, finish."""

from .base import Attempt, Fold, Refusal, Sample, Together
from .bootstrap import BootstrapFold
from .buckets import BucketsFold
from .estimate import Caution, Estimate, Interval
from .group_by import GroupBy
from .histogram import Histogram, HistogramFold
from .intervals import METHODS, Method, Ratio, Spread
from .largest import LargestFold
from .moments import Moments, MomentsFold
from .tail import tail_index

__all__ = [
    "METHODS",
    "Attempt",
    "BootstrapFold",
    "BucketsFold",
    "Caution",
    "Estimate",
    "Fold",
    "GroupBy",
    "Histogram",
    "HistogramFold",
    "Interval",
    "LargestFold",
    "Method",
    "Moments",
    "MomentsFold",
    "Ratio",
    "Refusal",
    "Sample",
    "Spread",
    "Together",
    "tail_index",
]
