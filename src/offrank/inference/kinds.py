"""The kinds of intervals: normal, studentised, empirical Bernstein, and the percentiles of a bootstrap."""

from __future__ import annotations

import math

import numpy as np

from ..sums.estimate import Interval, student, untransformed
from .registry import Sampling, interval


@interval("normal")
def normal(of: Sampling) -> Interval:
    """The symmetric interval of a normal distribution."""
    half = of.quantile * of.error
    return of.interval(of.value - half, of.value + half)


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


@interval("bernstein", clusters=False)
def bernstein(of: Sampling) -> Interval:
    """The two-sided interval of Maurer and Pontil (2009), with the observed range."""
    log_term = math.log(4 / (1 - of.confidence))
    half = math.sqrt(2 * log_term) * of.error + 7 * of.span * log_term / (3 * max(of.n - 1, 1))
    return of.interval(of.value - half, of.value + half)


@interval("bootstrap", replicates=True)
def bootstrap(of: Sampling) -> Interval:
    """The percentile interval of the replicates, widened by two factors.

    They are `stretch`, and Student's quantile over the normal one. Both are 1 for independent rows; with few or unequal
    clusters, replicates vary too little (Hesterberg 2015 widens by the same factors).
    """
    if of.draws is None:
        return normal(of)
    draws = of.draws[np.isfinite(of.draws)]  # where few rows have weight, a replicate may contain none of them
    if len(draws) < 2:
        return of.interval(-math.inf, math.inf, math.inf)
    tail = (1 - of.confidence) / 2
    heavier = of.quantile / student(1 - tail, math.inf)
    # Weibull's plotting positions: with B draws the coverage is that of B + 1 exchangeable values.
    ends = of.value + of.stretch * heavier * (np.quantile(draws, [tail, 1 - tail], method="weibull") - of.value)
    return of.interval(float(ends[0]), float(ends[1]), of.stretch * float(np.std(draws, ddof=1)))
