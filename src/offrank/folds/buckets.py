"""Sums in hash buckets of a cluster: dependent rows share a bucket, so their errors are not taken as independent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..log.batch import Floats
from . import _kernels
from .base import Products, Sample, TotalFold, Turned, with_products

BUCKETS = 4096
BUCKETS_OF_A_GROUP = 512


@dataclass(frozen=True)
class BucketsFold(Turned):
    """Reduces samples to the sums [buckets, 1 + products + columns or more] of each bucket; the first counts rows.

    cluster: the clusters of a sample that are put into buckets; by default its key. buckets: a power of two.
    """

    columns: int
    cluster: str | None = None
    buckets: int = BUCKETS
    products: Products = ()

    @property
    def reducer(self) -> TotalFold:
        return TotalFold((self.buckets, self.columns + len(self.products) + 1))

    def turned(self, batch: Sample) -> Floats:
        values = with_products(batch.values, self.products)
        sums = np.zeros((self.buckets, 1 + values.shape[1]))
        _kernels.bucket_sums(sums, values, batch.key if self.cluster is None else batch.clusters[self.cluster])
        return sums
