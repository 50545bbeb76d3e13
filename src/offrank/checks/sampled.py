"""A random sample of a log's rows, the same under any partition and order: those whose hashes are least."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..log.batch import Contexts, Floats, Integers, LogBatch, SparseFeatures
from ..log.hashing import hashed
from ..log.source import Needs

KEPT = 8192
"""Rows that are kept at most: enough to see counts that are a few per cent off."""
CELLS = 600_000
"""Pairs of a candidate and a rank that are kept at most: half a second to work out their probabilities."""
_ALL = np.uint64(2**64 - 1)


@dataclass(frozen=True)
class SampledRows:
    """Rows in the order of their hashes: key [n], slates [n, k] of candidate indices, inclusion [n], and contexts.

    limit: the least hash that was left out, all ones where none was.
    """

    key: NDArray[np.uint64]
    slates: Integers
    inclusion: Floats
    contexts: Contexts
    limit: np.uint64 = _ALL

    def __len__(self) -> int:
        return len(self.key)


def nothing() -> SampledRows:
    """No row at all."""
    none = np.zeros(0, np.int64)
    contexts = Contexts(np.zeros((0, 0), np.int64), none, none)
    return SampledRows(np.zeros(0, np.uint64), np.zeros((0, 0), np.int64), np.zeros(0), contexts)


@dataclass(frozen=True)
class SampledRowsFold:
    """Keeps the rows of least hash, with what a policy reads of them: `kept` rows, `cells` pairs of item and rank."""

    read: Needs
    kept: int = KEPT
    cells: int = field(default=CELLS, kw_only=True)

    def empty(self) -> SampledRows:
        return nothing()

    def add(self, state: SampledRows, batch: LogBatch) -> SampledRows:
        key = hashed(batch.row)
        rows = np.flatnonzero(key < state.limit)  # few, once the state has filled
        if not len(rows):
            return state
        if len(rows) > self.kept:  # one more than is kept: it is the limit
            rows = rows[np.argpartition(key[rows], self.kept)[: self.kept + 1]]
        rows = rows[np.argsort(key[rows], kind="stable")]
        fits = self._fits(batch.contexts.size[rows], batch.contexts.length[rows])
        limit = key[rows[fits]] if fits < len(rows) else state.limit
        rows = rows[:fits]
        contexts = self._read(batch.contexts).take(rows)
        found = SampledRows(key[rows], batch.slates[rows, : contexts.slots], batch.inclusion[rows], contexts, limit)
        return self.merge(state, replace(found, contexts=_joined([contexts])))

    def merge(self, left: SampledRows, right: SampledRows) -> SampledRows:
        if not len(left) or not len(right):
            return right if not len(left) else left
        key = np.concatenate([left.key, right.key])
        order = np.argsort(key, kind="stable")
        contexts = _joined([left.contexts, right.contexts])
        limit = min(left.limit, right.limit)
        fits = min(self._fits(contexts.size[order], contexts.length[order]), int((key < limit).sum()))
        if fits < len(order):
            limit = min(limit, key[order[fits]])
        order = order[:fits]
        slates = _stacked([left.slates, right.slates], contexts.slots, -1)[order]
        inclusion = np.concatenate([left.inclusion, right.inclusion])[order]
        contexts = _joined([contexts.take(order)])
        return SampledRows(key[order], slates[:, : contexts.slots], inclusion, contexts, limit)

    def finish(self, state: SampledRows) -> SampledRows:
        return state

    def _fits(self, size: Integers, length: Integers) -> int:
        """How many of these rows are kept, the first in any case."""
        return max(int((np.cumsum(size * length)[: self.kept] <= self.cells).sum()), 1)

    def _read(self, contexts: Contexts) -> Contexts:
        """What the policy reads of them."""
        return replace(
            contexts,
            scores={name: contexts.scores[name] for name in self.read.scores if name in contexts.scores},
            rankings={name: contexts.rankings[name] for name in self.read.rankings if name in contexts.rankings},
            keys={name: contexts.keys[name] for name in self.read.keys if name in contexts.keys},
            features=contexts.features if "features" in self.read.roles else None,
        )


def _joined(parts: Sequence[Contexts]) -> Contexts:
    """Rows of several pieces one after another, padded to their widest row and no wider."""
    first = parts[0]
    widest = max(int(part.size.max(initial=0)) for part in parts)
    rankings = {name: [_unpadded(part.rankings[name]) for part in parts] for name in first.rankings}
    features = [(part.features, part.size) for part in parts if part.features is not None]
    return Contexts(
        _stacked([part.candidates for part in parts], widest, 0),
        np.concatenate([part.size for part in parts]),
        np.concatenate([part.length for part in parts]),
        {name: _stacked([part.scores[name] for part in parts], widest, 0.0) for name in first.scores},
        {name: _stacked(each, max(one.shape[1] for one in each), -1) for name, each in rankings.items()},
        {name: np.concatenate([part.keys[name] for part in parts]) for name in first.keys},
        features=_lines(features) if features else None,
    )


def _stacked(parts: Sequence[Any], width: int, pad: float) -> Any:
    """[n, width] the rows of several arrays."""
    filled = np.full((sum(map(len, parts)), width), pad, parts[0].dtype)
    first = 0
    for part in parts:
        filled[first : first + len(part), : part.shape[1]] = part[:, :width]
        first += len(part)
    return filled


def _unpadded(ranking: Integers) -> Integers:
    """Without columns at its end that are pads in every row."""
    used = np.flatnonzero((ranking != -1).any(axis=0))
    return ranking[:, : used[-1] + 1 if len(used) else 0]


def _lines(parts: Sequence[tuple[SparseFeatures, Integers]]) -> SparseFeatures:
    """The lines of these rows alone, of several pieces one after another. Beside each piece: candidates per row."""
    first, widths, indices, values = [], [], [], []
    for known, size in parts:
        line = np.repeat(known.first - np.cumsum(size) + size, size) + np.arange(size.sum())
        width = known.offsets[line + 1] - known.offsets[line]
        place = np.repeat(known.offsets[line] - np.cumsum(width) + width, width) + np.arange(width.sum())
        first.append(size)
        widths.append(width)
        indices.append(known.indices[place])
        values.append(known.values[place])
    sizes = np.concatenate(first)
    offsets = np.concatenate([[0], np.cumsum(np.concatenate(widths))])
    return SparseFeatures(np.cumsum(sizes) - sizes, offsets, np.concatenate(indices), np.concatenate(values))
