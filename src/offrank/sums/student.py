"""Student's distribution. SciPy has it too, but takes longer to load than a small log takes to read.

Where t is sqrt(freedom) * sinh(y), the density of y is proportional to cosh(y) ** -freedom.
"""

from __future__ import annotations

import math
from functools import cache
from statistics import NormalDist

import numpy as np

from ..log.batch import Floats

_NEGLIGIBLE = 40.0
"""A tail is summed up to where the density is smaller by the exponential of this."""
_STEPS = np.arange(-3.3, 3.3, 1 / 14)
"""The steps of the sum by double exponentials (Takahasi and Mori 1974)."""
_PLACES = 1 / (1 + np.exp(-np.pi * np.sinh(_STEPS)))
_WEIGHTS = np.pi / 56 * np.cosh(_STEPS) / np.cosh(np.pi / 2 * np.sinh(_STEPS)) ** 2
"""Where the density is summed between both ends of an interval, from 0 to 1, and the weight of each place."""
_CLOSE = 1e-15
"""The relative step at which the search of a quantile ends."""


def tail(away: Floats, freedom: Floats | float) -> Floats:
    """Return the probability above `away`, which is at least 0."""
    beyond = np.arcsinh(away / np.sqrt(freedom))
    return _beyond(beyond, freedom) / _beyond(np.zeros_like(beyond), freedom) / 2


def student(level: float, freedom: float) -> float:
    """The quantile of Student's distribution, or of the normal one if the degrees of freedom are infinite."""
    normal = NormalDist().inv_cdf(level)
    return normal if math.isinf(freedom) else math.copysign(_distance(2 * min(level, 1 - level), freedom), normal)


@cache
def _distance(both: float, freedom: float) -> float:
    """Return the distance from 0 beyond which both tails together have a probability."""
    at = math.asinh(-NormalDist().inv_cdf(both / 2) / math.sqrt(freedom))
    whole, step = float(_beyond(np.zeros(()), freedom)), math.inf
    while abs(step) > _CLOSE * max(abs(at), 1.0):  # the logarithm of a tail is concave
        left = float(_beyond(np.array(at), freedom))
        step = math.log(left / whole / both) * left * math.exp(freedom * float(_log_cosh(np.array(at))))
        at += step
    return math.sqrt(freedom) * math.sinh(at)


def _beyond(y: Floats, freedom: Floats | float) -> Floats:
    """Return the integral of cosh ** -freedom above each y."""
    y, freedom = y[..., None], np.asarray(freedom, np.float64)[..., None]
    end = _log_cosh(y) + _NEGLIGIBLE / freedom
    width = end + np.log1p(np.sqrt(-np.expm1(-2 * end))) - y
    found: Floats = (np.exp(-freedom * _log_cosh(y + width * _PLACES)) * _WEIGHTS * width).sum(axis=-1)
    return found


def _log_cosh(y: Floats) -> Floats:
    found: Floats = y + np.log1p(np.exp(-2 * y)) - math.log(2)
    return found
