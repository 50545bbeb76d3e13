"""Standard errors for dependent rows: the jackknife over clusters, and their effective number."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..log.batch import Floats
from .buckets import ClusterSums


@dataclass(frozen=True, eq=False)
class Clusters:
    """The clusters of a column of the log; those that share a hash bucket count as one.

    sums: [g, d] sums of the columns over each cluster; rows: [g] number of its rows, never 0. buckets: how
    many there are, with the empty ones; infinite if no clusters share any. replicates: [b, d] sums of a bootstrap of
    whole clusters.
    """

    column: str
    sums: Floats
    rows: Floats
    buckets: float
    replicates: Floats | None = None

    @classmethod
    def of(cls, column: str, found: ClusterSums, products: int = 0) -> Clusters:
        """The clusters in the state of a `BucketsFold`; sums of so many products come after those of the columns."""
        held = found.sums[found.sums[:, 0] > 0]
        buckets = math.inf if found.codes is not None else len(found.sums)
        return cls(column, np.roll(held[:, 1:], -products, axis=1), held[:, 0], buckets)

    def __len__(self) -> int:
        return len(self.rows)

    def jackknife(self, function: Callable[[Floats], Floats]) -> tuple[float, float]:
        """Standard error and skewness of a function of the column sums [..., d] -> [...].

        The error is sqrt((g - 1) / g * sum over clusters of (function without the cluster - function)^2), and infinite
        if it rests on one cluster; the skewness is of the same differences. Of a ratio, the residual
        of a cluster with the share h of the denominator is divided by 1 - h, since the estimate is drawn towards
        a large cluster: the estimator CR3 of Bell and McCaffrey (2002). For clusters of one size it is
        the plain sandwich with the factor g / (g - 1).
        """
        count = len(self.rows)
        if count < 2:
            return math.inf, 0.0  # the variance between clusters needs at least two
        total, without = self._without
        away = function(total) - function(without)
        squares = float((away**2).sum())
        if not math.isfinite(squares):
            return math.inf, 0.0
        skewness = float(((away / math.sqrt(squares)) ** 3).sum()) if squares > 0 else 0.0
        return math.sqrt((count - 1) / count * squares), skewness

    @cached_property
    def _without(self) -> tuple[Floats, Floats]:
        """[d] the sums over all clusters, and [g, d] over all but each one."""
        total = self.sums.sum(axis=0)
        return total, total - self.sums

    @property
    def repeats(self) -> float:
        """Mean number of rows in the cluster of a row, itself included, corrected for chance collisions of buckets.

        0 without rows.
        """
        n = float(self.rows.sum())
        if not n:
            return 0.0
        return float((self.rows**2).sum() - n**2 / self.buckets) / (n * (1 - 1 / self.buckets))


def degrees_of_freedom(sizes: Floats) -> float:
    """Satterthwaite's degrees of freedom of the jackknife over clusters of these sizes [g].

    The variance estimate is a quadratic form of the clusters' sums; its degrees of freedom are
    2 mean^2 / variance, for rows that are alike and independent (Bell and McCaffrey 2002, Imbens and Kolesar 2016).
    With the share h of a cluster and q = h / (1 - h) they are
    (sum q)^2 / (sum q^2 + (sum q^2)^2 - sum q^4): g - 1 for g clusters of one size, fewer for unlike ones.
    """
    shares = np.abs(sizes)
    total = float(shares.sum())
    shares = shares[shares > 0] / total if total > 0 else shares[:0]
    if len(shares) < 2 or shares.max() >= 1:
        return 0.0
    q = shares / (1 - shares)
    squares = np.sort(q**2)
    # (sum q^2)^2 - sum q^4, by pairs: one large cluster would cancel
    pairs = 2 * (squares[1:] * np.cumsum(squares)[:-1]).sum()
    return float(q.sum() ** 2 / (squares.sum() + pairs))
