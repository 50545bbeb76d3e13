"""The normal interval, by the delta method."""

from __future__ import annotations

from ..folds.estimate import Interval
from .registry import Sampling, interval


@interval("normal")
def normal(of: Sampling) -> Interval:
    """As far on either side as a normal law has it."""
    half = of.quantile * of.error
    return of.interval(of.value - half, of.value + half)
