"""The normal interval, by the delta method."""

from __future__ import annotations

from ..sums.estimate import Interval
from .registry import Sampling, interval


@interval("normal")
def normal(of: Sampling) -> Interval:
    """The symmetric interval of a normal distribution."""
    half = of.quantile * of.error
    return of.interval(of.value - half, of.value + half)
