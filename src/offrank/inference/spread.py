"""Intervals of means and of their differences from column sums, for independent rows or clusters."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..folds.clusters import Clusters
from ..folds.estimate import Interval
from ..folds.moments import Moments
from ..folds.sums import Products
from ..log.batch import Floats
from .ratio import Controlled, Mean, paired_draws
from .registry import Method, Sampling, kinds, student

Signed = tuple[tuple[Mean, float], ...]
"""A sum of means, each with its sign."""


@dataclass(frozen=True)
class Inference:
    """The column sums from which intervals are computed.

    clusters: sums of dependent rows, by one column or several, of which each mean takes the one with its largest
    error. replicates: [b, d + p] sums of a bootstrap of rows, of the columns and of `products` of them. dropped:
    clusters that were found but not used, for which rows count as independent. chosen: whether the clusters were chosen
    automatically: then rows are independent where a single cluster carries all the weight.
    """

    moments: Moments
    method: Method
    confidence: float
    clusters: tuple[Clusters, ...] = ()
    replicates: Floats | None = None
    products: Products = ()
    dropped: tuple[Clusters, ...] = ()
    chosen: bool = False

    def ratio(self, ratio: Mean) -> Interval:
        """The interval of a ratio or a controlled mean."""
        return self._interval(float(ratio.value(self.moments.sums)), ((ratio, 1.0),))

    def difference(self, left: Mean, right: Mean) -> Interval:
        """The interval of the paired difference left - right on the same rows."""
        sums = self.moments.sums
        one, other = float(left.value(sums)), float(right.value(sums))
        value = one - other if abs(one - other) > 1e-12 * abs(one) else 0.0  # else it is a rounding error
        return self._interval(value, ((left, 1.0), (right, -1.0)))

    def clustered(self, mean: Mean) -> Clusters | None:
        """The clusters whose rows count as dependent in this mean."""
        return _widest(self.clusters, ((mean, 1.0),))[1]

    def passed_over(self, mean: Mean) -> Clusters | None:
        """The unused clusters that would matter most."""
        return _widest(self.dropped, ((mean, 1.0),))[1]

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
        if clusters is not None:
            freedom = min(clusters.freedom(mean.denominator) for mean, _ in terms)
            plain, replicates = clusters.linear_error(influence), clusters.replicates
            skewness = clusters.skewness(_added(terms))
        if clusters is None or (self.chosen and (error == math.inf or freedom == 0)):
            error = plain = self._independent_error(influence)
            freedom, replicates, skewness = math.inf, self.replicates, self.moments.skewness(influence)
        if error == math.inf or freedom == 0:
            return Interval(value, -math.inf, math.inf, math.inf)
        draws = None if replicates is None else self._draws(replicates, terms)
        stretch = error / plain if plain > 0 else 1.0
        span = sum(abs(sign) * _span(mean, self.moments) for mean, sign in terms)
        known = Sampling(value, error, self.moments.n, self.confidence, freedom, skewness, span, draws, stretch)
        return self._with_doubt(kinds()[self.method].make(known), terms)

    def _with_doubt(self, found: Interval, terms: Signed) -> Interval:
        """The interval with the doubt of the models that the means rely on, by draws from their posteriors.

        That doubt is independent of which rows were logged: half-lengths add as squares do.
        """
        every = paired_draws(*(mean for mean, _ in terms))
        if len(every) < 2:
            return found
        signs, sums = [sign for _, sign in terms], self.moments.sums
        drawn = [sum(s * float(mean.value(sums)) for s, mean in zip(signs, means, strict=True)) for means in every]
        doubt = float(np.std(drawn, ddof=1))
        half = student(0.5 + self.confidence / 2, len(drawn) - 1.0) * doubt
        low = found.value - math.hypot(found.value - found.low, half)
        high = found.value + math.hypot(found.high - found.value, half)
        return replace(found, low=low, high=high, standard_error=math.hypot(found.standard_error, doubt))

    def _independent_error(self, influence: Floats) -> float:
        n = self.moments.n
        if n < 2:
            return math.inf  # the variance needs at least two rows
        return math.sqrt(self.moments.variation(influence) / (n * (n - 1)))

    def _draws(self, sums: Floats, terms: Signed) -> Floats:
        """[b] the value in each replicate, with control variates refitted."""
        if self.products:
            terms = tuple(
                (mean.refitted(sums, self.products) if isinstance(mean, Controlled) else mean, sign)
                for mean, sign in terms
            )
        return _added(terms)(sums)


def _added(terms: Signed) -> Callable[[Floats], Floats]:
    """The signed sum of the means as a function of column sums."""
    return lambda sums: np.asarray(sum(sign * mean.value(sums) for mean, sign in terms))


def _widest(every: tuple[Clusters, ...], terms: Signed) -> tuple[float, Clusters | None]:
    """The largest standard error by clusters, finite if possible, and its clusters."""
    found = [(one.jackknife(_added(terms)), one) for one in every]
    if not found:
        return math.inf, None
    finite = [pair for pair in found if pair[0] < math.inf]
    most = max(error for error, _ in finite or found)
    # Columns that mark the same clusters differ by rounding: the first of them.
    return next(pair for pair in finite or found if pair[0] >= most * (1 - 1e-9))


def _span(mean: Mean, moments: Moments) -> float:
    """A bound on the range of a row's influence, from the observed extremes of its columns."""
    ranges = moments.largest - moments.least
    return float(np.abs(mean.influence(moments)) @ np.where(np.isfinite(ranges), ranges, 0.0))
