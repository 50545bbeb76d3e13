"""Log-spaced histograms of columns, such as weights, by sign."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..log.batch import Floats, Integers
from . import _kernels
from .base import Fold, Sample

_BINS = 4096  # of one sign


@dataclass(frozen=True)
class Histogram:
    """Counts of rows by value, in log-spaced bins.

    zeros: rows of value zero. counts: [b] rows with edges[i] <= value < edges[i + 1].
    negative_counts: [c] rows with negative_edges[i] <= -value < negative_edges[i + 1]; empty where none is negative.
    """

    zeros: int
    edges: Floats
    counts: Integers
    negative_edges: Floats
    negative_counts: Integers

    @classmethod
    def of(cls, sums: Floats) -> Histogram:
        """That of one column, from its line of the sums of a `HistogramFold`."""
        counts = sums.astype(np.int64)
        return cls(int(counts[0] + counts[_BINS]), *_trim(counts[:_BINS]), *_trim(counts[_BINS:]))


@dataclass(frozen=True)
class HistogramFold(Fold):
    """Counts rows of the chosen columns in bins with edges 2^e and 1.5 * 2^e on either side of zero."""

    columns: tuple[int, ...]

    def of(self, batch: Sample) -> Floats:
        counts = np.zeros((len(self.columns), 2 * _BINS))
        _kernels.half_octaves(counts, batch.columns, np.array(self.columns, dtype=np.int64))
        return counts


def _trim(counts: Integers) -> tuple[Floats, Integers]:
    """Edges and counts of the bins from the first to the last that is not empty; bin 0 is that of zero."""
    used = np.flatnonzero(counts[1:]) + 1
    if not len(used):
        return np.empty(0), np.empty(0, dtype=np.int64)
    first, last = int(used[0]), int(used[-1])
    edges = (np.arange(first, last + 2, dtype=np.int64) << 51).view(np.float64)
    return edges, counts[first : last + 1]
