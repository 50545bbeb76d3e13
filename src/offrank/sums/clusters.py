"""Clusters of dependent rows: sums of columns over each, and the degrees of freedom of a variance between them.

Dependent rows share a line of the sums, so that their errors are not treated as independent. Up to a bound every
cluster has a line of its own, whatever its code is; above it, clusters are put into that many hash buckets. A Poisson
bootstrap draws whole lines: of clusters, or of rows, which are told apart by what they say or by their numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

import numpy as np

from ..log.batch import Floats, Naturals
from ..log.hashing import ODD
from . import _kernels
from .base import Fold, Sample, total

Products = tuple[tuple[int, int], ...]
"""Pairs of columns whose products are summed too: second moments, for what is refitted in each replicate."""


def with_products(values: Floats, products: Products) -> Floats:
    """[p + d, n] the products of these pairs of columns, then the columns; later samples may have more columns."""
    return np.concatenate([[values[one] * values[other] for one, other in products], values])


@dataclass(frozen=True)
class BootstrapFold(Fold):
    """Reduces samples to the sums [replicates, columns] of each replicate."""

    replicates: int = 200
    seed: int = 0

    def of(self, batch: Sample) -> Floats:
        sums = np.zeros((len(batch.columns), self.replicates))
        # The golden-ratio multiple separates the keys of two seeds.
        key = batch.key + np.uint64((self.seed * int(ODD)) % 2**64)
        _kernels.poisson_sums(sums, batch.columns, key, _kernels.POISSON)
        return sums.T


BUCKETS = 4096
BUCKETS_OF_A_GROUP = 512
REPEATS = 1.1
"""Mean rows in the cluster of a row; with fewer, intervals are at most 5 % too narrow even if all are equal."""


@dataclass(frozen=True, eq=False)
class ClusterSums:
    """The sums [g, 1 + products + columns or more] over clusters; the first column counts rows.

    codes: [g] of the clusters, ascending; None where the lines are hash buckets. buckets: how many there may be.
    """

    codes: Naturals | None
    sums: Floats
    buckets: int = BUCKETS

    def __add__(self, other: ClusterSums) -> ClusterSums:
        if self.codes is not None and other.codes is not None:
            codes, place = np.unique(np.concatenate([self.codes, other.codes]), return_inverse=True)
            if len(codes) <= self.buckets:
                sums = np.zeros((len(codes), max(self.sums.shape[1], other.sums.shape[1])))
                start = len(self.codes)
                for which, one in ((place[:start], self.sums), (place[start:], other.sums)):
                    sums[which, : one.shape[1]] += one  # no code occurs twice in one of them
                return ClusterSums(codes, sums, self.buckets)
        every = []
        for part in (self, other):
            sums = part.sums
            if part.codes is not None:
                sums = np.zeros((self.buckets, part.sums.shape[1]))
                np.add.at(sums, _kernels.bucket_of(part.codes, self.buckets), part.sums)
            every.append(sums)
        return ClusterSums(None, total(*every), self.buckets)


@dataclass(frozen=True)
class BucketsFold(Fold):
    """Reduces samples to the sums of each cluster, or of each bucket if there are more clusters than buckets.

    cluster: the clusters of a sample, by default its key. buckets: a power of two.
    """

    cluster: str | None = None
    buckets: int = BUCKETS
    products: Products = ()

    def add(self, part: ClusterSums | None, batch: Sample) -> ClusterSums:
        codes = batch.key if self.cluster is None else batch.clusters[self.cluster]
        values = with_products(batch.columns, self.products) if self.products else batch.columns
        if part is None or part.codes is not None:
            found, own = np.empty(self.buckets, np.uint64), np.zeros((self.buckets, 1 + len(values)))
            count = _kernels.cluster_sums(found, own, values, codes, np.full(4 * self.buckets, -1))
            if count >= 0:
                order = np.argsort(found[:count], kind="stable")
                return cast(ClusterSums, total(part, ClusterSums(found[order], own[order], self.buckets)))
        sums = np.zeros((self.buckets, 1 + len(values)))
        _kernels.bucket_sums(sums, values, codes)
        return cast(ClusterSums, total(part, ClusterSums(None, sums, self.buckets)))


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

    @property
    def apart(self) -> bool:
        """Whether hardly any rows share a cluster, but for those that share a bucket by chance."""
        return self.repeats <= REPEATS + 4 * math.sqrt(2 / self.buckets)

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
