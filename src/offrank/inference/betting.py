"""How unlikely it is that weights of expectation 1 have a mean above 1, for any number of rows."""

from __future__ import annotations

import math

import numpy as np

STAKES = 0.9 * 2.0 ** -(np.arange(21) / 2)
"""Shares that are bet: the best one is about (mean - 1) / E[(weight - 1)^2], from .0009 on."""


def chance_above(total: float, squares: float) -> float:
    """A bound of the probability of such a sum of independent terms, each of expectation 0 and at least -1.

    For a stake 0 <= b < 1 and x >= -1, exp(b x + (log(1 - b) + b) x^2) <= 1 + b x (Fan, Grama and Liu 2015), whose
    expectation is at most 1. So is that of the product over all terms, and of its mean over the stakes: that it is t or
    more has a probability of at most 1 / t (Markov). total, squares: the sums of x and of x^2.
    """
    gains = STAKES * total + (np.log1p(-STAKES) + STAKES) * squares
    most = float(gains.max())
    return min(math.exp(-most) / float(np.exp(gains - most).mean()), 1.0) if most > 0 else 1.0
