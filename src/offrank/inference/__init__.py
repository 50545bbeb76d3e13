"""Intervals from named sums: kinds of interval register themselves, ours in `kinds.py`.

The sampling distribution of a mean of `offrank.sums`, and the interval that follows from it.
"""

from typing import TYPE_CHECKING

from ..language.registry import later as _later

if TYPE_CHECKING:
    from .clusters_and_level import IntervalSpec
    from .mean_intervals import Inference
    from .pareto import tail_index
    from .registry import INTERVALS, interval
else:  # arguments of the command line do without what computes
    __getattr__ = _later(
        __name__,
        {
            "INTERVALS": "registry",
            "Inference": "mean_intervals",
            "IntervalSpec": "clusters_and_level",
            "interval": "registry",
            "tail_index": "pareto",
        },
    )

__all__ = ["INTERVALS", "Inference", "IntervalSpec", "interval", "tail_index"]
