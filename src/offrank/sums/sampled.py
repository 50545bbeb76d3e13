"""A random sample of a log's rows, the same under any partition and order: those with the smallest hashes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..log.batch import NO_LIMIT, Contexts, Floats, Integers, LogBatch
from ..log.contexts import joined, needed, stacked
from ..log.hashing import hashed
from ..log.source import Needs

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
class SampledRowsFold:
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
            return replace(state, read=state.read + len(batch))
        key, limit = self._keys(batch), min(state.limit, batch.limits.of(self))
        fine = self._not_too_large(batch)
        rows = np.flatnonzero((key < limit) & fine)  # few, once this or another part is full
        large = len(batch) - int(np.count_nonzero(fine))
        if not len(rows):
            return replace(state, read=state.read + len(batch), limit=limit, large=state.large + large)
        if len(rows) > self.kept:  # one more than is kept gives the limit
            rows = rows[key[rows] <= np.partition(key[rows], self.kept)[self.kept]]
        rows = rows[np.argsort(key[rows], kind="stable")]
        batch.limits.note(self, key[rows], self.kept + 1)
        fits = self._fits(batch.contexts.size[rows], batch.contexts.length[rows])
        limit = key[rows[fits]] if fits < len(rows) else limit
        rows = rows[:fits]
        contexts = joined([needed(batch.contexts, self.wanted).take(rows)])
        slates = batch.slates[rows, : contexts.slots]
        found = SampledRows(key[rows], slates, batch.inclusion[rows], contexts, len(batch), limit, large)
        merged = self.merge(state, found)
        batch.limits.lower(self, merged.limit)
        return merged

    def merge(self, left: SampledRows, right: SampledRows) -> SampledRows:
        read, limit, large = left.read + right.read, min(left.limit, right.limit), left.large + right.large
        if not len(left) or not len(right):
            return replace(left if len(left) else right, read=read, limit=limit, large=large)
        key = np.concatenate([left.key, right.key])
        order = np.argsort(key, kind="stable")
        contexts = joined([left.contexts, right.contexts])
        fits = min(self._fits(contexts.size[order], contexts.length[order]), int((key < limit).sum()))
        if fits < len(order):
            limit = min(limit, key[order[fits]])
        order = order[:fits]
        slates = stacked([left.slates, right.slates], contexts.slots, -1)[order]
        inclusion = np.concatenate([left.inclusion, right.inclusion])[order]
        contexts = joined([contexts.take(order)])
        return SampledRows(key[order], slates[:, : contexts.slots], inclusion, contexts, read, limit, large)

    def finish(self, state: SampledRows) -> SampledRows:
        return state

    def _keys(self, batch: LogBatch) -> NDArray[np.uint64]:
        key = batch.once("hashed", lambda: hashed(batch.row))
        if self.by is None:
            return key
        return (hashed(batch.contexts.keys[self.by].view(np.uint64)) & ~_LAST) | (key >> np.uint64(32))

    def _not_too_large(self, batch: LogBatch) -> NDArray[np.bool_]:
        """Whether a row's candidates at all ranks fit in memory [n]. No partition of the log changes it."""
        if self.each == "candidate":
            return np.ones(len(batch), np.bool_)
        return np.asarray(batch.contexts.size * batch.contexts.length <= LARGEST_ROW)

    def _fits(self, size: Integers, length: Integers) -> int:
        """The number of these rows that are kept, at least one."""
        each = size * length if self.each == "rank" else size
        return max(int((np.cumsum(each)[: self.kept] <= self.cells).sum()), 1)
