"""Whether the mean of importance weights, whose expectation is 1, is further from it than chance would have it."""

from __future__ import annotations

import math

from ..folds.estimate import Interval

INFINITE_VARIANCE = 0.5
"""Pareto index from which the variance of the weights is infinite."""


def odd_weights(mean: Interval, hidden: float) -> float:
    """How far off the mean is, as `Interval.deviation` has it; 0 where it may only lack weights that were not seen.

    Weights are never negative, and rare large ones hold a share of their expectation: a log that happens to have none
    of them has a mean weight that is too low by up to `hidden`, with a standard error that knows nothing of it. So
    a mean below 1 is held against 1 - hidden; one above 1, against 1.
    """
    if mean.value >= 1:
        return mean.deviation(1.0)
    return mean.deviation(1 - hidden) if mean.value < 1 - hidden else 0.0


def unseen(share: float, index: float | None) -> float:
    """What the tail beyond the largest of n weights holds, where only these weights are known.

    share: of the largest weight in their sum. index: of their Pareto tail, None where they are too few to say. Of a
    Pareto tail one weight in n lies beyond the largest, on average, and these have the mean largest / (1 - index). From
    an index of .5 on no mean is called too low: how far it may be off cannot be learnt from the log.
    """
    if index is None:
        return share
    return share / (1 - index) if index < INFINITE_VARIANCE else math.inf
