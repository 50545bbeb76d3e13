"""A random sample of a log's rows, the same under any partition and order: those with the smallest hashes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..log.batch import NO_LIMIT, Contexts, Floats, Integers, LogBatch
from ..log.contexts import joined, rows_of, stacked
from ..log.hashing import hashed
from ..log.source import Needs
from .base import Fold

KEPT = 8192
"""Number of rows kept: enough to detect counts that are a few per cent off."""
CELLS = 600_000
"""Largest number of candidate-rank pairs in them: computing their probabilities takes half a second."""
LARGEST_ROW = 1_000_000
"""Largest number of candidate-rank pairs of a sampled row: those of 10,000 candidates at 10,000 ranks fill 800 MB."""
_LAST = np.uint64(0xFFFFFFFF)


@dataclass(frozen=True)
class SampledRows:
    """Rows in the order of their hashes: key [n], slates [n, k] of candidate indices, inclusion [n], and contexts.

    read: number of rows read. large: of these, those of more than `LARGEST_ROW` cells, which are never kept. limit: the
    smallest hash left out, all ones if none was.
    """

    key: NDArray[np.uint64]
    slates: Integers
    inclusion: Floats
    contexts: Contexts
    read: int = 0
    limit: np.uint64 = NO_LIMIT
    large: int = 0

    def __len__(self) -> int:
        return len(self.key)


@dataclass(frozen=True)
class SampledRowsFold(Fold[SampledRows, LogBatch, Any]):
    """Keeps the rows with the smallest hashes, at most `kept` rows and `cells` cells, none of more than `LARGEST_ROW`.

    wanted: the columns of the contexts to keep. each: whether a cell is a candidate, or a candidate at a rank. by: one
    of its keys, for rows of whole groups of equal keys: the hash then begins with that of the key, and ends with that
    of the row, 32 bits each.
    """

    wanted: Needs
    kept: int = KEPT
    cells: int = field(default=CELLS, kw_only=True)
    each: Literal["candidate", "rank"] = field(default="rank", kw_only=True)
    by: str | None = field(default=None, kw_only=True)

    def empty(self) -> SampledRows:
        none = np.zeros(0, np.int64)
        contexts = Contexts(np.zeros((0, 0), np.int64), none, none)
        return SampledRows(np.zeros(0, np.uint64), np.zeros((0, 0), np.int64), np.zeros(0), contexts)

    def add(self, state: SampledRows, batch: LogBatch) -> SampledRows:
        if not self.kept:
            return replace(state, read=state.read + len(batch.row))
        contexts, read, limit = batch.contexts, state.read + len(batch.row), state.limit
        limit = limit if batch.limits is None else min(limit, batch.limits.of(self))
        key = batch.once("hashed", lambda: hashed(batch.row))
        if self.by is not None:
            key = (hashed(contexts.keys[self.by].view(np.uint64)) & ~_LAST) | (key >> np.uint64(32))
        chosen, large = key < limit, 0
        if self.each == "rank":  # a row's candidates at all ranks have to fit in memory
            fits = contexts.size * contexts.length <= LARGEST_ROW
            chosen, large = chosen & fits, len(key) - int(np.count_nonzero(fits))
        rows = np.flatnonzero(chosen)  # few, once this or another part is full
        if not len(rows):
            return replace(state, read=read, limit=limit, large=state.large + large)
        if len(rows) > self.kept:  # one more than is kept gives the limit
            rows = rows[key[rows] <= np.partition(key[rows], self.kept)[self.kept]]
        order, limit = self._kept(key[rows], contexts.size[rows], contexts.length[rows], limit)
        kept = rows[order]
        some = rows_of(contexts, kept, self.wanted)
        slots = int(some.length.max(initial=0))
        found = key[kept], batch.slates[kept, :slots], batch.inclusion[kept], some
        merged = self.merge(state, SampledRows(*found, len(batch.row), limit, large))
        if batch.limits is not None:
            batch.limits.note(self, key[rows], self.kept + 1, merged.limit)
        return merged

    def merge(self, left: SampledRows, right: SampledRows) -> SampledRows:
        read, limit, large = left.read + right.read, min(left.limit, right.limit), left.large + right.large
        if not len(left.key) or not len(right.key):
            return replace(left if len(left.key) else right, read=read, limit=limit, large=large)
        key, contexts = np.concatenate([left.key, right.key]), joined([left.contexts, right.contexts])
        order, limit = self._kept(key, contexts.size, contexts.length, limit)
        slates = stacked([left.slates, right.slates], contexts.slots, -1)[order]
        inclusion = np.concatenate([left.inclusion, right.inclusion])[order]
        contexts = rows_of(contexts, order)
        return SampledRows(key[order], slates[:, : contexts.slots], inclusion, contexts, read, limit, large)

    def _kept(
        self, key: NDArray[np.uint64], size: Integers, length: Integers, limit: np.uint64
    ) -> tuple[Integers, np.uint64]:
        """The rows that are kept, at least one, in the order of their keys, and the smallest key left out."""
        order = np.argsort(key, kind="stable")
        each = (size * length if self.each == "rank" else size)[order]
        fits = max(int((np.cumsum(each)[: self.kept] <= self.cells).sum()), 1)
        fits = min(fits, int((key < limit).sum()))
        return order[:fits], min(limit, key[order[fits]]) if fits < len(order) else limit
