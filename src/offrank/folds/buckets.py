"""Sums in hash buckets of the key: dependent rows share a bucket, so their errors are not taken as independent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..log.batch import Floats
from . import _kernels
from .base import Sample, widened

BUCKETS = 1024


@dataclass(frozen=True)
class BucketsFold:
    """Reduces samples to the column sums [BUCKETS, columns or more] of each bucket; a last column counts rows."""

    columns: int

    def empty(self) -> Floats:
        return np.zeros((BUCKETS, self.columns + 1))

    def add(self, state: Floats, batch: Sample) -> Floats:
        sums = np.zeros((BUCKETS, batch.values.shape[1] + 1))
        counted = np.column_stack([batch.values, np.ones(len(batch))])
        _kernels.bucket_sums(sums, counted, batch.key)
        return self.merge(state, sums)

    def merge(self, left: Floats, right: Floats) -> Floats:
        columns = max(left.shape[1], right.shape[1]) - 1
        values = widened(left[:, :-1], columns) + widened(right[:, :-1], columns)
        return np.column_stack([values, left[:, -1] + right[:, -1]])

    def finish(self, state: Floats) -> Floats:
        return state
