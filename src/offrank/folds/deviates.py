"""Deviates of studentised means: of a few clusters, and of skewed rows."""

from __future__ import annotations

import math


def transformed(away: float, skewness: float) -> float:
    """Nearly standard normal, for a mean that is `away` standard errors off, both estimated, and so skewed itself.

    Hall (1992, "On the removal of skewness by transformation"): with T standard errors and c = skewness / 3,
    ((1 + c T)^3 - 1) / (3 c) + c / 2. The mean of n rows of skewness s has the skewness s / sqrt(n).
    """
    c = skewness / 3
    return away + c * away**2 + c**2 * away**3 / 3 + c / 2


def untransformed(deviate: float, skewness: float) -> float:
    """The standard errors that `transformed` takes to this deviate."""
    c = skewness / 3
    if abs(c) < 1e-6:
        return deviate - c * deviate**2 - c / 2
    return (math.cbrt(1 + 3 * c * (deviate - c / 2)) - 1) / c


def deviation(away: float, skewness: float, freedom: float) -> float:
    """The two-sided deviate of a normal law that is as rare as a mean `away` standard errors off, with a sign, is.

    Skewness only ever makes it less: what a sample shows of it is not enough to call something rarer.
    """
    sign = math.copysign(1.0, away)
    found = min(abs(away), max(sign * transformed(away, skewness), 0.0))
    return found if freedom == math.inf else _of_student(found, freedom)


def _of_student(away: float, freedom: float) -> float:
    """The standard normal deviate with the tail of Student's `away`."""
    from scipy.special import ndtri, stdtr

    tail = float(stdtr(freedom, -away))
    return -float(ndtri(tail)) if tail > 0 else away
