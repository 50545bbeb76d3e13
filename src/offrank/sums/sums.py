"""The moments of named columns: from them follow the values of means, their variances and their skewness."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from ..folds.moments import Moments
from ..log.batch import Floats
from .columns import Columns, Name, Named
from .mean import Function, Mean, ratio

_STEP = 1e-12
"""The imaginary step of a sum, as a share of it: its square is lost beside 1."""


@dataclass(frozen=True, eq=False)
class Sums:
    """n rows of named columns: the total of each, of its squares, and its least and largest value, by name."""

    columns: Columns
    moments: Moments
    n: int = field(init=False)
    total: Named = field(init=False)
    squares: Named = field(init=False)
    least: Named = field(init=False)
    largest: Named = field(init=False)

    def __post_init__(self) -> None:
        known, put = self.moments, partial(object.__setattr__, self)
        put("n", known.n)
        put("total", Named(self.columns, known.sums))
        put("squares", Named(self.columns, known.squares))
        put("least", Named(self.columns, known.least))
        put("largest", Named(self.columns, known.largest))

    def cubes(self, name: Name) -> float:
        """The sum of the cubes of a column; nan if it is not known."""
        place = self.columns.places[name]
        assert isinstance(place, int)
        return self.moments.cubes(place)

    def value(self, mean: Mean) -> float:
        """The value of a mean."""
        return float(self.values(mean.of, self.moments.sums))

    def values(self, function: Function, sums: Floats) -> Floats:
        """The values [...] of a function for sums [..., d], or more columns after them."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(function(Named(self.columns, sums[..., : len(self.moments.mean)])))

    def influence(self, mean: Mean) -> Floats:
        """[d] coefficients of a row's influence on a mean: the derivatives by the columns' means, by a complex step.

        A mean is the same function of means as of sums.
        """
        means, found = self.moments.mean, np.zeros(len(self.moments.mean))
        at = self.columns.numbers(mean.reads, len(means))
        with np.errstate(all="ignore"):
            scale = np.abs(means[at])
            step = _STEP * np.where(scale > 0, scale, scale.max(initial=0.0) or 1.0)
            stepped: Any = np.tile(means.astype(np.complex128), (len(at), 1))
            stepped[np.arange(len(at)), at] += 1j * step
            found[at] = np.imag(np.zeros(len(at)) + mean.of(Named(self.columns, stepped))) / step
        return found

    def combined(self, coefficients: Mapping[Name, float]) -> tuple[float, float]:
        """The sum of a combination of columns, and the sum of its squares."""
        coefficient = self.combination(coefficients)
        total = self.n * float((coefficient * self.moments.mean).sum())
        return total, self.moments.variation(coefficient) + total**2 / self.n

    def combination(self, coefficients: Mapping[Name, float]) -> Floats:
        """[d] coefficients of a combination of columns, by name."""
        found = np.zeros(len(self.moments.mean))
        for name, each in coefficients.items():
            found[self.columns.places[name]] = each
        return found

    def best_slope(self, value: Name, weight: Name, rows: Name) -> float:
        """The slope of a control variate by which its mean has the least variance: cov / var of the two means."""
        left, right = (self.influence(ratio(column, rows)) for column in (value, weight))
        variance = self.moments.variation(right)
        covariance = float((left[:, None] * self.moments.comoment * right).sum())
        return covariance / variance if variance else 0.0
