"""Estimates as smooth functions of column sums, usually ratios of two.

A plain mean is the ratio of sum(v / inclusion) to sum(1 / inclusion), a self-normalised one that to sum(w / inclusion).
Its error follows from the influence of each row, (numerator - ratio * denominator) / mean(denominator) for a ratio,
without any further 1/sqrt(n): the delta method.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from ..folds.moments import Moments
from ..folds.sums import Products
from ..log.batch import Floats


class Mean(Protocol):
    """A smooth function of column sums, such as a ratio of two."""

    @property
    def denominator(self) -> int:
        """The column of the denominator, which gives the weight of a cluster."""

    def value(self, sums: Floats) -> Floats:
        """The value of the function for sums [..., d]."""

    def influence(self, moments: Moments) -> Floats:
        """[d] coefficients of a row's influence on it."""


@dataclass(frozen=True)
class Ratio:
    """Sum of column `numerator` over sum of column `denominator`.

    drawn: columns that stand in the place of `numerator` in draws from the posterior of a model.
    """

    numerator: int
    denominator: int
    drawn: tuple[int, ...] = ()

    def value(self, sums: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(sums[..., self.numerator] / sums[..., self.denominator])

    def influence(self, moments: Moments) -> Floats:
        mean = moments.mean[self.denominator]
        coefficients = np.zeros(len(moments.mean))
        with np.errstate(over="ignore"):  # infinite for the smallest of all numbers, whose error is not known
            coefficients[self.numerator] += 1 / mean
            coefficients[self.denominator] -= float(self.value(moments.sums)) / mean
        return coefficients


@dataclass(frozen=True)
class Combination:
    """A sum of means, each times its coefficient; coefficients count as fixed."""

    parts: tuple[tuple[Mean, float], ...]

    @property
    def denominator(self) -> int:
        return self.parts[0][0].denominator

    def value(self, sums: Floats) -> Floats:
        return np.asarray(sum(share * mean.value(sums) for mean, share in self.parts))

    def influence(self, moments: Moments) -> Floats:
        return np.asarray(sum(share * mean.influence(moments) for mean, share in self.parts))


@dataclass(frozen=True)
class RelativeChange:
    """mean / base - 1 on the same rows."""

    mean: Mean
    base: Mean

    @property
    def denominator(self) -> int:
        return self.mean.denominator

    def value(self, sums: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.mean.value(sums) / self.base.value(sums) - 1)

    def influence(self, moments: Moments) -> Floats:
        mean, base = (float(one.value(moments.sums)) for one in (self.mean, self.base))
        return (self.mean.influence(moments) - mean / base * self.base.influence(moments)) / base


@dataclass(frozen=True)
class BySlot:
    """Sum over slots b of (sum of value_b / sum of weight_b) x (sum of number_b / sum of `denominator`).

    The fields are columns. number_b counts the slots of a row that are in block b, so the second factor is the share
    of impressions with such a slot. A slot whose weights are all zero adds nothing.
    """

    values: tuple[int, ...]
    weights: tuple[int, ...]
    numbers: tuple[int, ...]
    denominator: int

    def value(self, sums: Floats) -> Floats:
        value, weight, number = (sums[..., list(columns)] for columns in (self.values, self.weights, self.numbers))
        each = np.divide(value * number, weight, out=np.zeros_like(value), where=weight > 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(each.sum(axis=-1) / sums[..., self.denominator])

    def influence(self, moments: Moments) -> Floats:
        mean, coefficients = moments.mean, np.zeros(len(moments.mean))
        rows = mean[self.denominator]
        for value, weight, number in zip(self.values, self.weights, self.numbers, strict=True):
            if mean[weight] > 0:
                rate = mean[value] / mean[weight]
                coefficients[value] += mean[number] / mean[weight] / rows
                coefficients[weight] -= rate * mean[number] / mean[weight] / rows
                coefficients[number] += rate / rows
        coefficients[self.denominator] -= float(self.value(moments.sums)) / rows
        return coefficients


@dataclass(frozen=True)
class ControlExcess:
    """How far the weighted mean of a control is from its plain mean: 0 but for chance, as weights have expectation 1.

    The fields are columns: the control times the weight, the weight, the control, the denominator of the weighted
    mean, and the rows. The control counts from its plain mean, so that no constant in it has a say.
    """

    weighed: int
    weight: int
    control: int
    denominator: int
    rows: int

    def value(self, sums: Floats) -> Floats:
        """The value of the function for sums [..., d]."""
        with np.errstate(divide="ignore", invalid="ignore"):
            plain = sums[..., self.control] / sums[..., self.rows]
            away = sums[..., self.weighed] - plain * sums[..., self.weight]
            return np.asarray(away / sums[..., self.denominator])

    def influence(self, moments: Moments) -> Floats:
        """[d] coefficients of a row's influence on it."""
        mean, coefficients = moments.mean, np.zeros(len(moments.mean))
        plain, share = (mean[column] / mean[self.rows] for column in (self.control, self.weight))
        coefficients[self.weighed] += 1
        coefficients[self.weight] -= plain
        coefficients[self.control] -= share
        coefficients[self.rows] += plain * share
        coefficients[self.denominator] -= float(self.value(moments.sums))
        return np.asarray(coefficients / mean[self.denominator])


@dataclass(frozen=True)
class Adjusted:
    """A mean less `slope` times the excess of a control (CUPED): what chance alone gave it is taken away.

    The slope counts as fixed, and the mean keeps its expectation for any slope.
    """

    mean: Mean
    excess: ControlExcess
    slope: float

    @property
    def denominator(self) -> int:
        return self.mean.denominator

    def value(self, sums: Floats) -> Floats:
        return np.asarray(self.mean.value(sums) - self.slope * self.excess.value(sums))

    def influence(self, moments: Moments) -> Floats:
        return np.asarray(self.mean.influence(moments) - self.slope * self.excess.influence(moments))


@dataclass(frozen=True)
class Controlled:
    """A mean with a control variate: less `slope` times the excess of the mean of column `weight` over 1.

    slope 0 gives the plain mean; a slope equal to the mean gives, to first order, the ratio to `weight`.
    """

    numerator: int
    weight: int
    denominator: int
    slope: float | Floats

    @classmethod
    def best(cls, moments: Moments, numerator: int, weight: int, denominator: int) -> Controlled:
        """The mean with the slope of least variance, cov / var of the two means, estimated from the same rows."""
        left, right = (Ratio(column, denominator).influence(moments) for column in (numerator, weight))
        variance = moments.variation(right)
        slope = float(left @ moments.comoment @ right) / variance if variance else 0.0
        return cls(numerator, weight, denominator, slope)

    @staticmethod
    def products(numerator: int, weight: int, denominator: int) -> Products:
        """The pairs of columns whose products `refitted` needs."""
        outer = ((numerator, weight), (weight, weight), (numerator, denominator), (weight, denominator))
        return (*outer, (denominator, denominator))

    def refitted(self, sums: Floats, products: Products) -> Controlled:
        """The mean with the slope of least variance in each sample, from sums [..., d + p] of columns and products."""
        first = sums.shape[-1] - len(products)
        asked = self.products(self.numerator, self.weight, self.denominator)
        vw, ww, vc, wc, cc = (sums[..., first + products.index(pair)] for pair in asked)
        v, w = (ratio.value(sums) for ratio in self._ratios)
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = (vw - v * wc - w * vc + v * w * cc) / (ww - 2 * w * wc + w**2 * cc)
        return replace(self, slope=np.where(np.isfinite(slope), slope, 0.0))

    def value(self, sums: Floats) -> Floats:
        plain, weight = (ratio.value(sums) for ratio in self._ratios)
        return np.asarray(plain - self.slope * (weight - 1))

    def influence(self, moments: Moments) -> Floats:
        plain, weight = (ratio.influence(moments) for ratio in self._ratios)
        return plain - self.slope * weight  # the slope is treated as fixed

    @property
    def _ratios(self) -> tuple[Ratio, Ratio]:
        return Ratio(self.numerator, self.denominator), Ratio(self.weight, self.denominator)


def paired_draws(*means: Mean) -> list[tuple[Mean, ...]]:
    """Each mean by the first draw from the posterior of the model that it relies on, by the second, and so on.

    A mean without a model stays as it is; empty where none has one.
    """
    every = [_draws(mean) for mean in means]
    some = range(min((len(draws) for draws in every if draws), default=0))
    return [tuple(draws[at] if draws else mean for mean, draws in zip(means, every, strict=True)) for at in some]


def refitted(mean: Mean, sums: Floats, products: Products) -> Mean:
    """The mean with its slope of least variance in each sample, if it has one: see `Controlled.refitted`."""
    if isinstance(mean, Adjusted):
        return replace(mean, mean=refitted(mean.mean, sums, products))
    return mean.refitted(sums, products) if isinstance(mean, Controlled) else mean


def _draws(mean: Mean) -> Sequence[Mean]:
    if isinstance(mean, Adjusted):
        return [replace(mean, mean=one) for one in _draws(mean.mean)]
    if isinstance(mean, RelativeChange):
        return [RelativeChange(*both) for both in paired_draws(mean.mean, mean.base)]
    return [Ratio(column, mean.denominator) for column in mean.drawn] if isinstance(mean, Ratio) else []
