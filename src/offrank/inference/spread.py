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
from .ratio import Adjusted, Mean, Ratio, RelativeChange, paired_draws, refitted
from .registry import INTERVALS, Sampling, Side, student
from .unseen import Rare, Tail, with_rare

Signed = tuple[tuple[Mean, float], ...]
"""A sum of means, each with its sign."""


MOST = 2.0
"""What a log hides of a target is taken to earn at most this times as much as the rest of it: as far above that as
nothing is below."""

_ROUNDING = 1e-9
"""Error of the mean of rows, as a share of what these can reach, below which it is a rounding error."""


@dataclass(frozen=True)
class Inference:
    """The column sums from which intervals are computed.

    clusters: sums of dependent rows, by one column or several, of which each mean takes the one with its largest
    error. replicates: [b, d + p] sums of a bootstrap of rows, of the columns and of `products` of them. dropped:
    clusters that were found but not used, for which rows count as independent. chosen: whether the clusters were chosen
    automatically: then rows are independent where a single cluster carries all the weight. tails: the heavy tails of
    rewards, each with the columns of which one is in a mean that it affects. nonnegative: no outcome is below 0, so
    that intervals of means end there. hidden: the columns of a mean, the one of its weights, and the share of it that
    the log cannot show. rare: the heaviest rows for each column of weighted rewards.
    """

    moments: Moments
    method: str
    confidence: float
    clusters: tuple[Clusters, ...] = ()
    replicates: Floats | None = None
    products: Products = ()
    dropped: tuple[Clusters, ...] = ()
    chosen: bool = False
    tails: tuple[tuple[tuple[int, ...], Tail], ...] = ()
    nonnegative: bool = False
    hidden: tuple[tuple[tuple[int, ...], int, float], ...] = ()
    rare: tuple[Rare, ...] = ()

    def ratio(self, ratio: Mean) -> Interval:
        """The interval of a ratio or a controlled mean."""
        found = self._interval(float(ratio.value(self.moments.sums)), ((ratio, 1.0),))
        least = -1.0 if isinstance(ratio, RelativeChange) else 0.0
        return found.above(least) if self.nonnegative else found

    def difference(self, left: Mean, right: Mean) -> Interval:
        """The interval of the paired difference left - right on the same rows."""
        sums = self.moments.sums
        one, other = float(left.value(sums)), float(right.value(sums))
        value = one - other if abs(one - other) > 1e-12 * abs(one) else 0.0  # else it is a rounding error
        return self._interval(value, ((left, 1.0), (right, -1.0)))

    def covariances(self, control: Mean, mean: Mean) -> tuple[float, float, float]:
        """The variance of a control, its covariance with a mean, and the variance of that, up to one factor.

        By the clusters of the mean, or by rows if these are independent.
        """
        left, right = (one.influence(self.moments) for one in (control, mean))
        clusters = self.clustered(mean)
        if clusters is None:
            both = self.moments.variation(left + right) - self.moments.variation(left - right)
            return self.moments.variation(left), both / 4, self.moments.variation(right)
        x, y = ((clusters.sums[:, : len(one)] * one).sum(axis=1) for one in (left, right))
        return float((x * x).sum()), float((x * y).sum()), float((y * y).sum())

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
        if not math.isfinite(value):  # a mean of no rows, such as that of a ranker that never served
            return Interval(value, -math.inf, math.inf, math.inf)
        with np.errstate(invalid="ignore"):
            influence = np.asarray(sum(sign * mean.influence(self.moments) for mean, sign in terms))
        if not np.isfinite(influence).all():  # the smallest of all numbers
            return Interval(value, -math.inf, math.inf, math.inf)
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
        seen = self._with_unseen(Side(error, skewness), stretch * influence)
        n, level = self.moments.n, self.confidence
        differs = error > _ROUNDING * span / math.sqrt(n)  # else it is that of one policy with itself
        lower, upper = with_rare(seen, self.rare, stretch * influence, self.moments) if differs else seen
        known = Sampling(value, error, n, level, freedom, skewness, span, lower, upper, draws, stretch)
        found = INTERVALS[self.method].make(known)
        if (lower, upper) != seen:
            found = _with_error(found, known, seen)
        return self._with_hidden(self._with_doubt(found, terms), terms)

    def _with_hidden(self, found: Interval, terms: Signed) -> Interval:
        """The interval extended by what the hidden share of each mean may add, or take away."""
        if not self.hidden:
            return found
        down, up = 0.0, 0.0
        for mean, sign in terms:
            less, more = self._hidden_of(mean)
            down, up = (down + less, up + more) if sign > 0 else (down + more, up + less)
        return replace(found, low=found.low - down, high=found.high + up)

    def _hidden_of(self, mean: Mean) -> tuple[float, float]:
        """How far a mean may be below and above the estimated one, if the hidden share of it earns nothing, or MOST.

        A mean per impression lacks that share; one per weight takes it to earn as much as the rest does.
        """
        if isinstance(mean, RelativeChange):
            base, ratio = (float(one.value(self.moments.sums)) for one in (mean.base, mean.mean))
            less, more = self._hidden_of(mean.mean)
            fewer, further = self._hidden_of(mean.base)
            return (less + ratio / base * further) / base, (more + ratio / base * fewer) / base
        if isinstance(mean, Adjusted):
            return self._hidden_of(mean.mean)
        used = set(np.flatnonzero(mean.influence(self.moments)).tolist())
        shares = [(share, weight) for columns, weight, share in self.hidden if used & set(columns)]
        if not shares:
            return 0.0, 0.0
        share, weight = max(shares)
        value = abs(float(mean.value(self.moments.sums)))
        if isinstance(mean, Ratio) and mean.denominator != weight:
            return 0.0, MOST * share * value / max(1 - share, share)
        return share * value, (MOST - 1) * share * value

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

    def _with_unseen(self, seen: Side, influence: Floats) -> tuple[Side, Side]:
        """Error and skewness towards the lower and the upper end, with the rewards that are too rare for this log.

        One that is larger than all of them raises a mean by its own size. It may lower a difference, or a mean of
        gains and losses; there, each square and cube of the log stands for as much as the rewards lack.
        """
        used = set(np.flatnonzero(influence).tolist())
        tails = [(tail, influence[list(columns)]) for columns, tail in self.tails if used & set(columns)]
        if not tails or not 0 < seen.error < math.inf:
            return seen, seen
        n = self.moments.n
        if any(tail.signed or each.min() < 0 for tail, each in tails):
            squares = max(1 + tail.more_squares / tail.squares for tail, _ in tails)
            cubes = max(1 + tail.more_cubes / tail.cubes for tail, _ in tails)
            whole = Side(seen.error * math.sqrt(squares), seen.skewness * cubes / squares**1.5)
            return whole, whole
        square = max(float(each.max()) ** 2 * tail.more_squares for tail, each in tails) / (n * (n - 1))
        cube = max(float(each.max()) ** 3 * tail.more_cubes for tail, each in tails) / n**3
        error = math.sqrt(seen.error**2 + square)
        return seen, Side(error, (seen.skewness * seen.error**3 + cube) / error**3)

    def _independent_error(self, influence: Floats) -> float:
        n = self.moments.n
        if n < 2:
            return math.inf  # the variance needs at least two rows
        return math.sqrt(self.moments.variation(influence) / (n * (n - 1)))

    def _draws(self, sums: Floats, terms: Signed) -> Floats:
        """[b] the value in each replicate, with control variates refitted."""
        if self.products:
            terms = tuple((refitted(mean, sums, self.products), sign) for mean, sign in terms)
        return _added(terms)(sums)


def _with_error(found: Interval, of: Sampling, seen: tuple[Side, Side]) -> Interval:
    """The interval, of whatever kind, with the error of rewards that are too rare for their weights. seen: without."""
    sides = of.lower, of.upper
    share = min(one.error / side.error for one, side in zip(seen, sides, strict=True))
    low, high = (of.value + sign * of.quantile * side.error for sign, side in zip((-1, 1), sides, strict=True))
    error = found.standard_error / share
    return replace(found, low=min(found.low, low), high=max(found.high, high), standard_error=error, seen=share)


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
    return float((np.abs(mean.influence(moments)) * np.where(np.isfinite(ranges), ranges, 0.0)).sum())
