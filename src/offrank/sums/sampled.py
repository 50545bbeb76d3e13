"""Random samples of a log's rows and keys, the same under any partition and order: those with the smallest hashes.

Rows are told apart by what they say. Where many say the same, those of the smallest hashes would be copies of a few:
then their numbers tell them apart, and the sample is another one in another order of the log.
"""

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
from . import _kernels as kernels
from .base import Fold, total

KEPT = 8192
"""Number of rows kept: enough to detect counts that are a few per cent off."""
CELLS = 600_000
"""Largest number of candidate-rank pairs in them: computing their probabilities takes half a second."""
LARGEST_ROW = 1_000_000
"""Largest number of candidate-rank pairs of a sampled row: those of 10,000 candidates at 10,000 ranks fill 800 MB."""
COPIES = 0.02
"""Share of the sampled rows that may say what another one says."""
Keys = NDArray[np.uint64]
_SAID = "content"
SAID, EQUAL, NUMBERED = "rows by content", "equal rows", "rows by number"
"""The lines of rows that a bootstrap draws: by what rows say, also by what they earned, and by their numbers."""
_LAST = np.uint64(0xFFFFFFFF)


def row_contents(batch: LogBatch, drawn_by: Needs | None = None) -> Keys:
    """[n] hashes of what rows say of their context: the probabilities and the scores of what was shown.

    Not of ids of items, under which the same log would be another, nor of outcomes, which nothing random may follow.
    drawn_by: the columns of the logging policy, which alone count, so that it does not matter what else is read.
    """
    named = (_SAID, drawn_by)
    if named not in batch.known:
        key, ranks = batch.contexts.length.astype(np.uint64), np.arange(batch.slates.shape[1])
        names, roles = {*batch.contexts.scores}, {*batch.shown.written}
        if drawn_by is not None:
            names, roles = names & drawn_by.scores, roles & (drawn_by.roles | drawn_by.written)
        told = [(batch.slates, batch.contexts.scores[name]) for name in sorted(names)]
        for one in (one for one in (batch.shown.written[role] for role in sorted(roles)) if one.ndim < 3):
            values = one if one.ndim == 2 else one[:, None]
            told.append((np.where(batch.slates >= 0, ranks, -1)[:, : values.shape[1]], values))
        for places, values in told:
            kernels.with_numbers(key, places, np.ascontiguousarray(values).view(np.uint64))
        batch.known[named] = hashed(key)
    found: Keys = batch.known[named]
    return found


def row_codes(batch: LogBatch, drawn_by: Needs | None = None) -> dict[str, Keys]:
    """[n] codes of rows by what they say, as in `row_contents`, and of those that were rewarded alike too."""
    said = row_contents(batch, drawn_by)
    alike, ranks = said.copy(), np.where(batch.slates >= 0, np.arange(batch.slates.shape[1]), -1)
    for values in (batch.clicks, None if batch.outcome is None else batch.outcome[:, None]):
        if values is not None:
            kernels.with_numbers(alike, ranks[:, : values.shape[1]], np.ascontiguousarray(values).view(np.uint64))
    return {SAID: said, EQUAL: alike}


@dataclass(frozen=True)
class SampledRows:
    """Rows in the order of their hashes: key [n], of one key by tie [n]; slates [n, k], inclusion [n], and contexts.

    read: number of rows read. large: of these, those of more than `LARGEST_ROW` cells, which are never kept. limit: the
    smallest hash left out, all ones if none was. kept, cells, each: as in `SampledRowsFold`.
    """

    key: NDArray[np.uint64]
    tie: NDArray[np.uint64]
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
        rows: dict[str, Any] = {
            name: np.concatenate([vars(self)[name], vars(other)[name]]) for name in ("key", "tie", "inclusion")
        }
        contexts = joined_contexts([self.contexts, other.contexts])
        slates = stacked([self.slates, other.slates], contexts.slots, -1)
        order, counts["limit"] = _least(self, rows["key"], rows["tie"], contexts.size, contexts.length, limit)
        contexts, rows = contexts_of_rows(contexts, order), {name: one[order] for name, one in rows.items()}
        return replace(self, slates=slates[order, : contexts.slots], contexts=contexts, **rows, **counts)


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

    def add(self, part: dict[str, Any] | None, batch: LogBatch) -> dict[str, Any]:
        """The sum of two samples, by content and by number: which of them is taken, the whole log tells."""
        found, number = dict(part or {}), batch.once("hashed", lambda: hashed(batch.row))
        contexts, limits, said = batch.contexts, batch.limits, row_contents(batch)
        keys = said, number
        if self.by is not None:
            group = hashed(contexts.keys[self.by].view(np.uint64)) & ~_LAST
            keys = group | (said >> np.uint64(32)), group | (number >> np.uint64(32))
        samples = (_SAID, (self, _SAID), keys[0], number), ("number", self, keys[1], said)
        for name, fold, key, tie in samples:
            known, limit = found.get(name), NO_LIMIT if limits is None else limits.of(fold)
            limit = limit if known is None else min(limit, known.limit)
            chosen, large = (key < limit) & bool(self.kept), 0
            if self.each == "rank":  # a row's candidates at all ranks have to fit in memory
                fits = contexts.size * contexts.length <= LARGEST_ROW
                chosen, large = chosen & fits, len(key) - int(np.count_nonzero(fits))
            rows = np.flatnonzero(chosen)  # few, once this or another part is full
            if known is not None and not len(rows):
                found[name] = replace(known, read=known.read + len(key), limit=limit, large=known.large + large)
                continue
            if len(rows) > self.kept:  # one more than is kept gives the limit
                rows = rows[key[rows] <= np.partition(key[rows], self.kept)[self.kept]]
            order, limit = _least(self, key[rows], tie[rows], contexts.size[rows], contexts.length[rows], limit)
            kept = rows[order]
            some = contexts_of_rows(contexts, kept, self.wanted)
            slots = int(some.length.max(initial=0))
            held = key[kept], tie[kept], batch.slates[kept, :slots], batch.inclusion[kept], some
            found[name] = total(known, SampledRows(*held, len(key), limit, large, self.kept, self.cells, self.each))
            if limits is not None:
                limits.note(fold, key[rows], self.kept + 1, found[name].limit)
        return found

    def result(self, part: dict[str, Any]) -> Any:
        """The sampled rows: by what they say, unless many say the same, of a few contents or of one with many rows."""
        said: SampledRows = part[_SAID]
        numbered: SampledRows = part["number"]
        rows = len(said.key)
        copies = (np.count_nonzero(one[1:] == one[:-1]) for one in (said.key, np.sort(numbered.tie)))
        return numbered if 2 * rows < len(numbered.key) or sum(copies) > COPIES * rows else said


def _least(
    rule: SampledRows | SampledRowsFold, key: Keys, tie: Keys, size: Integers, length: Integers, limit: np.uint64
) -> tuple[Integers, np.uint64]:
    """The rows that are kept, in the order of their keys, and the smallest key left out."""
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    if (ordered[1:] == ordered[:-1]).any():
        order = np.lexsort((tie, key))
    each = (size * length if rule.each == "rank" else size)[order]
    fits = max(int((np.cumsum(each)[: rule.kept] <= rule.cells).sum()), 1)
    limit = min(limit, key[order[fits]]) if fits < len(order) else limit
    return order[: int(np.searchsorted(key[order], limit))], limit  # rows of one key are kept or left out together


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
