"""A number and its interval with the help of another estimate of it, whose bias nobody knows.

The other estimate, less its regression on the number, is independent of it: so it may say at which end of the interval
more of the error is allowed, and the interval holds exactly as often as before, whatever the bias (Puza and O'Neill
2006; Yu and Hoff 2018). Where both agree it is up to 8 % shorter, where they differ up to 7 % longer, and from FAR
standard errors of their contrast on it is the number's own. No such interval is shorter everywhere (Low 1997). The
value moves towards the other one by at most MOVED standard errors, so that it is hardly worse where that one is wrong
(Armstrong, Kline and Sun 2023). What both may do for any bias: benchmarks/exact.py uncertain-prior.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from ..sums.estimate import Interval, student

UNEQUAL = 0.25
"""The most by which the share of the error at one end differs from a half."""
ABRUPT = 0.5
"""Over what distance the shares change: that many variances of the independent estimate."""
FLAT, FAR = 6.0, 8.0
"""Standard errors of the contrast from which both ends have a half again, and from which nothing is left."""
MOVED = 0.3
"""How far the value moves at most, in standard errors of the number."""
_SAME = 1e-6
"""Of a standard error: two estimates that differ by less are the same."""


@dataclass(frozen=True)
class Leaning:
    """share: of the other estimate in the value, at most 1: none lies beyond it.

    below, above: what the half-lengths of the interval are times.
    """

    share: float = 0.0
    below: float = 1.0
    above: float = 1.0

    def interval(self, own: Interval, value: float) -> Interval:
        """The interval of a number, around this value. Its standard error has the same ratio to its length."""
        low, high = own.value - self.below * (own.value - own.low), own.value + self.above * (own.high - own.value)
        wider = (high - low) / (own.high - own.low) if own.low < own.high else 1.0
        return Interval(value, low, high, wider * own.standard_error, own.freedom, own.skewness)


def leaning(own: Interval, other: Interval, contrast: Interval, confidence: float) -> Leaning:
    """How far a number leans on another estimate; not at all on one whose interval is no shorter.

    contrast: the other one less the number, on the same rows. confidence: the level of the intervals.
    """
    one, two, between = (found.standard_error for found in (own, other, contrast))
    if not (_SAME * one < between < math.inf and one < math.inf and other.high - other.low < own.high - own.low):
        return Leaning()
    rho = min((one**2 + between**2 - two**2) / (2 * one * between), 1.0)  # of the number and less the contrast
    t = contrast.value / between
    if rho <= 0 or abs(t) >= FAR:
        return Leaning()
    moved = min(1.0, MOVED / abs(t) if t else 1.0) * (1 - (t / FAR) ** 2)
    below, above = (_end(sign * t / rho, _shares(rho), confidence, own.freedom) for sign in (1, -1))
    return Leaning(min(rho * one / between * moved, 1.0), below, above)


def _shares(rho: float) -> Callable[[float], float]:
    """The share of the error beyond an end, by how far that is beyond the independent estimate, in standard errors."""
    width = ABRUPT * (1 / rho**2 - 1)

    def share(distance: float) -> float:
        steep = math.tanh(distance / width) if width > 0 else math.copysign(1.0, distance)
        return 0.5 + UNEQUAL * steep * max(1 - (distance * rho / FLAT) ** 4, 0.0)

    return share


def _end(away: float, share: Callable[[float], float], confidence: float, freedom: float) -> float:
    """What the half-length is times. away: how far the number is from the independent estimate towards this end."""
    least, most = (student(1 - (1 - confidence) * part, freedom) for part in (0.5 + UNEQUAL, 0.5 - UNEQUAL))
    for _ in range(50):
        half = (least + most) / 2
        beyond = share(half + away)
        if half < student(1 - (1 - confidence) * beyond, freedom):
            least = half
        else:
            most = half
    return half / student(0.5 + confidence / 2, freedom)
