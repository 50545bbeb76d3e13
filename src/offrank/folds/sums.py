"""Sums of those columns of a sample of which nothing else is wanted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..log.batch import Floats
from .base import Sample, widened


@dataclass(frozen=True)
class SumsFold:
    """Reduces the `summed` columns of samples to their sums [columns, or more]."""

    columns: int

    def empty(self) -> Floats:
        return np.zeros(self.columns)

    def add(self, state: Floats, batch: Sample) -> Floats:
        return state if batch.summed is None else self.merge(state, batch.summed.sum())

    def merge(self, left: Floats, right: Floats) -> Floats:
        columns = max(len(left), len(right))
        return widened(left, columns) + widened(right, columns)

    def finish(self, state: Floats) -> Floats:
        return state
