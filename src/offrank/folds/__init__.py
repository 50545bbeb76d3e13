"""How a log is reduced: empty, add, merge, finish."""

from .base import Attempt, Fold, Refusal, Sample, Together
from .bootstrap import BootstrapFold
from .buckets import BucketsFold
from .estimate import Caution, Estimate, Interval
from .group_by import GroupBy
from .histogram import Histogram, HistogramFold
from .largest import LargestFold
from .moments import Moments, MomentsFold

__all__ = [
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
    "Moments",
    "MomentsFold",
    "Refusal",
    "Sample",
    "Together",
]
