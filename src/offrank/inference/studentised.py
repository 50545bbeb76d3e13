"""The studentised interval of a skewed mean."""

from __future__ import annotations

from ..sums.estimate import Interval, untransformed
from .registry import Sampling, interval


@interval("studentised")
def studentised(of: Sampling) -> Interval:
    """Hall's (1992) interval, which corrects the studentised mean for its skewness.

    The mean of a few large values among many small ones is too low when its standard error is too small: the end
    towards the tail moves out. The other end would move in, but stays where the normal interval has it: samples
    underestimate the skewness, and the distribution of a ratio is not only that of its linear part. Where rewards have
    a heavy tail, error and skewness count the rewards that such a log is too short to show.
    """
    quantile = of.quantile
    below = max(quantile, untransformed(quantile, of.lower.skewness))
    above = max(quantile, -untransformed(-quantile, of.upper.skewness))
    return of.interval(of.value - of.lower.error * below, of.value + of.upper.error * above)
