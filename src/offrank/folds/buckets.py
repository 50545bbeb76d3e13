"""Sums in hash buckets of a cluster: dependent rows share a bucket, so their errors are not taken as independent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..log.batch import Floats
from . import _kernels
from .base import Products, Sample, with_products

BUCKETS = 4096
BUCKETS_OF_A_GROUP = 512


@dataclass(frozen=True)
class BucketsFold:
    """Reduces samples to the sums [buckets, columns + products + 1] of each bucket; the last column counts rows.

    cluster: the clusters of a sample that are put into buckets; by default its key. buckets: a power of two.
    """

    columns: int
    cluster: str | None = None
    buckets: int = BUCKETS
    products: Products = ()

    def empty(self) -> Floats:
        return np.zeros((self.buckets, self.columns + len(self.products) + 1))

    def add(self, state: Floats, batch: Sample) -> Floats:
        sums = self.empty()
        counted = np.column_stack([with_products(batch.values, self.products), np.ones(len(batch))])
        _kernels.bucket_sums(sums, counted, batch.key if self.cluster is None else batch.clusters[self.cluster])
        return state + sums

    def merge(self, left: Floats, right: Floats) -> Floats:
        return left + right

    def finish(self, state: Floats) -> Floats:
        return state
