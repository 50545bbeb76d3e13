"""What the log holds: impressions, rows left out, clicks by rank."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import ClassVar

import numpy as np

from ..folds.base import PlusFold, Turned, total
from ..folds.estimate import Interval
from ..log.batch import Floats, LogBatch
from . import _kernels


@dataclass(frozen=True)
class RankRow:
    """Clicks at one rank (1 at the top): weighted impressions and clicks, and the click rate."""

    rank: int
    impressions: float
    clicks: float
    click_rate: Interval


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
        """How many ranks have clicks, or could have; 0 where none are logged."""
        return int(np.count_nonzero(self.ranks[:, 1]))

    def by_rank(self, confidence: float) -> list[RankRow]:
        """Click rate at each rank, with its interval."""
        quantile = NormalDist().inv_cdf(0.5 + confidence / 2)
        return [_rank_row(rank, sums, quantile) for rank, sums in enumerate(self.ranks, start=1)]


@dataclass(frozen=True)
class ImpressionsFold(Turned):
    """Reduces batches to `Impressions`."""

    reducer: ClassVar = PlusFold(Impressions(0, 0.0, {}, np.zeros((0, 6))))

    def turned(self, batch: LogBatch) -> Impressions:
        ranks = np.zeros((0, 6))
        if batch.clicks is not None:
            ranks = _kernels.rank_sums(batch.clicks, batch.contexts.length, batch.inclusion)
        return Impressions(len(batch), float((1 / batch.inclusion).sum()), batch.skipped, ranks)


def _rank_row(rank: int, sums: Floats, quantile: float) -> RankRow:
    _, h, hc, hh, hhc, hhcc = (float(x) for x in sums)
    rate = hc / h if h else 0.0
    error = math.sqrt(max(hhcc - 2 * rate * hhc + rate**2 * hh, 0.0)) / h if h else 0.0
    return RankRow(rank, h, hc, Interval(rate, rate - quantile * error, rate + quantile * error, error))
