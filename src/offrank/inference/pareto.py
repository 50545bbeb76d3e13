"""How heavy a tail is: the Pareto index k-hat of the largest weights."""

from __future__ import annotations

import math

import numpy as np

from ..log.batch import Floats

_CLEARLY = 0.4
"""Some three standard errors of the index of a quarter of a usual tail."""


def tail_index(largest: Floats, n: int) -> float | None:
    """Pareto index of the tail of n weights, from the largest of them; None if too few to say.

    Fits a generalised Pareto law to the largest min(n / 5, 3 sqrt(n)) weights by the profile
    estimate of Zhang and Stephens (2009). Above .5 the variance is infinite, above .7 means of
    feasible size cannot be trusted (Vehtari et al., Pareto smoothed importance sampling), above 1
    even the mean is infinite. A bounded tail gives a negative index. Where the largest quarter of these
    weights (40 at least) has a clearly lesser index, it counts: the index is that of the far tail, and some matches of
    a nearly deterministic target above a body of small weights are no heavy tail.
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
    excess = excess[excess > 1e-9 * positive[count]]  # less is rounding, whose tail may look heavy
    if len(excess) < 20:
        return -math.inf  # the largest weights are all equal: bounded
    return _fit(excess)


def _fit(excess: Floats) -> float:
    """Zhang and Stephens' posterior mean over a grid of inverse scales, with a weak prior on k."""
    n = len(excess)
    grid = 30 + int(math.sqrt(n))
    quartile = excess[int(n / 4 + 0.5) - 1]
    theta = 1 / excess[-1] + (1 - np.sqrt(grid / (np.arange(1, grid + 1) - 0.5))) / (3 * quartile)
    theta = theta[theta != 0]  # the exponential law itself, where the formulas below divide by zero
    shape = np.log1p(-theta[:, None] * excess).mean(axis=1)
    profile = n * (np.log(-theta / shape) - shape - 1)
    posterior = np.exp(profile - profile.max())
    best = float((theta * posterior).sum() / posterior.sum())
    index = float(np.log1p(-best * excess).mean())
    return (n * index + 5) / (n + 10)  # ten rows' worth of prior at k = 0.5
