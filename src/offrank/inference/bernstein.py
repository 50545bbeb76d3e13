"""The empirical Bernstein interval."""

from __future__ import annotations

import math

from ..sums.estimate import Interval
from .registry import Sampling, interval


@interval("bernstein", clusters=False)
def bernstein(of: Sampling) -> Interval:
    """The two-sided interval of Maurer and Pontil (2009), with the observed range."""
    log_term = math.log(4 / (1 - of.confidence))
    half = math.sqrt(2 * log_term) * of.error + 7 * of.span * log_term / (3 * max(of.n - 1, 1))
    return of.interval(of.value - half, of.value + half)
