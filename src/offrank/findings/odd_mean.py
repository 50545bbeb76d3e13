"""When a mean weight is not 1 by chance: what `mean-weight` and `double-subsampling` have in common."""

import math

from ..inference.pareto import odd_weights, unseen
from .evidence import OfEstimate, OfLog

ODD = 3.3
"""Standard errors from 1: one in a thousand."""
IMPOSSIBLE = 5.0
NEAR = 0.005
"""Nothing is said of a mean that is so near 1."""
ODD_BY_MARKOV = 20.0
"""Weights are >= 0 with expectation 1: the chance of a mean of t or more is at most 1 / t (Markov's inequality)."""
IMPOSSIBLE_BY_MARKOV = 100.0
_ROUNDING = 1e-6
"""Where weights do not vary, their mean is beside 1 by what adding up loses."""


def deviation(found: OfEstimate) -> float | None:
    """How far the mean weight is from 1, in standard errors; None where that is near enough, or not to be told.

    A mean below 1 is held against 1 less what so short a log hides of the target: see `odd_weights`.
    """
    mean = found.mean_weight
    if mean is None or not math.isfinite(mean.standard_error) or not found.normalised:
        return None
    if found.clipped and found.control <= 1:
        return None  # clipping makes a mean weight smaller
    if found.hidden is None:
        hidden = unseen(found.max_weight_share, found.tail_index)
    else:
        hidden = found.hidden + found.unsupported
    away = min(odd_weights(mean, hidden), abs(mean.value - 1) / _ROUNDING)
    odd = mean.value >= ODD_BY_MARKOV or (away >= ODD and abs(mean.value - 1) >= NEAR)
    return away if odd else None


def rise(log: OfLog) -> float | None:
    """How far the mean weight of uniform is above 1, in standard errors; None where that is near enough.

    Right propensities never make it more than 1. Chance seldom does: weights are skewed, so that a high mean comes
    with a large error.
    """
    mean = log.mean_weight
    if mean is None or not math.isfinite(mean.standard_error) or mean.value < 1 + NEAR:
        return None
    away = mean.deviation(1.0)
    return away if away >= ODD else None
