"""Ratios of sums and their confidence intervals, from mergeable states.

Every estimate is a ratio: of sum(v / inclusion) to sum(1 / inclusion) for a plain mean, to
sum(w / inclusion) for a self-normalised one. Its error follows from the influence of each row,
(numerator - ratio * denominator) / mean(denominator), without any further 1/sqrt(n).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Literal, Protocol

import numpy as np

from ..log.batch import Floats
from .base import Products
from .clusters import Clusters
from .estimate import Interval
from .moments import Moments

Method = Literal["normal", "bootstrap", "bernstein"]
METHODS: tuple[Method, ...] = ("normal", "bootstrap", "bernstein")


@dataclass(frozen=True)
class Ratio:
    """Sum of column `numerator` over sum of column `denominator`."""

    numerator: int
    denominator: int

    def value(self, sums: Floats) -> Floats:
        """The ratio, for sums [..., d]."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(sums[..., self.numerator] / sums[..., self.denominator])

    def influence(self, moments: Moments) -> Floats:
        """[d] coefficients of a row's influence on the ratio."""
        mean = moments.mean[self.denominator]
        coefficients = np.zeros(len(moments.mean))
        coefficients[self.numerator] += 1 / mean
        coefficients[self.denominator] -= float(self.value(moments.sums)) / mean
        return coefficients


@dataclass(frozen=True)
class Controlled:
    """A mean less `slope` times what another mean, of column `weight`, exceeds its expectation 1 by.

    slope 0 is the plain mean, the mean's own value to first order the ratio to `weight`.
    """

    numerator: int
    weight: int
    denominator: int
    slope: float | Floats

    @classmethod
    def best(cls, moments: Moments, numerator: int, weight: int, denominator: int) -> Controlled:
        """With the slope of least variance, cov / var of the two means, taken from the same rows."""
        left = Ratio(numerator, denominator).influence(moments)
        right = Ratio(weight, denominator).influence(moments)
        spread = float(right @ moments.comoment @ right)
        return cls(numerator, weight, denominator, float(left @ moments.comoment @ right) / spread if spread else 0.0)

    @staticmethod
    def products(numerator: int, weight: int, denominator: int) -> Products:
        """The pairs of columns whose products `refitted` asks for."""
        outer = ((numerator, weight), (weight, weight), (numerator, denominator), (weight, denominator))
        return (*outer, (denominator, denominator))

    def refitted(self, sums: Floats, products: Products) -> Controlled:
        """With the slope of least variance in each of several samples: sums [..., d + p] of columns and products."""
        first = sums.shape[-1] - len(products)
        asked = self.products(self.numerator, self.weight, self.denominator)
        vw, ww, vc, wc, cc = (sums[..., first + products.index(pair)] for pair in asked)
        v, w = (Ratio(column, self.denominator).value(sums) for column in (self.numerator, self.weight))
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = (vw - v * wc - w * vc + v * w * cc) / (ww - 2 * w * wc + w**2 * cc)
        return replace(self, slope=np.where(np.isfinite(slope), slope, 0.0))

    def value(self, sums: Floats) -> Floats:
        """The controlled mean, for sums [..., d]."""
        plain, weight = (Ratio(column, self.denominator).value(sums) for column in (self.numerator, self.weight))
        return np.asarray(plain - self.slope * (weight - 1))

    def influence(self, moments: Moments) -> Floats:
        """[d] coefficients of a row's influence, the slope taken as given."""
        plain, weight = (Ratio(column, self.denominator) for column in (self.numerator, self.weight))
        return plain.influence(moments) - self.slope * weight.influence(moments)


class Mean(Protocol):
    """A smooth function of column sums, such as a ratio of two."""

    @property
    def denominator(self) -> int:
        """The column whose sum it is a mean over: how much a cluster can weigh in it."""

    def value(self, sums: Floats) -> Floats:
        """The function, for sums [..., d]."""

    def influence(self, moments: Moments) -> Floats:
        """[d] coefficients of a row's influence on it: the delta method."""


Signed = tuple[tuple[Mean, float], ...]
"""A sum of means, each with its sign."""


@dataclass(frozen=True)
class Spread:
    """All that intervals are made from.

    clusters: sums of dependent rows, by one column or several, of which each mean takes the one that makes it most
    uncertain. replicates: [b, d + p] sums of a bootstrap of rows, of the columns and of `products` of them. apart:
    clusters that were found and not used, for which rows count as independent. chosen: that nobody named the
    clusters: where one of them holds all that counts, rows are taken as independent.
    """

    moments: Moments
    method: Method
    confidence: float
    clusters: tuple[Clusters, ...] = ()
    replicates: Floats | None = None
    products: Products = ()
    apart: tuple[Clusters, ...] = ()
    chosen: bool = False

    def ratio(self, ratio: Mean) -> Interval:
        """A ratio, or a controlled mean, with its interval."""
        return self._interval(float(ratio.value(self.moments.sums)), ((ratio, 1.0),))

    def difference(self, left: Mean, right: Mean) -> Interval:
        """left - right on the same rows: their covariance is taken into account."""
        sums = self.moments.sums
        one, other = float(left.value(sums)), float(right.value(sums))
        value = one - other if abs(one - other) > 1e-12 * abs(one) else 0.0  # else it is rounding
        return self._interval(value, ((left, 1.0), (right, -1.0)))

    def clustered(self, mean: Mean) -> Clusters | None:
        """The clusters whose rows are taken as dependent in this mean."""
        return _widest(self.clusters, ((mean, 1.0),))[1]

    def passed_over(self, mean: Mean) -> Clusters | None:
        """Of the clusters that are not used those that would matter most."""
        return _widest(self.apart, ((mean, 1.0),))[1]

    def design_effect(self, mean: Mean, clusters: Clusters | None) -> float | None:
        """Variance by clusters over that of independent rows (Kish): how many times more rows an interval needs."""
        alone = self._independent_error(mean.influence(self.moments))
        if clusters is None or not 0 < alone < math.inf:
            return None
        together = clusters.jackknife(mean.value)
        return (together / alone) ** 2 if together < math.inf else None

    def _interval(self, value: float, terms: Signed) -> Interval:
        influence = np.asarray(sum(sign * mean.influence(self.moments) for mean, sign in terms))
        error, clusters = _widest(self.clusters, terms)
        freedom, plain, replicates = math.inf, error, self.replicates
        if clusters is not None:
            freedom = min(clusters.freedom(mean.denominator) for mean, _ in terms)
            plain, replicates = clusters.linear_error(influence), clusters.replicates
        if clusters is None or (self.chosen and (error == math.inf or freedom == 0)):
            error = plain = self._independent_error(influence)
            freedom, replicates = math.inf, self.replicates
        if error == math.inf or freedom == 0:
            return Interval(value, -math.inf, math.inf, math.inf)
        quantile, normal = _student(0.5 + self.confidence / 2, freedom), _student(0.5 + self.confidence / 2, math.inf)
        if self.method == "bootstrap" and replicates is not None:
            stretch = error / plain if plain > 0 else 1.0
            draws = self._draws(replicates, terms)
            return _of_draws(value, draws, self.confidence, stretch, quantile / normal, freedom)
        half = self._bernstein(error, terms) if self.method == "bernstein" else quantile * error
        return Interval(value, value - half, value + half, error, freedom)

    def _independent_error(self, influence: Floats) -> float:
        n = self.moments.n
        if n < 2:
            return math.inf  # one row does not say how much others would differ
        return math.sqrt(max(float(influence @ self.moments.comoment @ influence) / (n * (n - 1)), 0.0))

    def _draws(self, sums: Floats, terms: Signed) -> Floats:
        """[b] the value in each replicate, what is learnt from the log learnt anew."""
        anew = [
            mean.refitted(sums, self.products) if isinstance(mean, Controlled) and self.products else mean
            for mean, _ in terms
        ]
        return _added(terms, [mean.value(sums) for mean in anew])

    def _bernstein(self, error: float, terms: Signed) -> float:
        """Maurer and Pontil (2009), two-sided, with the range that was observed."""
        n = self.moments.n
        log_term = math.log(4 / (1 - self.confidence))
        span = sum(abs(sign) * _span(mean, self.moments) for mean, sign in terms)
        return math.sqrt(2 * log_term) * error + 7 * span * log_term / (3 * max(n - 1, 1))


def _widest(every: tuple[Clusters, ...], terms: Signed) -> tuple[float, Clusters | None]:
    """The greatest standard error by clusters, if possible a finite one, and its clusters."""

    def error(one: Clusters) -> float:
        return one.jackknife(lambda sums: _added(terms, [mean.value(sums) for mean, _ in terms]))

    found = [(error(one), one) for one in every]
    if not found:
        return math.inf, None
    finite = [pair for pair in found if pair[0] < math.inf]
    return max(finite or found, key=lambda pair: pair[0])


def _added(terms: Signed, values: list[Floats]) -> Floats:
    return np.asarray(sum(sign * value for (_, sign), value in zip(terms, values, strict=True)))


def _span(mean: Mean, moments: Moments) -> float:
    """A bound on the range of a row's influence, from the observed extremes of its columns."""
    ranges = moments.largest - moments.least
    return float(np.abs(mean.influence(moments)) @ np.where(np.isfinite(ranges), ranges, 0.0))


def _of_draws(
    value: float, draws: Floats, confidence: float, stretch: float, heavier: float, freedom: float
) -> Interval:
    """The percentile interval of the replicates, which are too close to the value by these two factors.

    stretch: of the standard error; heavier: of Student's quantile over the normal one. Both are 1 for independent
    rows; of few clusters, or unlike ones, resampling shows too little (Hesterberg 2015 widens by the same factors).
    """
    draws = draws[np.isfinite(draws)]  # where few rows have weight, a replicate may hold none of them
    if len(draws) < 2:
        return Interval(value, -math.inf, math.inf, math.inf)
    tail = (1 - confidence) / 2
    # Weibull's plotting positions: with B draws the interval covers like one of B + 1 exchangeable values.
    ends = value + stretch * heavier * (np.quantile(draws, [tail, 1 - tail], method="weibull") - value)
    return Interval(value, float(ends[0]), float(ends[1]), stretch * float(np.std(draws, ddof=1)), freedom)


def _student(level: float, freedom: float) -> float:
    if freedom == math.inf:
        return NormalDist().inv_cdf(level)
    from scipy.special import stdtrit

    return float(stdtrit(freedom, level))
