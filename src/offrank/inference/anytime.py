"""Intervals that hold at every look at a log that grows, however many looks there are."""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

from ..sums.estimate import Interval
from .kinds import studentised
from .registry import Sampling, interval

LONGEST = 1000.0
"""Rows of the last look over those of the first one that the level holds for: three years of days."""
_NORMAL = NormalDist()


@lru_cache
def level_of_each(confidence: float) -> float:
    """The level of one interval by which all of them, from a first look to LONGEST times its rows, hold together.

    A mean over its standard error moves like W(t) / sqrt(t) as rows are added, with W a Brownian motion. It leaves the
    band of +-b somewhere between m and M rows with a probability of (b - 1 / b) f(b) log(M / m) + 4 f(b) / b, where f
    is the normal density (Siegmund 1985; the better, the larger b). b solves that for 1 - `confidence`.
    """
    least, most = 1.0, 40.0
    for _ in range(60):
        middle = (least + most) / 2
        crossed = (middle - 1 / middle) * math.log(LONGEST) + 4 / middle
        least, most = (least, middle) if crossed * _NORMAL.pdf(middle) < 1 - confidence else (middle, most)
    return math.erf(most / math.sqrt(2))


@interval("anytime", level=level_of_each)
def anytime(of: Sampling) -> Interval:
    """The studentised interval, at the level by which it may be looked at every day, or after every row.

    Its width is 1.63 times that of one look at 95 %. A confidence sequence for logs of any length, by a mixture, would
    have 1.55 to 1.96 times over the same range, depending on when it is told to be narrowest.
    """
    return studentised(of)
