"""Sums in hash buckets of the key: dependent rows share a bucket, so their errors are not taken as independent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..log.batch import Floats
from . import _kernels
from .base import Sample

BUCKETS = 1024


@dataclass(frozen=True)
class BucketsFold:
    """Reduces samples to the column sums [BUCKETS, columns + 1] of each bucket; the last column counts rows."""

    columns: int

    def empty(self) -> Floats:
        return np.zeros((BUCKETS, self.columns + 1))

    def add(self, state: Floats, batch: Sample) -> Floats:
        sums = self.empty()
        counted = np.column_stack([batch.values, np.ones(len(batch))])
        _kernels.bucket_sums(sums, counted, batch.key)
        return state + sums

    def merge(self, left: Floats, right: Floats) -> Floats:
        return left + right

    def finish(self, state: Floats) -> Floats:
        return state
