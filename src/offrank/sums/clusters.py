"""Clusters of dependent rows, and the degrees of freedom of a variance between them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ..log.batch import Floats
from .buckets import ClusterSums


@dataclass(frozen=True, eq=False)
class Clusters:
    """The clusters of a column of the log; those that share a hash bucket count as one.

    sums: [g, d] sums of the columns over each cluster; rows: [g] number of its rows, never 0. buckets: how
    many there are, with the empty ones; infinite if no clusters share any. replicates: [b, d] sums of a bootstrap of
    whole clusters. repeats: mean number of rows in the cluster of a row, itself included, corrected for chance
    collisions of buckets.
    """

    column: str
    sums: Floats
    rows: Floats
    buckets: float
    replicates: Floats | None = None
    repeats: float = math.nan

    @classmethod
    def of(cls, column: str, found: ClusterSums, products: int = 0) -> Clusters:
        """The clusters in the state of a `BucketsFold`; sums of so many products come after those of the columns."""
        held = found.sums[found.sums[:, 0] > 0]
        buckets = math.inf if found.codes is not None else len(found.sums)
        rows, n = held[:, 0], float(held[:, 0].sum())
        repeats = (float((rows**2).sum()) - n**2 / buckets) / (n * (1 - 1 / buckets)) if n else 0.0
        return cls(column, np.roll(held[:, 1:], -products, axis=1), rows, buckets, repeats=repeats)

    def freedom(self, columns: Iterable[int]) -> float:
        """Satterthwaite's degrees of freedom of the jackknife, of ratios to these columns: the fewest.

        The variance estimate is a quadratic form of the clusters' sums; its degrees of freedom are
        2 mean^2 / variance, for rows that are alike and independent (Bell and McCaffrey 2002, Imbens and Kolesar 2016).
        With the share h of a cluster and q = h / (1 - h) they are
        (sum q)^2 / (sum q^2 + (sum q^2)^2 - sum q^4): g - 1 for g clusters of one size, fewer for unlike ones.
        """
        fewest = math.inf
        for column in columns:
            shares = np.abs(self.sums[:, column])
            total = float(shares.sum())
            shares = shares[shares > 0] / total if total > 0 else shares[:0]
            if len(shares) < 2 or shares.max() >= 1:
                return 0.0
            q = shares / (1 - shares)
            squares = np.sort(q**2)
            # (sum q^2)^2 - sum q^4, by pairs: one large cluster would cancel
            pairs = 2 * (squares[1:] * np.cumsum(squares)[:-1]).sum()
            fewest = min(fewest, float(q.sum() ** 2 / (squares.sum() + pairs)))
        return fewest
