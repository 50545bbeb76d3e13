"""Random samples of a log's rows and keys, the same under any partition and order: those with the smallest hashes."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..log.batch import NO_LIMIT, Contexts, Floats, Integers, LogBatch
from ..log.contexts import contexts_of_rows, joined_contexts, stacked
from ..log.hashing import hashed
from ..log.source import Needs
from .base import Fold, total

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
    smallest hash left out, all ones if none was. kept, cells, each: as in `SampledRowsFold`.
    """

    key: NDArray[np.uint64]
    slates: Integers
    inclusion: Floats
    contexts: Contexts
    read: int = 0
    limit: np.uint64 = NO_LIMIT
    large: int = 0
    kept: int = KEPT
    cells: int = CELLS
    each: str = "rank"

    def __len__(self) -> int:
        return len(self.key)

    def __add__(self, other: SampledRows) -> SampledRows:
        limit = min(self.limit, other.limit)
        counts: dict[str, Any] = {"read": self.read + other.read, "limit": limit, "large": self.large + other.large}
        if not len(self.key) or not len(other.key):
            return replace(self if len(self.key) else other, **counts)
        key, contexts = np.concatenate([self.key, other.key]), joined_contexts([self.contexts, other.contexts])
        slates = stacked([self.slates, other.slates], contexts.slots, -1)
        inclusion = np.concatenate([self.inclusion, other.inclusion])
        both = replace(self, key=key, slates=slates, inclusion=inclusion, contexts=contexts, **counts)
        order, limit = _least(self, key, contexts.size, contexts.length, limit)
        contexts = contexts_of_rows(contexts, order)
        rows: dict[str, Any] = {
            "key": key[order],
            "slates": slates[order, : contexts.slots],
            "inclusion": inclusion[order],
        }
        return replace(both, **rows, contexts=contexts, limit=limit)


@dataclass(frozen=True)
class SampledRowsFold(Fold):
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

    def add(self, part: SampledRows | None, batch: LogBatch) -> SampledRows:
        contexts, limit = batch.contexts, NO_LIMIT if part is None else part.limit
        limit = limit if batch.limits is None else min(limit, batch.limits.of(self))
        key = batch.once("hashed", lambda: hashed(batch.row))
        if self.by is not None:
            key = (hashed(contexts.keys[self.by].view(np.uint64)) & ~_LAST) | (key >> np.uint64(32))
        chosen, large = (key < limit) & bool(self.kept), 0
        if self.each == "rank":  # a row's candidates at all ranks have to fit in memory
            fits = contexts.size * contexts.length <= LARGEST_ROW
            chosen, large = chosen & fits, len(key) - int(np.count_nonzero(fits))
        rows = np.flatnonzero(chosen)  # few, once this or another part is full
        if part is not None and not len(rows):
            return replace(part, read=part.read + len(batch.row), limit=limit, large=part.large + large)
        if len(rows) > self.kept:  # one more than is kept gives the limit
            rows = rows[key[rows] <= np.partition(key[rows], self.kept)[self.kept]]
        order, limit = _least(self, key[rows], contexts.size[rows], contexts.length[rows], limit)
        kept = rows[order]
        some = contexts_of_rows(contexts, kept, self.wanted)
        slots = int(some.length.max(initial=0))
        found = key[kept], batch.slates[kept, :slots], batch.inclusion[kept], some
        rule = self.kept, self.cells, self.each
        whole: SampledRows = total(part, SampledRows(*found, len(batch.row), limit, large, *rule))
        if batch.limits is not None:
            batch.limits.note(self, key[rows], self.kept + 1, whole.limit)
        return whole


def _least(
    rule: SampledRows | SampledRowsFold, key: NDArray[np.uint64], size: Integers, length: Integers, limit: np.uint64
) -> tuple[Integers, np.uint64]:
    """The rows that are kept, at least one, in the order of their keys, and the smallest key left out."""
    order = np.argsort(key, kind="stable")
    each = (size * length if rule.each == "rank" else size)[order]
    fits = max(int((np.cumsum(each)[: rule.kept] <= rule.cells).sum()), 1)
    fits = min(fits, int((key < limit).sum()))
    return order[:fits], min(limit, key[order[fits]]) if fits < len(order) else limit


@dataclass(frozen=True)
class Sketch:
    """The different keys of a log with the smallest hashes, each with what all of its rows have.

    A bottom-k sketch (Cohen and Kaplan 2007).
    key [n]: hashes, ascending. sums [n, d]: over the rows. least, greatest [n, m]: of the values of the rows. kept:
    how many keys there are at most.
    """

    key: NDArray[np.uint64]
    sums: NDArray[Any]
    least: NDArray[Any]
    greatest: NDArray[Any]
    kept: int

    def __add__(self, other: Sketch) -> Sketch:
        columns = ("key", "sums", "least", "greatest")
        both = (np.concatenate([vars(self)[name], vars(other)[name]]) for name in columns)
        return sketch(self.kept, *both)


def sketch(kept: int, keys: NDArray[np.uint64], sums: NDArray[Any], *ends: NDArray[Any]) -> Sketch:
    """The sketch of some rows [r]: hashes of their keys, what is summed [r, d], and `least` and `greatest` [r, m]."""
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    first = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])[: len(keys)])
    least, greatest = ends or (np.empty((len(keys), 0)),) * 2
    columns = (np.add, sums), (np.minimum, least), (np.maximum, greatest)
    sums, least, greatest = (way.reduceat(each[order], first)[:kept] for way, each in columns)
    return Sketch(keys[first][:kept], sums, least, greatest, kept)


def bound(batch: LogBatch, fold: Hashable, part: Any, kept: int) -> np.uint64:
    """The largest key that a fold may keep of a batch: that of its own part, or of other parts."""
    own = NO_LIMIT if part is None else _own_bound(part.key, kept)
    return own if batch.limits is None else min(own, batch.limits.of(fold))


def added(batch: LogBatch, fold: Hashable, part: Any, found: Any, kept: int) -> Any:
    """The sum of a part and of what was found in a batch, each with `key` [n] ascending; other parts are told of it."""
    whole = total(part, found)
    if batch.limits is not None:
        batch.limits.note(fold, found.key, kept, _own_bound(whole.key, kept))
    return whole


def _own_bound(key: NDArray[np.uint64], kept: int) -> np.uint64:
    """The largest of the keys of a part that keeps so many, if it is full."""
    return key[-1] if len(key) == kept else NO_LIMIT
