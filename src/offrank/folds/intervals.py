"""Ratios of sums and their confidence intervals, from mergeable states.

Every estimate is a ratio: of sum(v / inclusion) to sum(1 / inclusion) for a plain mean, to
sum(w / inclusion) for a self-normalised one. Its error follows from the influence of each row,
(numerator - ratio * denominator) / mean(denominator), without any further 1/sqrt(n).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal, Protocol

import numpy as np

from ..log.batch import Floats
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
    slope: float

    @classmethod
    def best(cls, moments: Moments, numerator: int, weight: int, denominator: int) -> Controlled:
        """With the slope of least variance, cov / var of the two means, taken from the same rows."""
        left = Ratio(numerator, denominator).influence(moments)
        right = Ratio(weight, denominator).influence(moments)
        spread = float(right @ moments.comoment @ right)
        return cls(numerator, weight, denominator, float(left @ moments.comoment @ right) / spread if spread else 0.0)

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

    def value(self, sums: Floats) -> Floats:
        """The function, for sums [..., d]."""

    def influence(self, moments: Moments) -> Floats:
        """[d] coefficients of a row's influence on it: the delta method."""


@dataclass(frozen=True)
class Spread:
    """All that intervals are made from. buckets: sums of dependent rows; replicates: of a bootstrap."""

    moments: Moments
    method: Method
    confidence: float
    buckets: Floats | None = None
    replicates: Floats | None = None

    def ratio(self, ratio: Mean) -> Interval:
        """A ratio, or a controlled mean, with its interval."""
        value = float(ratio.value(self.moments.sums))
        influence = ratio.influence(self.moments)
        draws = None if self.replicates is None else ratio.value(self.replicates)
        return self._interval(value, influence, draws, [(ratio, 1.0)])

    def difference(self, left: Mean, right: Mean) -> Interval:
        """left - right on the same rows: their covariance is taken into account."""
        sums = self.moments.sums
        one, other = float(left.value(sums)), float(right.value(sums))
        value = one - other if abs(one - other) > 1e-12 * abs(one) else 0.0  # else it is rounding
        influence = left.influence(self.moments) - right.influence(self.moments)
        draws = None
        if self.replicates is not None:
            draws = left.value(self.replicates) - right.value(self.replicates)
        return self._interval(value, influence, draws, [(left, 1.0), (right, -1.0)])

    def clusters(self) -> int:
        """Buckets that hold any row: at most the number of independent clusters."""
        return 0 if self.buckets is None else int((self.buckets[:, -1] > 0).sum())

    def _interval(
        self, value: float, influence: Floats, draws: Floats | None, ratios: list[tuple[Mean, float]]
    ) -> Interval:
        if draws is not None:
            return _of_draws(value, draws, self.confidence)
        error = self._standard_error(influence)
        if self.method == "bernstein":
            half = self._bernstein(error, ratios)
        else:
            half = self._quantile() * error
        return Interval(value, value - half, value + half, error)

    def _standard_error(self, influence: Floats) -> float:
        n, groups = self.moments.n, self.clusters()
        if (n if self.buckets is None else groups) < 2:
            return math.inf  # one row or one cluster does not say how much others would differ
        if self.buckets is None:
            variance = float(influence @ self.moments.comoment @ influence) / (n * (n - 1))
        else:
            sums = self.buckets[:, :-1] @ influence
            variance = groups / (groups - 1) * float(sums @ sums) / n**2
        return math.sqrt(max(variance, 0.0))

    def _quantile(self) -> float:
        level = 0.5 + self.confidence / 2
        if self.buckets is None or self.clusters() > 200:
            return NormalDist().inv_cdf(level)
        return _student(level, max(self.clusters() - 1, 1))

    def _bernstein(self, error: float, ratios: list[tuple[Mean, float]]) -> float:
        """Maurer and Pontil (2009), two-sided, with the range that was observed."""
        n = self.moments.n
        log_term = math.log(4 / (1 - self.confidence))
        span = sum(abs(sign) * _span(ratio, self.moments) for ratio, sign in ratios)
        return math.sqrt(2 * log_term) * error + 7 * span * log_term / (3 * max(n - 1, 1))


def _span(mean: Mean, moments: Moments) -> float:
    """A bound on the range of a row's influence, from the observed extremes of its columns."""
    ranges = moments.largest - moments.least
    return float(np.abs(mean.influence(moments)) @ np.where(np.isfinite(ranges), ranges, 0.0))


def _of_draws(value: float, draws: Floats, confidence: float) -> Interval:
    draws = draws[np.isfinite(draws)]  # where few rows have weight, a replicate may hold none of them
    if len(draws) < 2:
        return Interval(value, -math.inf, math.inf, math.inf)
    tail = (1 - confidence) / 2
    # Weibull's plotting positions: with B draws the interval covers like one of B + 1 exchangeable values.
    low, high = np.quantile(draws, [tail, 1 - tail], method="weibull")
    return Interval(value, float(low), float(high), float(np.std(draws, ddof=1)))


def _student(level: float, freedom: int) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(freedom, level))
