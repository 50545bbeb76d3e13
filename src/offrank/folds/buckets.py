"""Sums in hash buckets of a cluster: dependent rows share a bucket, so their errors are not taken as independent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..log.batch import Floats
from . import _kernels
from .base import Products, Sample, widened, with_products

BUCKETS = 4096
BUCKETS_OF_A_GROUP = 512


@dataclass(frozen=True)
class BucketsFold:
    """Reduces samples to the sums [buckets, 1 + products + columns or more] of each bucket; the first counts rows.

    cluster: the clusters of a sample that are put into buckets; by default its key. buckets: a power of two.
    """

    columns: int
    cluster: str | None = None
    buckets: int = BUCKETS
    products: Products = ()

    def empty(self) -> Floats:
        return np.zeros((self.buckets, self.columns + len(self.products) + 1))

    def add(self, state: Floats, batch: Sample) -> Floats:
        values = with_products(batch.values, self.products)
        sums = np.zeros((self.buckets, 1 + values.shape[1]))
        _kernels.bucket_sums(sums, values, batch.key if self.cluster is None else batch.clusters[self.cluster])
        return self.merge(state, sums)

    def merge(self, left: Floats, right: Floats) -> Floats:
        columns = max(left.shape[1], right.shape[1])
        return widened(left, columns) + widened(right, columns)

    def finish(self, state: Floats) -> Floats:
        return state
