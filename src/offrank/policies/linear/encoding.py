"""Sparse features as coordinates of learnt models."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...errors import UsageError
from ...log.batch import Contexts, Floats, Integers
from . import _kernels


@dataclass(frozen=True)
class Lines:
    """Encoded features, a line per candidate.

    starts: [n + 1]; row i has the lines starts[i] : starts[i + 1]. offsets: [lines + 1]; line l has the
    coordinates indices[offsets[l] : offsets[l + 1]], with `values` beside them.
    """

    starts: Integers
    offsets: Integers
    indices: NDArray[np.int32]
    values: Floats

    def scores(self, weights: Floats) -> Floats:
        """[n, m] score of each candidate, zeros beyond a row's candidates."""
        out = np.zeros((len(self.starts) - 1, int(np.diff(self.starts).max(initial=0))))
        _kernels.padded_scores(self.starts, self.offsets, self.indices, self.values, weights, out)
        return out

    def survey(self, seen: NDArray[np.bool_], differs: NDArray[np.bool_], largest: Floats) -> None:
        """Mark the features that occur, those that differ within a row, and the largest absolute value of each."""
        size = len(seen)
        number, count, total, low, high = np.full(size, -1), np.full(size, -1), *np.zeros((3, size))
        given = (self.starts, self.offsets, self.indices, self.values)
        _kernels.survey(*given, seen, differs, largest, total, number, count, low, high)


@dataclass(frozen=True)
class Encoding:
    """The coordinate of each feature: its index if below 2^bits, else a hash of it.

    - context: [2^bits] features of the context, the same for all candidates of every impression.
    - cross: whether each feature of a candidate is multiplied by each of the context's too; a linear scorer
      ignores the context otherwise.
    - scale: [2^bits] each feature's values are multiplied by it.
    """

    bits: int
    context: NDArray[np.bool_]
    scale: Floats
    cross: bool = False

    @classmethod
    def plain(cls, bits: int) -> Encoding:
        """The default encoding of features.

        Raises:
            UsageError: a table that is too small or too large.
        """
        if not 1 <= bits <= 28:
            raise UsageError(f"bits is {bits}", "give between 1 and 28: weights are a table of 2^bits numbers")
        return cls(bits, np.zeros(1 << bits, dtype=np.bool_), np.ones(1 << bits))

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return 1 << self.bits

    def lines(self, contexts: Contexts) -> Lines:
        """The candidates' encoded features.

        Raises:
            UsageError: the log's features were not read.
        """
        found = contexts.features
        if found is None:
            raise UsageError(
                "a learnt policy needs features of the candidates",
                "use a log with a column `features`, or name it with columns={'features': ...}",
            )
        given = (found.first, contexts.size, found.offsets, found.indices)
        offsets = _kernels.line_offsets(*given, self.bits, self.context, self.cross)
        indices, values = np.empty(offsets[-1], dtype=np.int32), np.empty(offsets[-1])
        how = (self.bits, self.context, self.cross, self.scale)
        _kernels.encode(*given, found.values, *how, offsets, indices, values)
        return Lines(np.concatenate([[0], np.cumsum(contexts.size)]), offsets, indices, values)
