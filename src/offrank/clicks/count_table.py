"""A hash table of how often each document was shown and clicked in each cell; it grows with these, not with the log."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..log.batch import Floats, Integers, LogBatch
from ..log.hashing import distinct_codes
from ..running.memory import available, refuse_without_room
from ..sums.counts import join
from ._kernels_counting import add_blocks, add_sessions, find_slots
from .sessions import FEWER

_BLOCK = 8
"""Adjacent cells of a document whose counts are together."""
_WIDTHS = (np.uint8, np.uint16, np.int32, np.float64)
"""What counts are held in: the first in which they fit."""
_WHOLE = tuple(map(np.dtype, (np.int16, np.int32, np.float64)))
"""What sorted counts are held in: the first of which they fill no more than half, or the last."""
_SORTED = 1 << 14
"""Blocks that are sorted at once."""
_SMALL = 1 << 18
"""Blocks up to which room is doubled; then it grows by an eighth."""
_DOCUMENT, _ENTRY = 130, (10, 10, 16, 44)
"""Bytes of memory that learning from counts takes for each document, and for each of its cells by `_WIDTHS`."""


class CountTable:
    """A hash table of (query, item, cell) -> shown, clicked. Two tables are equal if they hold the same counts.

    Memory: some 50 to 60 bytes per document and eight cells that it was seen in where no count is above 255, up to 110
    where counts are larger, 190 where weights are no whole numbers. blocks: room for so many. held: keys and counts of
    the blocks that it begins with.
    """

    def __init__(self, blocks: int = 512, held: tuple[Integers, Floats] | None = None) -> None:
        self._slots: NDArray[np.int32] = np.empty(0, np.int32)
        self._keys: Integers = np.empty((blocks, 3), np.int64)
        self._counts: NDArray[Any] = np.zeros((blocks, _BLOCK, 2), _WIDTHS[0])
        self._used, self._most = 0, 0.0
        self._make_room(0)
        if held is not None:
            self.add_blocks(*held)

    @property
    def blocks(self) -> int:
        """The blocks that there is room for."""
        return len(self._keys)

    @property
    def held(self) -> tuple[Integers, Floats]:
        """(keys, counts) of the blocks in use: [blocks, 3] and [blocks, 8, 2]."""
        return self._keys[: self._used], self._counts[: self._used]

    def add(self, batch: LogBatch, by: str | None, *, browsing: bool, base: Integers | None = None) -> CountTable:
        """This table with the sessions of a batch added. base: [n] added to the cells of each row, multiples of 8."""
        contexts, weight, row = batch.contexts, 1.0 / batch.inclusion, 0
        query = np.zeros(len(batch), np.int64) if by is None else contexts.keys[by]
        base = np.zeros(len(batch), np.int64) if base is None else base
        arrays = (contexts.candidates, batch.slates, batch.clicks, query, weight, browsing, base)
        if (weight != 1).any():
            self._widen(np.inf)
        while row < len(batch):
            self._make_room(batch.slates.shape[1])
            state = self._used, self._most, _limit(self._counts.dtype)
            self._used, self._most, row = add_sessions(self._slots, self._keys, self._counts, *state, row, *arrays)
            self._widen(self._most + 1)
        return self

    def add_blocks(self, keys: Integers, counts: NDArray[Any]) -> CountTable:
        """This table with more blocks added.

        Raises:
            ValueError: these are no blocks.
        """
        if keys.shape != (len(counts), 3) or counts.shape[1:] != (_BLOCK, 2):
            raise ValueError(f"blocks of counts have the shapes {keys.shape} and {counts.shape}")
        self._make_room(len(keys))
        more = float(counts[:, :, 0].max(initial=0))
        self._widen(self._most + more if counts.dtype.kind != "f" else np.inf)
        self._most += more
        counts = counts.astype(self._counts.dtype, copy=False)
        self._used = add_blocks(self._slots, self._keys, self._counts, self._used, keys, counts)
        return self

    def entries(
        self, *, grouped: bool = True, last: bool = False
    ) -> tuple[tuple[Integers, Integers, Integers], list[NDArray[Any]]]:
        """((key, query and item [documents], by key), [c] document by number, cell, shown and clicked, sorted).

        grouped: whether a key is of query and item, or the item. last: nothing is left in the table, for more room.
        """
        self._slots = np.empty(0, np.int32)  # until more is added
        self._keys, self._counts = (_resized(one, self._used) for one in (self._keys, self._counts))
        block, query, item = self._keys.T
        known = join(query, item) if grouped else item
        order = np.lexsort((block, known)).astype(np.int32)
        known = known[order]
        new = np.append(True, known[1:] != known[:-1])[: len(order)]
        found = self._entries(order, np.cumsum(new, dtype=np.int32) - np.int32(1))
        first = order[new]
        keys = known[new], query[first], item[first]
        if last:
            self._keys, self._counts, self._used = np.empty((0, 3), np.int64), np.zeros((0, _BLOCK, 2), _WIDTHS[0]), 0
        return keys, found

    def _entries(self, order: NDArray[np.int32], number: NDArray[np.int32]) -> list[NDArray[Any]]:
        """[c] document, cell, shown and clicked of the blocks in an order; number: of each one's document."""
        keys, counts = self.held
        whole = _narrowest(self._most if counts.dtype.kind != "f" else np.inf)
        cells = _narrowest((keys[:, 0].max(initial=0) + 1) * _BLOCK)
        size = sum(np.count_nonzero(counts[at : at + _SORTED, :, 0]) for at in range(0, len(order), _SORTED))
        kinds: tuple[Any, ...] = (np.int32, cells if cells.kind != "f" else np.int64, whole, whole)
        found, end = [np.empty(size, kind) for kind in kinds], 0
        for at in range(0, len(order), _SORTED):
            rows = order[at : at + _SORTED]
            met = counts[rows, :, 0] > 0
            block, cell = np.nonzero(met)
            part = number[at + block], keys[rows[block], 0] * _BLOCK + cell, *counts[rows][met].T
            for column, values in zip(found, part, strict=True):
                column[end : end + len(block)] = values
            end += len(block)
        return found

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CountTable) or self._used != other._used:
            return False
        (keys, mine), (others, theirs) = self.entries(), other.entries()
        both = zip((*keys, *mine), (*others, *theirs), strict=True)
        return all(a.shape == b.shape and np.allclose(a, b, rtol=1e-12, atol=0) for a, b in both)

    __hash__ = None  # type: ignore[assignment]  # it changes while it counts

    def _widen(self, most: float) -> None:
        """Hold the counts in numbers that go up to `most`."""
        if most > _limit(self._counts.dtype):
            self._counts = self._counts.astype(next(kind for kind in _WIDTHS if most <= _limit(np.dtype(kind))))

    def _make_room(self, more: int) -> None:
        """Enlarge the table, where it is, until it has room for `more` blocks."""
        if self._used + more > self.blocks:
            blocks = max(self._used + more, self.blocks + self.blocks // (1 if self.blocks < _SMALL else 8))
            self._refuse_without_room(blocks)
            self._keys, self._counts = (_resized(one, blocks) for one in (self._keys, self._counts))
        if 4 * self.blocks > 3 * len(self._slots):
            self._slots = np.empty(0, np.int32)  # before there are others
            self._slots = np.full(1 << (self.blocks + self.blocks // 2).bit_length(), -1, np.int32)
            find_slots(self._slots, self._keys, self._used)

    def _refuse_without_room(self, blocks: int) -> None:
        """Raise if so many blocks are too many to learn from: at most, or else with as many cells and documents each.

        Raises:
            LogError: they are.
        """
        of_entry = _ENTRY[_WIDTHS.index(self._counts.dtype.type)]
        held = self._slots.nbytes + self._keys.nbytes + self._counts.nbytes
        if blocks * (_DOCUMENT + _BLOCK * of_entry) - held <= available():
            return
        seen, entries, every = [np.empty(0, np.int64)], 0, np.uint64(1 if self._used < _SMALL else 64)
        for at in range(0, self._used, _SORTED):
            rows = slice(at, min(at + _SORTED, self._used))
            known = join(self._keys[rows, 1], self._keys[rows, 2])
            seen.append(known[known.view(np.uint64) % every == 0])
            entries += int(np.count_nonzero(self._counts[rows, :, 0]))
        documents = int(every) * len(distinct_codes(np.concatenate(seen)))
        needed = (_DOCUMENT * documents + of_entry * entries) * blocks / max(self._used, 1) - held
        refuse_without_room(needed, f"{documents:,} pairs of query and item, and more,", FEWER)


def _resized(array: NDArray[Any], blocks: int) -> NDArray[Any]:
    """An array with more or fewer blocks, where it is, unless its memory is that of another, as of a process."""
    array = array if array.flags.owndata else array.copy()
    array.resize((blocks, *array.shape[1:]), refcheck=False)
    return array


def _limit(kind: np.dtype[Any]) -> float:
    return np.inf if kind.kind == "f" else float(np.iinfo(kind).max)


def _narrowest(most: float) -> np.dtype[Any]:
    """The narrowest kind for numbers up to `most` that leaves room for sums of two."""
    return next(kind for kind in _WHOLE if 2 * most <= _limit(kind))
