"""The registry of interval kinds, which register themselves: ours in `kinds.py`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..language.registry import Registry
from ..log.batch import Floats
from ..sums.estimate import Interval


@dataclass(frozen=True)
class Side:
    """Standard error and skewness of a number towards one end of its interval."""

    error: float
    skewness: float


@dataclass(frozen=True)
class Sampling:
    """The sampling distribution of a number, as far as it is estimated.

    - n: rows. error: its standard error; freedom: the degrees of freedom of that. skewness: of the number.
    - quantile: for `confidence`, in standard errors: normal, or Student's with few clusters.
    - span: a bound on the range of a row's influence.
    - draws: [b] the number in replicates of the log, whose spread is too small by the factor `stretch`; none if no kind
      needs replicates.
    - lower, upper: error and skewness towards either end, with what the log is too short to show.
    """

    value: float
    error: float
    n: int
    confidence: float
    quantile: float
    freedom: float
    skewness: float
    span: float
    lower: Side
    upper: Side
    draws: Floats | None = None
    stretch: float = 1.0

    def interval(self, low: float, high: float, error: float | None = None) -> Interval:
        """The interval with these ends; error: if it is not the standard error of the delta method."""
        return Interval(self.value, low, high, self.error if error is None else error, self.freedom, self.skewness)


Make = Callable[[Sampling], Interval]


@dataclass(frozen=True)
class IntervalKind:
    """One kind of interval. clusters: it supports dependent rows; replicates: it needs a bootstrap.

    level: of the interval at one look, from the level that is asked for.
    """

    make: Make
    clusters: bool = True
    replicates: bool = False
    level: Callable[[float], float] = float


INTERVALS: Registry[IntervalKind] = Registry(str(__package__), "kind of interval")
"""The kinds of intervals by name."""


def interval(name: str, **known: Any) -> Callable[[Make], Make]:
    """Register a function as the kind of interval called `name`. known: the other fields of `IntervalKind`."""

    def registered(make: Make) -> Make:
        INTERVALS.add(name, IntervalKind(make, **known), make)
        return make

    return registered
