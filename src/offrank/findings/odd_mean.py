"""Tests of whether a mean weight differs from 1 beyond chance, shared by `mean-weight` and `double-subsampling`."""

import math

from ..inference.pareto import odd_weights, unseen
from .evidence import OfEstimate, OfLog

ODD = 3.3
"""Standard errors from 1: one in a thousand."""
IMPOSSIBLE = 5.0
NEAR = 0.005
"""A mean this close to 1 is not reported."""
ODD_BY_MARKOV = 20.0
"""Weights are >= 0 with expectation 1: the chance of a mean of t or more is at most 1 / t (Markov's inequality)."""
IMPOSSIBLE_BY_MARKOV = 100.0
_ROUNDING = 1e-6
"""If weights do not vary, their mean differs from 1 by rounding errors only."""


def deviation(found: OfEstimate) -> float | None:
    """How far the mean weight is from 1, in standard errors; None if it is close enough or cannot be determined.

    A mean below 1 is compared with 1 minus the share of the target that so short a log hides: see `odd_weights`.
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
    """How far the mean weight of uniform is above 1, in standard errors; None if it is close enough.

    With correct propensities its expectation is at most 1. Chance seldom exceeds it: weights are skewed, so that a high
    mean comes with a large error.
    """
    mean = log.mean_weight
    if mean is None or not math.isfinite(mean.standard_error) or mean.value < 1 + NEAR:
        return None
    away = mean.deviation(1.0)
    return away if away >= ODD else None
