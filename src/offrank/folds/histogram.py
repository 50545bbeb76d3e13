"""Log-spaced histograms of positive columns: how the weights are spread."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..log.batch import Floats, Integers
from . import _kernels
from .base import Sample


@dataclass(frozen=True)
class Histogram:
    """zeros: rows of value zero; counts [b] rows with edges[i] <= value < edges[i + 1]."""

    zeros: int
    edges: Floats
    counts: Integers


@dataclass(frozen=True)
class HistogramFold:
    """Counts rows of the chosen columns in bins with edges 2^e and 1.5 * 2^e; values must be >= 0."""

    columns: tuple[int, ...]

    def empty(self) -> Integers:
        return np.zeros((len(self.columns), 4096), dtype=np.int64)

    def add(self, state: Integers, batch: Sample) -> Integers:
        counts = self.empty()
        _kernels.half_octaves(counts, batch.values, np.array(self.columns, dtype=np.int64))
        return state + counts

    def merge(self, left: Integers, right: Integers) -> Integers:
        return left + right

    def finish(self, state: Integers) -> list[Histogram]:
        return [_trim(counts) for counts in state]


def _trim(counts: Integers) -> Histogram:
    used = np.flatnonzero(counts[1:]) + 1
    if not len(used):
        return Histogram(int(counts[0]), np.empty(0), np.empty(0, dtype=np.int64))
    first, last = int(used[0]), int(used[-1])
    edges = (np.arange(first, last + 2, dtype=np.int64) << 51).view(np.float64)
    return Histogram(int(counts[0]), edges, counts[first : last + 1])
