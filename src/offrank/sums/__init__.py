"""Sums of named columns, and means: smooth functions of them, whose errors follow from the sums."""

from .columns import Columns, Name, Named
from .mean import Mean, adjusted, combined, controlled, excess, mean_by_block, ratio, relative
from .sums import Sums

__all__ = [
    "Columns",
    "Mean",
    "Name",
    "Named",
    "Sums",
    "adjusted",
    "combined",
    "controlled",
    "excess",
    "mean_by_block",
    "ratio",
    "relative",
]
