"""The moments of named columns: from them follow the values of means, their variances and their skewness."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
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
    """n rows of named columns: what was summed of them, by name."""

    columns: Columns
    moments: Moments

    @classmethod
    def of(cls, names: tuple[Name, ...], moments: Moments) -> Sums:
        """The sums of columns of which none is in blocks."""
        return cls(Columns(names), moments)

    @property
    def n(self) -> int:
        """The number of rows."""
        return self.moments.n

    @cached_property
    def total(self) -> Named:
        """The sum of each column."""
        return self.columns.named(self.moments.sums)

    @cached_property
    def squares(self) -> Named:
        """The sum of the squares of each column."""
        return self.columns.named(self.moments.squares)

    @cached_property
    def least(self) -> Named:
        """The least value of each column."""
        return self.columns.named(self.moments.least)

    @cached_property
    def largest(self) -> Named:
        """The largest value of each column."""
        return self.columns.named(self.moments.largest)

    def cubes(self, name: Name) -> float:
        """The sum of the cubes of a column; nan if it is not known."""
        place = self.columns.place(name)
        assert isinstance(place, int)
        return self.moments.cubes(place)

    def value(self, mean: Mean) -> float:
        """The value of a mean."""
        return float(self.values(mean.of, self.moments.sums))

    def values(self, function: Function, sums: Floats) -> Floats:
        """The values [...] of a function for sums [..., d], or more columns after them."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(function(self.columns.named(sums[..., : len(self.moments.mean)])))

    def influence(self, mean: Mean) -> Floats:
        """[d] coefficients of a row's influence on a mean: the derivatives by the columns' means, by a complex step.

        A mean is the same function of means as of sums.
        """
        means, found = self.moments.mean, np.zeros(len(self.moments.mean))
        read = _Read(self.columns.named(means))
        with np.errstate(all="ignore"):
            mean.of(read)
            at = self.columns.numbers(read.names, len(means))
            scale = np.abs(means[at])
            step = _STEP * np.where(scale > 0, scale, scale.max(initial=0.0) or 1.0)
            stepped: Any = np.tile(means.astype(np.complex128), (len(at), 1))
            stepped[np.arange(len(at)), at] += 1j * step
            found[at] = np.imag(np.zeros(len(at)) + mean.of(self.columns.named(stepped))) / step
        return found

    def of_columns(self, names: tuple[Name, ...]) -> Moments:
        """The moments of some columns, in this order."""
        return self.moments.of(tuple(self.columns.numbers(names, len(self.moments.mean)).tolist()))

    def combined(self, coefficients: Mapping[Name, float]) -> tuple[float, float]:
        """The sum of a combination of columns, and the sum of its squares."""
        coefficient = self.combination(coefficients)
        total = self.n * float((coefficient * self.moments.mean).sum())
        return total, self.variation(coefficient) + total**2 / self.n

    def combination(self, coefficients: Mapping[Name, float]) -> Floats:
        """[d] coefficients of a combination of columns, by name."""
        found = np.zeros(len(self.moments.mean))
        for name, each in coefficients.items():
            found[self.columns.place(name)] = each
        return found

    def best_slope(self, value: Name, weight: Name, rows: Name) -> float:
        """The slope of a control variate by which its mean has the least variance: cov / var of the two means."""
        left, right = (self.influence(ratio(column, rows)) for column in (value, weight))
        variance = self.variation(right)
        covariance = float((left[:, None] * self.moments.comoment * right).sum())
        return covariance / variance if variance else 0.0

    def variation(self, influence: Floats) -> float:
        """The sum of the squares about their mean of rows with this influence; 0 if it is rounding error."""
        return self.moments.variation(influence)


class _Read:
    """Sums that note which of them are read."""

    def __init__(self, sums: Named) -> None:
        self.sums, self.names = sums, dict[Name, None]()

    def __getitem__(self, name: Name) -> Floats:
        self.names[name] = None
        return self.sums[name]
