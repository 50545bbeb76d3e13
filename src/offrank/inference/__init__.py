"""Intervals from named sums: each kind of interval has its own file, which registers it.

The sampling distribution of a mean of `offrank.sums`, and the interval that follows from it.
"""

from typing import TYPE_CHECKING

from ..language.registry import later as _later

if TYPE_CHECKING:
    from .pareto import tail_index
    from .registry import INTERVALS, interval
    from .spec import IntervalSpec
    from .spread import Inference
else:  # arguments of the command line do without what computes
    __getattr__ = _later(
        __name__,
        {
            "INTERVALS": "registry",
            "Inference": "spread",
            "IntervalSpec": "spec",
            "interval": "registry",
            "tail_index": "pareto",
        },
    )

__all__ = ["INTERVALS", "Inference", "IntervalSpec", "interval", "tail_index"]
