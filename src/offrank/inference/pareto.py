"""The tail index of importance weights, and how far below 1 it allows their mean to be."""

from __future__ import annotations

import math

import numpy as np

from ..log.batch import Floats
from ..sums.estimate import Interval

INFINITE_VARIANCE = 0.5
"""Pareto index from which the variance of the weights is infinite."""
_CLEARLY = 0.4
"""About three standard errors of the index from a quarter of a usual tail."""


def tail_index(largest: Floats, n: int) -> float | None:
    """Pareto index of the tail of n weights, from the largest of them; None if there are too few.

    Fits a generalised Pareto law to the largest min(n / 5, 3 sqrt(n)) weights by the profile
    estimate of Zhang and Stephens (2009). Above .5 the variance is infinite, above .7 means of
    feasible size cannot be trusted (Vehtari et al., Pareto smoothed importance sampling), above 1
    even the mean is infinite. A bounded tail gives a negative index. Where the largest quarter of these
    weights (at least 40) has a clearly smaller index, that one is returned: the far tail counts, and a few matches of
    a nearly deterministic target above a body of small weights are not a heavy tail.
    """
    positive = largest[largest > 0]
    count = min(int(min(n / 5, 3 * math.sqrt(n))), len(positive) - 1)
    if count < 20:
        return None
    whole, far = _index(positive, count), _index(positive, min(max(count // 4, 40), count))
    return far if far < whole - _CLEARLY else whole


def _index(positive: Floats, count: int) -> float:
    """Index of the `count` largest of descending weights."""
    count = min(count, len(positive) - 1)
    excess = np.sort(positive[:count] - positive[count])
    excess = excess[excess > 1e-9 * positive[count]]  # smaller excesses are rounding errors, whose tail may look heavy
    if len(excess) < 20:
        return -math.inf  # the largest weights are all equal: bounded
    return pareto_law(excess)[0]


def pareto_law(excess: Floats) -> tuple[float, float, float]:
    """Index and scale of a generalised Pareto law, from ascending excesses over a threshold.

    Zhang and Stephens' posterior mean over a grid of inverse scales. The first number is the index with a weak prior,
    the second without, which the scale belongs to.
    """
    n = len(excess)
    grid = 30 + int(math.sqrt(n))
    quartile = excess[int(n / 4 + 0.5) - 1]
    theta = 1 / excess[-1] + (1 - np.sqrt(grid / (np.arange(1, grid + 1) - 0.5))) / (3 * quartile)
    theta = theta[theta != 0]  # the exponential distribution, for which the formulas below divide by zero
    shape = np.log1p(-theta[:, None] * excess).mean(axis=1)
    profile = n * (np.log(-theta / shape) - shape - 1)
    posterior = np.exp(profile - profile.max())
    best = float((theta * posterior).sum() / posterior.sum())
    index = float(np.log1p(-best * excess).mean())
    return (n * index + 5) / (n + 10), index, -index / best  # ten rows' worth of prior at k = 0.5


def odd_weights(mean: Interval, hidden: float) -> float:
    """`Interval.deviation` of a mean weight from its expectation 1; 0 if unseen weights may explain what is missing.

    Weights are never negative, and rare large ones carry a share of their expectation: a log that happens to have none
    of them has a mean weight that is too low by up to `hidden`, and a standard error that does not show it. So
    a mean below 1 is compared with 1 - hidden, and one above 1 with 1.
    """
    if mean.value >= 1:
        return mean.deviation(1.0)
    return mean.deviation(1 - hidden) if mean.value < 1 - hidden else 0.0


def unseen(share: float, index: float | None) -> float:
    """The expected weight in the tail beyond the largest of n weights, estimated from these weights.

    share: of the largest weight in their sum. index: of their Pareto tail, None if they are too few. In a
    Pareto tail one weight in n lies beyond the largest, on average, and these have the mean largest / (1 - index). From
    an index of .5 on no mean is called too low: its error cannot be learnt from the log.
    """
    if index is None:
        return share
    return share / (1 - index) if index < INFINITE_VARIANCE else math.inf
