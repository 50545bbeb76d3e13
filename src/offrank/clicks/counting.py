"""Fast counts of documents: a hash table that grows with the distinct documents and cells, not with the log."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..log.batch import Floats, Integers, LogBatch
from . import _kernels_counting

_BLOCK = 8


class Entries(NamedTuple):
    """[c] each: the counts, one entry per document and cell, with the codes of the document's query and item."""

    document: Integers
    cell: Integers
    shown: Floats
    clicked: Floats
    query: Integers
    item: Integers


class CountTable:
    """A hash table of (document, cell) -> shown, clicked. Two tables are equal if they hold the same counts.

    Memory: some 160 to 380 bytes per document and eight cells that it was seen in. blocks: room for so many. held:
    keys and counts of the blocks that it begins with.
    """

    def __init__(self, blocks: int = 512, held: tuple[Integers, Floats] | None = None) -> None:
        self._slots: NDArray[np.int32] = np.full(2 * blocks, -1, np.int32)
        self._keys: Integers = np.empty((blocks, 4), np.int64)
        self._counts: Floats = np.zeros((blocks, _BLOCK, 2))
        self._used = 0
        if held is not None:
            self._add_blocks(*held)

    @property
    def blocks(self) -> int:
        """The blocks that there is room for."""
        return len(self._keys)

    @property
    def held(self) -> tuple[Integers, Floats]:
        """(keys, counts) of the blocks in use: [blocks, 4] and [blocks, 8, 2]."""
        return self._keys[: self._used], self._counts[: self._used]

    def add(self, batch: LogBatch, by: str | None, *, browsing: bool, base: Integers | None = None) -> CountTable:
        """This table with the sessions of a batch added. base: [n] added to the cells of each row, multiples of 8."""
        contexts, weight = batch.contexts, 1.0 / batch.inclusion
        query = np.zeros(len(batch), np.int64) if by is None else contexts.keys[by]
        base = np.zeros(len(batch), np.int64) if base is None else base
        arrays = (contexts.candidates, batch.slates, batch.clicks, query, by is not None, weight, browsing, base)
        row = 0
        while row < len(batch):
            self._make_room(batch.slates.shape[1])
            self._used, row = _kernels_counting.add_sessions(*self._arrays, self._used, row, *arrays)
        return self

    def merged(self, other: CountTable) -> CountTable:
        """A new table with the counts of both."""
        return CountTable(self.blocks, self.held)._add_blocks(*other.held)

    def entries(self) -> Entries:
        """The counts, sorted by document and cell."""
        keys, counts = self.held
        order = np.lexsort((keys[:, 1], keys[:, 0]))
        counts = counts[order].reshape(-1, 2)
        cell = (keys[order, 1:2] * _BLOCK + np.arange(_BLOCK)).ravel()
        met = counts[:, 0] > 0
        document, query, item = (np.repeat(keys[order, part], _BLOCK)[met] for part in (0, 2, 3))
        shown, clicked = np.ascontiguousarray(counts[met].T)
        return Entries(document, cell[met], shown, clicked, query, item)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CountTable) or self._used != other._used:
            return False
        both = zip(self.entries(), other.entries(), strict=True)
        return all(a.shape == b.shape and np.allclose(a, b, rtol=1e-12, atol=0) for a, b in both)

    __hash__ = None  # type: ignore[assignment]  # it changes while it counts

    @property
    def _arrays(self) -> tuple[NDArray[np.int32], Integers, Floats]:
        return self._slots, self._keys, self._counts

    def _add_blocks(self, keys: Integers, counts: Floats) -> CountTable:
        """This table with more blocks added.

        Raises:
            ValueError: these are no blocks.
        """
        if keys.shape != (len(counts), 4) or counts.shape[1:] != (_BLOCK, 2):
            raise ValueError(f"blocks of counts have the shapes {keys.shape} and {counts.shape}")
        self._make_room(len(keys))
        self._used = _kernels_counting.add_blocks(*self._arrays, self._used, keys, counts)
        return self

    def _make_room(self, more: int) -> None:
        """Double the table until it has room for `more` blocks."""
        blocks = self.blocks
        while self._used + more > blocks:
            blocks *= 2
        if blocks > self.blocks:
            self._slots, self._keys, self._counts = CountTable(blocks, self.held)._arrays
