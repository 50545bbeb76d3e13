"""Sums of those columns of a sample of which nothing else is wanted."""

from __future__ import annotations

from dataclasses import dataclass

from ..log.batch import Floats
from .base import Sample, TotalFold, Turned


@dataclass(frozen=True)
class SumsFold(Turned):
    """Reduces the `summed` columns of samples to their sums [columns, or more]."""

    columns: int

    @property
    def reducer(self) -> TotalFold:
        return TotalFold((self.columns,))

    def turned(self, batch: Sample) -> Floats:
        assert batch.summed is not None
        return batch.summed.sum()
