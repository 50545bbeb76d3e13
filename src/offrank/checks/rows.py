"""Statistics of a log's rows: clicks by rank, rows per context, ties, and the dependence between rows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce
from statistics import NormalDist

import numpy as np

from ..errors import EmptyLogError
from ..findings.weights import ClustersEvidence
from ..inference.mean_intervals import Inference
from ..log.batch import Floats, LogBatch
from ..log.source import Needs
from ..policies.base import Policy
from ..sums.base import Fold, total
from ..sums.counts import KeyedCounts, summed
from ..sums.estimate import Interval
from ..sums.mean import Mean, Name
from . import _kernels

_ROUNDING = 1e-12
"""Share of a sum of squares below which what is left about the mean is rounding error, on any processor."""


@dataclass(frozen=True)
class RankRow:
    """Clicks at one rank (1 at the top): weighted impressions and clicks, and the click rate."""

    rank: int
    impressions: float
    clicks: float
    click_rate: Interval

    def to_dict(self) -> dict[str, float]:
        """Return the numbers by name, the rate beside the ends of its interval."""
        rate = self.click_rate
        return {**vars(self), "click_rate": rate.value, "low": rate.low, "high": rate.high}


@dataclass(frozen=True)
class Impressions:
    """n rows read; estimated: rows before sub-sampling; skipped: rule -> count; ranks: [k, 6] sums."""

    n: int
    estimated: float
    skipped: Mapping[str, int]
    ranks: Floats

    def __add__(self, other: Impressions) -> Impressions:
        skipped = dict(Counter(self.skipped) + Counter(other.skipped))
        ranks = total(self.ranks, other.ranks)
        return Impressions(self.n + other.n, self.estimated + other.estimated, skipped, ranks)

    @property
    def slots(self) -> int:
        """Number of ranks that have clicks, or could have; 0 if none are logged."""
        return int(np.count_nonzero(self.ranks[:, 1]))

    @property
    def only_clicks(self) -> bool:
        """Whether every item that was shown was clicked, once: what was not clicked is missing."""
        _, shown, _, squares, clicked, clicked_squares = self.ranks.sum(axis=0)
        apart = squares - 2 * clicked + clicked_squares  # the weighted squares of 1 - clicks
        return bool(shown and apart <= _ROUNDING * squares)

    def refuse_none(self, where: str) -> None:
        """Raise if there are none. where: the log in words.

        Raises:
            EmptyLogError: the log has no impressions.
        """
        if not self.n:
            skipped = f"; {sum(self.skipped.values())} were skipped" if self.skipped else ""
            raise EmptyLogError(f"{where} has no impressions{skipped}", "give a log with some")

    def by_rank(self, confidence: float) -> list[RankRow]:
        """Return the click rate at each rank, with its interval."""
        quantile, found = NormalDist().inv_cdf(0.5 + confidence / 2), []
        for rank, (_, h, hc, hh, hhc, hhcc) in enumerate(self.ranks.tolist(), start=1):
            rate = hc / h if h else 0.0
            squares = hhcc - 2 * rate * hhc + rate**2 * hh
            error = math.sqrt(squares) / h if squares > _ROUNDING * hhcc else 0.0
            ends = Interval(rate, rate - quantile * error, rate + quantile * error, error).above(0.0)
            found.append(RankRow(rank, h, hc, ends))
        return found


@dataclass(frozen=True)
class ImpressionsFold(Fold):
    """Reduces batches to `Impressions`."""

    def of(self, batch: LogBatch) -> Impressions:
        ranks, inverse = np.zeros((0, 6)), 1 / batch.inclusion
        if batch.clicks is not None:
            ranks = np.zeros((batch.clicks.shape[1], 6))
            _kernels.rank_sums(batch.clicks, batch.contexts.length, inverse, ranks)
        return Impressions(len(batch.row), float(inverse.sum()), batch.skipped, ranks)


@dataclass(frozen=True)
class Days:
    """The first and the last time of some rows, in seconds since 1970; infinite where none has one."""

    first: float
    last: float

    def __add__(self, other: Days) -> Days:
        return Days(min(self.first, other.first), max(self.last, other.last))


@dataclass(frozen=True)
class DaysFold(Fold):
    """Reduces batches to `Days`: the period of a log of which nothing but its rows tells it."""

    column: str

    def needs(self) -> Needs:
        """Return the column of time."""
        return Needs(times=frozenset([self.column]))

    def of(self, batch: LogBatch) -> Days:
        known = batch.times[self.column][np.isfinite(batch.times[self.column])]
        return Days(float(known.min(initial=np.inf)), float(known.max(initial=-np.inf)))

    def result(self, found: Days) -> dict[str, str] | None:
        """Return the column, and its first and last day; None where no row has one."""
        if found.first > found.last:
            return None
        first, last = (str(np.datetime64(math.floor(one), "s"))[:10] for one in (found.first, found.last))
        return {"column": self.column, "first": first, "last": last}


@dataclass(frozen=True)
class CandidatesFold(Fold):
    """Reduces batches to [3]: rows, rows with candidates that were not shown, and rows with a column of candidates."""

    def of(self, batch: LogBatch) -> Floats:
        n = len(batch)
        return np.array([n, (batch.contexts.size > batch.contexts.length).sum(), n * batch.listed], np.float64)


@dataclass(frozen=True)
class RowsPerContextFold(Fold):
    """Reduces batches to the rows of each context; memory grows with the contexts, as for counted policies."""

    by: str

    def needs(self) -> Needs:
        """Return the column of the contexts."""
        return Needs(keys=frozenset([self.by]))

    def of(self, batch: LogBatch) -> KeyedCounts:
        return KeyedCounts(*summed([batch.contexts.keys[self.by]], [np.ones(len(batch))]))

    def result(self, found: KeyedCounts) -> float:
        """Return rows per context: the harmonic mean, over rows, of the size of their context."""
        return float(found.counts.sum()) / max(len(found.counts), 1)


@dataclass(frozen=True)
class TiesFold(Fold):
    """Share of the impressions in which an item that a policy would show ties in score with another candidate."""

    policies: tuple[Policy, ...]

    def needs(self) -> Needs:
        """Return the columns that the policies sort by."""
        return reduce(Needs.__or__, (policy.reads("rank_probs") for policy in self.policies), Needs())

    def of(self, batch: LogBatch) -> Floats:
        h = 1 / batch.inclusion
        return np.array([*(h[policy.tied(batch)].sum() for policy in self.policies), h.sum()])

    def result(self, found: Floats) -> dict[Policy, float]:
        """Return the share of the impressions before sub-sampling, by policy."""
        shares = found[:-1] / found[-1] if found[-1] else found[:-1]
        return dict(zip(self.policies, shares.tolist(), strict=True))


def dependence(spread: Inference, mean: Mean, weight: Name, *, group: bool = False) -> ClustersEvidence:
    """Return the clustering statistics of a mean.

    weight: the column that weights each row in it. group: whether it is for one of several groups of the log.
    """
    found = ClustersEvidence(method=spread.method, group=group, chosen=spread.chosen)
    if (used := spread.widest(mean).clusters) is not None:
        effect = spread.design_effect(mean, used)
        # Effective number of clusters of equal size, Satterthwaite's degrees of freedom + 1: the smaller of two, by
        # each cluster's share of the denominator of the mean, and of the weights.
        effective = 1 + used.freedom(
            spread.sums.columns.numbers((mean.shares[0], weight), len(spread.sums.moments.mean))
        )
        found = replace(found, column=used.column, clusters=len(used.rows), effective=effective, design_effect=effect)
    if (apart := spread.widest(mean, spread.dropped).clusters) is not None:
        missed = spread.design_effect(mean, apart)
        found = replace(found, apart=apart.column, values=len(apart.rows), missed=missed)
    return found
