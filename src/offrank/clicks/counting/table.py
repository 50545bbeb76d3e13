"""Counts of documents in cells while a log is read."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...log.batch import LogBatch
from . import _kernels


class Table:
    """A hash table of (document, cell) -> shown, clicked. Two tables are equal if they hold the same counts.

    Memory: 64 to 128 bytes per distinct (document, cell).
    """

    def __init__(self, size: int = 1024) -> None:
        self._entries = np.zeros(size, dtype=_kernels.ENTRY)
        self._used = 0

    def __len__(self) -> int:
        return self._used

    def add(self, batch: LogBatch, by: str | None, *, browsing: bool) -> Table:
        """This table, with the sessions of a batch counted."""
        contexts, weight = batch.contexts, 1.0 / batch.inclusion
        query = np.zeros(len(batch), np.int64) if by is None else contexts.keys[by]
        arrays = (contexts.candidates, batch.slates, batch.clicks, query, by is not None, weight, browsing)
        row = 0
        while row < len(batch):
            self._make_room(batch.slates.shape[1])
            self._used, row = _kernels.add_sessions(self._entries, self._used, row, *arrays)
        return self

    def merged(self, other: Table) -> Table:
        """A new table with the counts of both."""
        both = Table(len(self._entries))
        both._take(self)
        both._make_room(len(other))
        both._take(other)
        return both

    def sorted(self) -> NDArray[Any]:
        """The entries by document and cell."""
        found = self._entries[self._entries["shown"] > 0]
        return found[np.lexsort((found["cell"], found["document"]))]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table) or len(self) != len(other):
            return False
        mine, theirs = self.sorted(), other.sorted()
        same = all(np.array_equal(mine[name], theirs[name]) for name in ("document", "cell"))
        return same and all(np.allclose(mine[name], theirs[name], rtol=1e-12) for name in ("shown", "clicked"))

    __hash__ = None  # type: ignore[assignment]  # it changes while it counts

    def _take(self, other: Table) -> None:
        self._used = _kernels.add_entries(self._entries, self._used, other._entries)

    def _make_room(self, more: int) -> None:
        size = len(self._entries)
        while 2 * (self._used + more) > size:
            size *= 2
        if size > len(self._entries):
            bigger = Table(size)
            bigger._take(self)
            self._entries = bigger._entries
