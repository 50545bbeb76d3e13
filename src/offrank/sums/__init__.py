"""Sums of columns over a log, which merge in any order, and means: smooth functions of them with their errors."""

from .base import Fold, OptionalFold, Sample, Tee, Unavailable
from .clusters import BootstrapFold, BucketsFold
from .estimate import Caution, Estimate, Interval
from .group_by import GroupBy
from .histogram import Histogram, HistogramFold
from .largest import LargestFold
from .mean import Mean, adjusted, combined, excess, mean_by_block, ratio, relative, with_control
from .moments import Moments, MomentsFold
from .named_sums import ByName, NamedColumns, Sums

__all__ = [
    "BootstrapFold", "BucketsFold", "ByName", "Caution", "Estimate", "Fold", "GroupBy", "Histogram", "HistogramFold",
    "Interval", "LargestFold", "Mean", "Moments", "MomentsFold", "NamedColumns", "OptionalFold", "Sample", "Sums",
    "Tee", "Unavailable", "adjusted", "combined", "excess", "mean_by_block", "ratio", "relative", "with_control",
]  # fmt: skip
