"""Folds, which reduce a log by four operations: empty, add, merge, finish."""

from .base import Fold, Sample, Tee
from .buckets import BucketsFold
from .estimate import Caution, Estimate, Interval
from .group_by import GroupBy
from .histogram import Histogram, HistogramFold
from .largest import LargestFold
from .moments import Moments, MomentsFold
from .optional import OptionalFold, Unavailable
from .sums import BootstrapFold

__all__ = [
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
    "OptionalFold",
    "Sample",
    "Tee",
    "Unavailable",
]
