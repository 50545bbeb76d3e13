"""Sums of named columns: nothing outside this package knows where a column stands.

From the moments of columns follow the values of means, their variances and their skewness.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

from ..log.batch import Floats
from .mean import Function, Mean, Name, ratio
from .moments import Moments

_STEP = 1e-12
"""The imaginary step of a sum, as a share of it: its square is lost beside 1."""


@dataclass(frozen=True)
class NamedColumns:
    """The names of columns that occur once, and of those that occur in each block, such as a rank.

    Blocks come last, so that a longer list adds columns at the end.
    """

    once: tuple[Name, ...]
    in_blocks: tuple[Name, ...] = ()

    def width(self, blocks: int = 0) -> int:
        """How many columns there are with so many blocks."""
        return len(self.once) + blocks * len(self.in_blocks)

    @cached_property
    def places(self) -> dict[Name, int | slice]:
        """Where each column stands; a slice of one in blocks."""
        once: dict[Name, int | slice] = {name: place for place, name in enumerate(self.once)}
        stride = len(self.in_blocks)
        return once | {name: slice(len(once) + at, None, stride) for at, name in enumerate(self.in_blocks)}

    def numbers(self, names: Iterable[Name], width: int | None = None) -> list[int]:
        """The numbers of columns, those of every block among them, in an array of so many columns, by default once."""
        every = np.arange(len(self.once) if width is None else width)
        found: list[int] = np.hstack([every[:0], *(every[self.places[name]] for name in names)]).tolist()
        return found

    def name(self, number: int) -> Name:
        """The name of the column with this number."""
        more = number - len(self.once)
        return self.once[number] if more < 0 else self.in_blocks[more % len(self.in_blocks)]


@dataclass(frozen=True, eq=False)
class ByName:
    """An array [..., d] by name: [...] each, and [..., b] of a column in b blocks. Assignments write to the array.

    products: the same of products of columns.
    """

    columns: NamedColumns
    array: Floats
    products: Mapping[Name, Floats] = field(default_factory=dict)

    def __getitem__(self, name: Name) -> Floats:
        found: Floats = self.products[name] if name in self.products else self.array[..., self.columns.places[name]]
        return found

    def __setitem__(self, name: Name, found: Any) -> None:
        self.array[..., self.columns.places[name]] = found


@dataclass(frozen=True, eq=False)
class Sums:
    """n rows of named columns: the total of each, of its squares, and its least and largest value, by name.

    exact: the total with more digits, where the processor has them.
    """

    columns: NamedColumns
    moments: Moments
    n: int = field(init=False)
    total: ByName = field(init=False)
    exact: ByName = field(init=False)
    squares: ByName = field(init=False)
    least: ByName = field(init=False)
    largest: ByName = field(init=False)

    def __post_init__(self) -> None:
        known, put = self.moments, partial(object.__setattr__, self)
        put("n", known.n)
        put("total", ByName(self.columns, known.n * known.mean))
        exact: Any = known.n * (known.mean.astype(np.longdouble) + known.rest)
        put("exact", ByName(self.columns, exact))
        put("squares", ByName(self.columns, np.diagonal(known.comoment) + known.n * known.mean**2))
        put("least", ByName(self.columns, known.least))
        put("largest", ByName(self.columns, known.largest))

    def cubes(self, name: Name) -> float:
        """The sum of the cubes of a column; nan if it is not known."""
        place = self.columns.places[name]
        assert isinstance(place, int)
        return self.moments.cubes(place)

    def value(self, mean: Mean) -> float:
        """The value of a mean."""
        with np.errstate(all="ignore"):
            return float(mean.of(self.exact))

    def values(self, function: Function, sums: Floats) -> Floats:
        """The values [...] of a function for sums [..., d], or more columns after them."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(function(ByName(self.columns, sums[..., : len(self.moments.mean)])))

    def influence(self, mean: Mean) -> Floats:
        """[d] coefficients of a row's influence on a mean."""
        return self.value_and_influence(mean)[1]

    def value_and_influence(self, mean: Mean) -> tuple[float, Floats]:
        """The value of a mean, and [d] coefficients of a row's influence on it.

        These are the derivatives by the columns' means, by a complex step: a mean is the same function of means as of
        sums.
        """
        means, found = self.moments.mean, np.zeros(len(self.moments.mean))
        at = self.columns.numbers(mean.reads, len(means))
        with np.errstate(all="ignore"):
            value = float(mean.of(self.exact))
            scale = np.abs(means[at])
            step = _STEP * np.where(scale > 0, scale, scale.max(initial=0.0) or 1.0)
            stepped: Any = np.tile(means.astype(np.complex128), (len(at), 1))
            stepped[np.arange(len(at)), at] += 1j * step
            found[at] = np.imag(np.zeros(len(at)) + mean.of(ByName(self.columns, stepped))) / step
        return value, found

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
