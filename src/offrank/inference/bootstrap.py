"""The percentile interval of a bootstrap."""

from __future__ import annotations

import math

import numpy as np

from ..sums.estimate import Interval
from .normal import normal
from .registry import Sampling, interval, student


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
