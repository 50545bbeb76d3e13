"""Intervals from named sums: kinds of interval register themselves, ours in `kinds.py`.

The sampling distribution of a mean of `offrank.sums`, and the interval that follows from it.
"""

from typing import TYPE_CHECKING

from ..language import lazy as _lazy

if TYPE_CHECKING:
    from .clusters_and_level import IntervalSpec
    from .mean_intervals import Inference
    from .pareto import tail_index
    from .registry import INTERVALS, interval
else:  # arguments of the command line do without what computes
    __getattr__ = _lazy.later(__name__, _lazy.homes(__file__))

__all__ = ["INTERVALS", "Inference", "IntervalSpec", "interval", "tail_index"]
