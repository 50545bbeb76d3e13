"""Intervals of means and of their differences from named sums, for independent rows or clusters."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from ..log.batch import Booleans, Floats
from ..sums.clusters import Clusters
from ..sums.estimate import Interval, student
from ..sums.mean import Mean, Name, Products, mean_of_means
from ..sums.named_sums import ByName, Sums
from .rare_rewards import Rare, Tail, with_rare
from .registry import INTERVALS, Sampling, Side

MOST = 2.0
"""What a log hides of a target is taken to earn at most this times as much as the rest of it: as far above that as
nothing is below."""

_ROUNDING = 1e-9
"""Error of the mean of rows, as a share of what these can reach, below which it is a rounding error."""


class Widest(NamedTuple):
    """The standard error and the skewness of a mean by the clusters that give it the largest error.

    clusters: those whose rows count as dependent in the mean; None where all are independent.
    """

    error: float
    skewness: float
    clusters: Clusters | None


@dataclass(frozen=True, eq=False)
class RowLines:
    """The lines of independent rows that a bootstrap draws.

    lines: of most means. numbered: those of means that read one of the columns in which rows of a line differ.
    """

    lines: Clusters
    numbered: Clusters | None = None
    differ: Booleans | None = None

    def of(self, influence: Floats) -> Clusters:
        """The lines for a mean with this influence, whatever others there are."""
        return self.lines if self.numbered is None or not influence[self.differ].any() else self.numbered


@dataclass(frozen=True)
class Inference:
    """The named sums from which intervals are computed.

    clusters: sums of dependent rows, by one column or several, of which each mean takes the one with its largest
    error. replicates: [b, d + p] sums of a bootstrap of rows, of the columns and of `products` of them. dropped:
    clusters that were found but not used, for which rows count as independent. chosen: whether the clusters were chosen
    automatically: then rows are independent where a single cluster carries all the weight. tails: the heavy tails of
    rewards, each with the columns of which one is in a mean that it affects. nonnegative: no outcome is below 0, so
    that intervals of means end there. hidden: the columns of a mean, the one of its weights, and the share of it that
    the log cannot show. rare: the heaviest rows for each column of weighted rewards.
    """

    sums: Sums
    method: str
    confidence: float
    clusters: tuple[Clusters, ...] = ()
    rows: RowLines | None = None
    products: Products = ()
    dropped: tuple[Clusters, ...] = ()
    chosen: bool = False
    tails: tuple[tuple[tuple[Name, ...], Tail], ...] = ()
    nonnegative: bool = False
    hidden: tuple[tuple[tuple[Name, ...], Name, float], ...] = ()
    rare: tuple[Rare, ...] = ()
    _found: dict[Mean, Widest] = field(default_factory=dict, init=False, repr=False)

    def interval(self, mean: Mean, *apart: Mean) -> Interval:
        """The interval of a mean. apart: the two means whose difference it is: their ranges add up in it."""
        value, influence = self.sums.value_and_influence(mean)
        each = [self.sums.value_and_influence(one) for one in apart]
        if each and not abs(value) > 1e-12 * abs(each[0][0]):
            value = 0.0  # a rounding error
        nothing = Interval(value, -math.inf, math.inf, math.inf)
        if not math.isfinite(value):  # a mean of no rows, such as that of a ranker that never served
            return nothing
        if not np.isfinite(influence).all():  # the smallest of all numbers
            return nothing
        error, skewness, clusters = self.widest(mean)
        if clusters is not None:
            freedom = clusters.freedom(self.sums.columns.numbers(mean.shares, len(influence)))
            replicates = clusters.replicates
            # without the division of the jackknife, as in resampling clusters
            alone = (clusters.sums[:, : len(influence)] * influence).sum(axis=1)
            plain = math.sqrt(float((alone**2).sum())) / float(clusters.rows.sum())
        if clusters is None or (self.chosen and (error == math.inf or freedom == 0)):
            error = plain = self._independent_error(influence, mean, *mean.parts)
            freedom, replicates, skewness = math.inf, None, self.sums.moments.skewness(influence)
            if self.rows is not None:
                lines = self.rows.of(influence)
                replicates, plain = lines.replicates, error * self._spread(lines, influence)
        if error == math.inf or freedom == 0:
            return nothing
        draws = None if replicates is None else self._draws(replicates, mean)
        moved = sum(np.abs(one) for _, one in each) if each else np.abs(influence)
        ranges = self.sums.moments.largest - self.sums.moments.least
        span = float((moved * np.where(np.isfinite(ranges), ranges, 0.0)).sum())  # bounds a row's influence
        n, level = self.sums.n, INTERVALS[self.method].level(self.confidence)
        least = _ROUNDING * span / math.sqrt(n)  # what rounding leaves of the difference of one policy to itself
        stretch = error / plain if plain > least else 1.0
        one = Side(error, skewness)
        seen = self._with_unseen(one, stretch * influence) if self.tails else (one, one)
        rare = self.rare if error > least or not (value or each) else ()  # a constant has none, none at all may have
        ends = with_rare(seen, rare, stretch * influence, self.sums) if rare else seen
        quantile = student(0.5 + level / 2, freedom)
        known = Sampling(value, error, n, level, quantile, freedom, skewness, span, *ends, draws, stretch)
        found = INTERVALS[self.method].make(known)
        if ends != seen or self.hidden or len(mean.drawn) > 1:
            found = self._with_more(found, known, seen, mean)
        return found.above(mean.least) if self.nonnegative and found.low < mean.least else found

    def difference(self, left: Mean, right: Mean) -> Interval:
        """The interval of the paired difference left - right on the same rows."""
        return self.interval(mean_of_means(operator.sub, left, right, least=-np.inf), left, right)

    def covariances(self, control: Mean, mean: Mean) -> tuple[float, float, float]:
        """The variance of a control, its covariance with a mean, and the variance of that, up to one factor.

        By the clusters of the mean, or by rows if these are independent.
        """
        left, right = self.sums.influence(control), self.sums.influence(mean)
        clusters = self.widest(mean).clusters
        if clusters is None:
            both = self.sums.moments.variation(left + right) - self.sums.moments.variation(left - right)
            return self.sums.moments.variation(left), both / 4, self.sums.moments.variation(right)
        x, y = ((clusters.sums[:, : len(one)] * one).sum(axis=1) for one in (left, right))
        return float((x * x).sum()), float((x * y).sum()), float((y * y).sum())

    def best_slopes(self, mean: Mean, controls: Sequence[Mean]) -> Floats:
        """[c] the multiples of controls, each 0 but for chance, less which a mean has the least variance.

        By the clusters of the mean, or by rows if these are independent.
        """
        influence = np.stack([self.sums.influence(one) for one in (*controls, mean)])
        clusters = self.widest(mean).clusters
        if clusters is None:
            both = influence @ self.sums.moments.comoment @ influence.T
        else:
            each = clusters.sums[:, : influence.shape[1]] @ influence.T
            both = each.T @ each
        known = np.diagonal(both) > _ROUNDING**2 * both[-1, -1]  # else rounding
        both *= known[:, None] & known
        return np.asarray(np.linalg.lstsq(both[:-1, :-1], both[:-1, -1], rcond=_ROUNDING)[0], np.float64)

    def design_effect(self, mean: Mean, clusters: Clusters) -> float | None:
        """Variance by clusters over that of independent rows (Kish): how many times more rows an interval needs."""
        alone = self._independent_error(self.sums.influence(mean))
        if not 0 < alone < math.inf:
            return None
        together = self.widest(mean, (clusters,)).error
        return (together / alone) ** 2 if together < math.inf else None

    def _with_more(self, found: Interval, known: Sampling, seen: tuple[Side, Side], mean: Mean) -> Interval:
        """The interval with what is too rare for its weights, what models do not know, and what the log hides."""
        if (known.lower, known.upper) != seen:
            found = _with_error(found, known, seen)
        if len(mean.drawn) > 1:
            found = self._with_doubt(found, mean, known.confidence)
        down, up = self._hidden_of(mean) if self.hidden else (0.0, 0.0)
        return replace(found, low=found.low - down, high=found.high + up)

    def _hidden_of(self, mean: Mean) -> tuple[float, float]:
        """How far a mean may be below and above the estimated one, if the hidden share of it earns nothing, or MOST.

        A mean per impression lacks that share; one per weight takes it to earn as much as the rest does.
        """
        if mean.by is not None:
            return self._hidden_of_parts(mean)
        influence = ByName(self.sums.columns, self.sums.influence(mean))
        shares = [
            (share, weight)
            for columns, weight, share in self.hidden
            if any(np.any(influence[name]) for name in columns)
        ]
        if not shares:
            return 0.0, 0.0
        share, weight = max(shares, key=lambda one: one[0])
        value = abs(self.sums.value(mean))
        if mean.lacks and mean.shares != (weight,):
            return 0.0, MOST * share * value / max(1 - share, share)
        return share * value, (MOST - 1) * share * value

    def _hidden_of_parts(self, mean: Mean) -> tuple[float, float]:
        """The same of a function of means: as far as it moves with each."""
        assert mean.by is not None
        down, up = 0.0, 0.0
        values = np.array([self.sums.value(one) for one in mean.parts], np.complex128)
        for at, part in enumerate(mean.parts):
            less, more = self._hidden_of(part)
            if less or more:
                stepped = values.copy()
                stepped[at] += 1e-30j
                slope = float(np.imag(mean.by(*stepped))) / 1e-30
                if slope < 0:
                    less, more = more, less
                down, up = down + abs(slope) * less, up + abs(slope) * more
        return down, up

    def _with_doubt(self, found: Interval, mean: Mean, level: float) -> Interval:
        """The interval with the doubt of the models that a mean relies on, by draws from their posteriors.

        That doubt is independent of which rows were logged: half-lengths add as squares do.
        """
        doubt = float(np.std([self.sums.value(one) for one in mean.drawn], ddof=1))
        half = student(0.5 + level / 2, len(mean.drawn) - 1.0) * doubt
        low = found.value - math.hypot(found.value - found.low, half)
        high = found.value + math.hypot(found.high - found.value, half)
        return replace(found, low=low, high=high, standard_error=math.hypot(found.standard_error, doubt))

    def _with_unseen(self, seen: Side, influence: Floats) -> tuple[Side, Side]:
        """Error and skewness towards the lower and the upper end, with the rewards that are too rare for this log.

        One that is larger than all of them raises a mean by its own size. It may lower a difference, or a mean of
        gains and losses; there, each square and cube of the log stands for as much as the rewards lack.
        """
        named = ByName(self.sums.columns, influence)
        every = [(tail, np.hstack([named[name] for name in columns])) for columns, tail in self.tails]
        tails = [one for one in every if one[1].any()]
        if not tails or not 0 < seen.error < math.inf:
            return seen, seen
        n = self.sums.n
        if any(tail.signed or each.min() < 0 for tail, each in tails):
            squares = max(1 + tail.more_squares / tail.squares for tail, _ in tails)
            cubes = max(1 + tail.more_cubes / tail.cubes for tail, _ in tails)
            whole = Side(seen.error * math.sqrt(squares), seen.skewness * cubes / squares**1.5)
            return whole, whole
        square = max(float(each.max()) ** 2 * tail.more_squares for tail, each in tails) / (n * (n - 1))
        cube = max(float(each.max()) ** 3 * tail.more_cubes for tail, each in tails) / n**3
        error = math.sqrt(seen.error**2 + square)
        return seen, Side(error, (seen.skewness * seen.error**3 + cube) / error**3)

    def _independent_error(self, influence: Floats, *means: Mean) -> float:
        """The standard error of independent rows; infinite if one of them has all the weight of one of these means."""
        known, n = self.sums.moments, self.sums.n
        for at in (self.sums.columns.numbers(one.shares, len(known.mean)) for one in means):
            squares = np.diagonal(known.comoment)[at] + n * known.mean[at] ** 2
            if len(at) and (np.abs((n * known.mean[at]) ** 2 - squares) <= _ROUNDING * squares).all():
                return math.inf
        return math.sqrt(known.variation(influence) / (n * (n - 1))) if n > 1 else math.inf  # it needs two rows

    def _spread(self, rows: Clusters, influence: Floats) -> float:
        """The error of a mean by the lines that a bootstrap of rows draws, over that by rows."""
        variance = self.sums.moments.variation(influence)
        alone = (rows.sums[:, : len(influence)] * influence).sum(axis=1)
        return math.sqrt(float((alone**2).sum()) / variance) if variance > 0 else 1.0

    def _draws(self, sums: Floats, mean: Mean) -> Floats:
        """[b] the value in each replicate, with control variates refitted."""
        if not self.products or mean.refitted is None:
            return self.sums.values(mean.of, sums)
        first = sums.shape[-1] - len(self.products)
        products: dict[Name, Floats] = {pair: sums[..., first + at] for at, pair in enumerate(self.products)}
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(mean.refitted(ByName(self.sums.columns, sums[..., :first], products)))

    def tail(self, column: Name) -> Tail | None:
        """The heavy tail of a column of rewards."""
        return next((tail for columns, tail in self.tails if columns[0] == column), None)

    def widest(self, mean: Mean, clusters: tuple[Clusters, ...] | None = None) -> Widest:
        """The largest standard error by clusters, finite if possible; by default by those that are used.

        The jackknife over g clusters: sqrt((g - 1) / g * sum over clusters of (mean without the cluster - mean)^2). Of
        a ratio, the residual of a cluster with the share h of the denominator is divided by 1 - h, since the estimate
        is drawn towards a large cluster: the estimator CR3 of Bell and McCaffrey (2002). For clusters of one size it is
        the plain sandwich with the factor g / (g - 1). The skewness is of the same differences.
        """
        if clusters is None and mean in self._found:
            return self._found[mean]
        found, places = [], self.sums.columns.places
        for one in self.clusters if clusters is None else clusters:
            count, error, skewness = len(one.rows), math.inf, 0.0
            if count >= 2:  # the variance between clusters needs at least two
                each = one.sums[:, : len(self.sums.moments.mean)]
                parts = {name: each[:, places[name]] for name in mean.reads}
                # one after another: equal columns have equal sums, wherever they are in memory
                total = {name: np.cumsum(part, axis=0)[-1] for name, part in parts.items()}
                with np.errstate(divide="ignore", invalid="ignore"):
                    away = mean.of(total) - mean.of({name: total[name] - part for name, part in parts.items()})
                squares = float((away**2).sum())
                if math.isfinite(squares):
                    skewness = float(((away / math.sqrt(squares)) ** 3).sum()) if squares > 0 else 0.0
                    error = math.sqrt((count - 1) / count * squares)
            found.append(Widest(error, skewness, one))
        finite = [one for one in found if one.error < math.inf] or found
        most = max((one.error for one in finite), default=math.inf)
        # Columns that mark the same clusters differ by rounding: the first of them.
        widest = next((one for one in finite if one.error >= most * (1 - 1e-9)), Widest(math.inf, 0.0, None))
        if clusters is None:
            self._found[mean] = widest
        return widest


def _with_error(found: Interval, of: Sampling, seen: tuple[Side, Side]) -> Interval:
    """The interval, of whatever kind, with the error of rewards that are too rare for their weights. seen: without."""
    sides = of.lower, of.upper
    share = min(one.error / side.error if side.error else 1.0 for one, side in zip(seen, sides, strict=True))
    low, high = (of.value + sign * of.quantile * side.error for sign, side in zip((-1, 1), sides, strict=True))
    error = found.standard_error / share if share else max(of.lower.error, of.upper.error)  # 0: no reward has weight
    return replace(found, low=min(found.low, low), high=max(found.high, high), standard_error=error, seen=share)
