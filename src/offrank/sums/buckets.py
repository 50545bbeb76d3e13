"""Sums of columns over clusters of dependent rows: of each cluster, or of hash buckets where there are too many.

Dependent rows share a line of the sums, so that their errors are not treated as independent. Up to a bound every
cluster has a line of its own, whatever its code is; above it, clusters are put into that many buckets by a hash.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np

from ..log.batch import Floats, Naturals
from . import _kernels
from .base import Fold, Sample, total
from .totals import Products, with_products

BUCKETS = 4096
BUCKETS_OF_A_GROUP = 512


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
