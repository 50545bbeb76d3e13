"""The registry of interval kinds; each has its own file, which registers it."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist
from typing import Literal

import numpy as np

from ..folds.estimate import Interval
from ..log.batch import Floats


@dataclass(frozen=True)
class Side:
    """Standard error and skewness of a number towards one end of its interval."""

    error: float
    skewness: float


@dataclass(frozen=True)
class Sampling:
    """The sampling distribution of a number, as far as it is estimated.

    - n: rows. error: its standard error; freedom: the degrees of freedom of that. skewness: of the number.
    - span: a bound on the range of a row's influence.
    - draws: [b] the number in replicates of the log, whose spread is too small by the factor `stretch`; none if no kind
      needs replicates.
    - lower, upper: error and skewness towards either end, with what the log is too short to show.
    """

    value: float
    error: float
    n: int
    confidence: float
    freedom: float
    skewness: float
    span: float
    lower: Side
    upper: Side
    draws: Floats | None = None
    stretch: float = 1.0

    @property
    def quantile(self) -> float:
        """The quantile for `confidence`, in standard errors: normal, or Student's with few clusters."""
        return student(0.5 + self.confidence / 2, self.freedom)

    def interval(self, low: float, high: float, error: float | None = None) -> Interval:
        """The interval with these ends; error: if it is not the standard error of the delta method."""
        return Interval(self.value, low, high, self.error if error is None else error, self.freedom, self.skewness)


Method = Literal["bernstein", "bootstrap", "normal", "studentised"]
"""The names of the kinds of intervals, for type checkers; METHODS has the registered ones."""
Make = Callable[[Sampling], Interval]


@dataclass(frozen=True)
class IntervalKind:
    """One kind of interval. clusters: it supports dependent rows; replicates: it needs a bootstrap."""

    make: Make
    clusters: bool = True
    replicates: bool = False


_KINDS: dict[str, IntervalKind] = {}


def interval(name: str, *, clusters: bool = True, replicates: bool = False) -> Callable[[Make], Make]:
    """Register a function as the kind of interval called `name`."""

    def registered(make: Make) -> Make:
        _KINDS[name] = IntervalKind(make, clusters, replicates)
        return make

    return registered


@cache
def kinds() -> Mapping[str, IntervalKind]:
    """All kinds of intervals, by name."""
    package = __name__.rpartition(".")[0]
    for module in pkgutil.iter_modules(importlib.import_module(package).__path__):
        importlib.import_module(f"{package}.{module.name}")
    return dict(sorted(_KINDS.items()))


def student(level: float, freedom: float) -> float:
    """The quantile of Student's distribution, or of the normal one if the degrees of freedom are infinite."""
    if np.isinf(freedom):
        return NormalDist().inv_cdf(level)
    from scipy.special import stdtrit

    return float(stdtrit(freedom, level))
