"""Sums of columns over clusters of dependent rows: of each cluster, or of hash buckets where there are too many.

Dependent rows share a line of the sums, so that their errors are not treated as independent. Up to a bound every
cluster has a line of its own, whatever its code is; above it, clusters are put into that many buckets by a hash.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..log.batch import Floats
from . import _kernels
from .base import Fold, Sample, total
from .totals import Products, with_products

BUCKETS = 4096
BUCKETS_OF_A_GROUP = 512


@dataclass(frozen=True, eq=False)
class ClusterSums:
    """The sums [g, 1 + products + columns or more] over clusters; the first column counts rows.

    codes: [g] of the clusters, ascending; None where the lines are hash buckets.
    """

    codes: NDArray[np.uint64] | None
    sums: Floats


@dataclass(frozen=True)
class BucketsFold(Fold[ClusterSums, Sample, ClusterSums]):
    """Reduces samples to the sums of each cluster, or of each bucket if there are more clusters than buckets.

    cluster: the clusters of a sample, by default its key. buckets: a power of two.
    """

    columns: int
    cluster: str | None = None
    buckets: int = BUCKETS
    products: Products = ()

    def empty(self) -> ClusterSums:
        return ClusterSums(np.empty(0, np.uint64), np.zeros((0, 1 + len(self.products) + self.columns)))

    def add(self, state: ClusterSums, batch: Sample) -> ClusterSums:
        codes = batch.key if self.cluster is None else batch.clusters[self.cluster]
        if not len(codes):
            return state
        values = with_products(batch.columns, self.products) if self.products else batch.columns
        if state.codes is not None:
            found, own = np.empty(self.buckets, np.uint64), np.zeros((self.buckets, 1 + len(values)))
            count = _kernels.cluster_sums(found, own, values, codes, np.full(4 * self.buckets, -1))
            if count >= 0:
                return self.merge(state, ClusterSums(found[:count], own[:count]))
        sums = np.zeros((self.buckets, 1 + len(values)))
        _kernels.bucket_sums(sums, values, codes)
        return self.merge(state, ClusterSums(None, sums))

    def merge(self, left: ClusterSums, right: ClusterSums) -> ClusterSums:
        if left.codes is None or right.codes is None:
            return self._in_buckets(left, right)
        codes, place = np.unique(np.concatenate([left.codes, right.codes]), return_inverse=True)
        if len(codes) > self.buckets:
            return self._in_buckets(left, right)
        sums = np.zeros((len(codes), max(left.sums.shape[1], right.sums.shape[1])))
        start = len(left.codes)
        for which, one in ((place[:start], left.sums), (place[start:], right.sums)):
            sums[which, : one.shape[1]] += one  # no code occurs twice in one of them
        return ClusterSums(codes, sums)

    def _in_buckets(self, *states: ClusterSums) -> ClusterSums:
        """Return the sums of two states by bucket."""
        every = []
        for state in states:
            sums = state.sums
            if state.codes is not None:
                sums = np.zeros((self.buckets, state.sums.shape[1]))
                np.add.at(sums, _kernels.bucket_of(state.codes, self.buckets), state.sums)
            every.append(sums)
        return ClusterSums(None, total(*every))
