"""One pass over a log: how often each document was shown and clicked, per rank or per rank and last click.

The hash table grows with the distinct documents and cells, not with the log.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..log.batch import Floats, Integers, LogBatch
from ..running.memory import refuse_without_room
from ..sums.base import Fold
from . import contexts
from ._kernels_counting import add_blocks, add_sessions, find_slots, look_at
from .base import Parameters
from .contexts import Values
from .documents import Documents
from .sessions import FEWER, Sessions, Tally, TrainingData, Weighed, no_impressions, tally, whole_clicks

_BLOCK = 8
"""Adjacent cells of a document whose counts are together."""
_WIDTHS = (np.uint16, np.int32, np.float64)
"""What counts are held in: the first in which they fit."""
_SORTED = 1 << 14
"""Blocks that are sorted at once."""


@dataclass(frozen=True)
class ClickCounts:
    """Impressions shown[i] and clicks clicked[i] of document[i] in cell[i], each divided by its inclusion probability.

    All [c], one entry per distinct (document, cell), sorted by both.

    Parameters:
        document: [c] index of the document.
        cell: [c] index of the cell: the rank, or what `browsing` and `values` say.
        shown: [c] impressions.
        clicked: [c] clicks.
        documents: their number.
        ranks: the longest session's number of ranks.
        browsing: a cell is a rank and a last clicked rank, see `browsing_cell`; otherwise it is a rank; with values
            of a context, value * ranks + rank.
        query: [documents] index of each document's query, where it is known.
        covariates: table of documents -> [documents, q] what its priors depend on, besides ranks.
        values: of a context, of which each cell has one; None without.

    Examples:
        >>> import numpy as np
        >>> one = np.array([0, 1]), np.array([0, 1]), np.array([4.0, 4.0]), np.array([2.0, 1.0])
        >>> offrank.clicks.ClickCounts(*one, documents=2, ranks=2).mean_rank().tolist()
        [1.0, 2.0]
    """

    document: Integers
    cell: Integers
    shown: Floats
    clicked: Floats
    documents: int
    ranks: int
    browsing: bool = False
    query: Integers | None = None
    covariates: Parameters = field(default_factory=dict)
    values: Values | None = None

    @property
    def cells(self) -> int:
        """The number of possible cells."""
        if self.browsing:
            return self.ranks * (self.ranks + 1) // 2
        return self.ranks if self.values is None else self.ranks * len(self.values.codes)

    def rank(self, cell: Integers) -> Integers:
        """The rank of each cell."""
        return rank_of(cell) if self.browsing else cell % self.ranks

    def by_rank(self) -> ClickCounts:
        """The counts per document and rank, summed over the last clicks above."""
        if not self.browsing:
            return self
        rank = rank_of(self.cell)
        document, cell, shown, clicked = _summed(self.document, rank, self.ranks, self.shown, self.clicked)
        return replace(self, document=document, cell=cell, shown=shown, clicked=clicked, browsing=False)

    def numbers(self, entries: slice = slice(None)) -> tuple[Integers, Floats, Floats]:
        """(cell, shown, clicked) of some entries, as they are computed with."""
        shown, clicked = (one[entries].astype(np.float64, copy=False) for one in (self.shown, self.clicked))
        return self.cell[entries].astype(np.int64, copy=False), shown, clicked

    def thinned(self, every: int) -> ClickCounts:
        """The counts of one document of so many, evenly chosen."""
        kept = self.document % every == 0
        return replace(
            self,
            document=self.document[kept] // every,
            cell=self.cell[kept],
            shown=self.shown[kept],
            clicked=self.clicked[kept],
            documents=-(-self.documents // every),
            query=None if self.query is None else self.query[::every],
            covariates={name: rows[::every] for name, rows in self.covariates.items()},
        )

    def scaled(self, share: float) -> ClickCounts:
        """The same counts, all multiplied by a number."""
        return replace(self, shown=self.shown * share, clicked=self.clicked * share)

    def mean_rank(self) -> Floats:
        """[documents] the mean logged rank of each document, counted from 1."""
        rank = 1.0 + self.rank(self.cell)
        total = _sums(self.document, self.shown * rank, self.documents)
        return np.asarray(total / np.maximum(self.by_document()[0], 1e-300))

    def by_position(self) -> tuple[Floats, Floats]:
        """(shown, clicked) at each rank [ranks]."""
        return self._by(self.rank(self.cell), self.ranks)

    def by_cell(self) -> tuple[Floats, Floats]:
        """(shown, clicked) of each cell [cells]."""
        return self._by(self.cell, self.cells)

    def by_document(self) -> tuple[Floats, Floats]:
        """(shown, clicked) of each document [documents]."""
        return self._by(self.document, self.documents)

    def _by(self, place: Integers, size: int) -> tuple[Floats, Floats]:
        return _sums(place, self.shown, size), _sums(place, self.clicked, size)


def browsing_cell(rank: Integers, last: Integers) -> Integers:
    """The cell of a rank (from 0) and the last clicked rank above it (`last`, from 1; 0 for none): last <= rank.

    Parameters:
        rank: ranks, from 0.
        last: the last clicked rank above each, from 1; 0 for none.

    Returns:
        The index of each cell, of the shape of `rank`.

    Examples:
        >>> import numpy as np
        >>> offrank.clicks.browsing_cell(np.array([2]), np.array([0])).tolist()
        [3]
    """
    return rank * (rank + 1) // 2 + last


def rank_of(cell: Integers) -> Integers:
    """The rank of a browsing cell."""
    return ((np.sqrt(8.0 * cell + 1) - 1) // 2).astype(np.int64)


_PAIR = 450
"""Bytes of memory that learning from counts takes for each document, in all."""


class CountTable:
    """A hash table of (document, cell) -> shown, clicked. Two tables are equal if they hold the same counts.

    Memory: some 75 to 90 bytes per document and eight cells that it was seen in; 170 to 190 where weights are no whole
    numbers. blocks: room for so many. held: keys and counts of the blocks that it begins with.
    """

    def __init__(self, blocks: int = 512, held: tuple[Integers, Floats] | None = None) -> None:
        self._slots: NDArray[np.int32] = np.empty(0, np.int32)
        self._keys: Integers = np.empty((blocks, 4), np.int64)
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
        """(keys, counts) of the blocks in use: [blocks, 4] and [blocks, 8, 2]."""
        return self._keys[: self._used], self._counts[: self._used]

    def add(self, batch: LogBatch, by: str | None, *, browsing: bool, base: Integers | None = None) -> CountTable:
        """This table with the sessions of a batch added. base: [n] added to the cells of each row, multiples of 8."""
        contexts, weight, row = batch.contexts, 1.0 / batch.inclusion, 0
        query = np.zeros(len(batch), np.int64) if by is None else contexts.keys[by]
        base = np.zeros(len(batch), np.int64) if base is None else base
        arrays = (contexts.candidates, batch.slates, batch.clicks, query, by is not None, weight, browsing, base)
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
        if keys.shape != (len(counts), 4) or counts.shape[1:] != (_BLOCK, 2):
            raise ValueError(f"blocks of counts have the shapes {keys.shape} and {counts.shape}")
        self._make_room(len(keys))
        more = float(counts[:, :, 0].max(initial=0))
        self._widen(self._most + more if counts.dtype.kind != "f" else np.inf)
        self._most += more
        counts = counts.astype(self._counts.dtype, copy=False)
        self._used = add_blocks(self._slots, self._keys, self._counts, self._used, keys, counts)
        return self

    def entries(self) -> tuple[Integers, list[NDArray[Any]]]:
        """([3, documents] key, query and item, by key; [c] document by number, cell, shown and clicked, sorted)."""
        keys, counts = self.held
        order = np.lexsort((keys[:, 1], keys[:, 0]))
        known = keys[order, 0]
        new = np.append(True, known[1:] != known[:-1])[: len(order)]
        number, first = np.cumsum(new, dtype=np.int32) - np.int32(1), order[new]
        del known, new
        whole = np.int32 if counts.dtype.kind != "f" else np.float64
        cells = np.int32 if keys[:, 1].max(initial=0) < np.iinfo(np.int32).max // _BLOCK else np.int64
        size = sum(np.count_nonzero(counts[at : at + _SORTED, :, 0]) for at in range(0, len(order), _SORTED))
        kinds: tuple[Any, ...] = (np.int32, cells, whole, whole)
        found, end = [np.empty(size, kind) for kind in kinds], 0
        for at in range(0, len(order), _SORTED):
            rows = order[at : at + _SORTED]
            met = counts[rows, :, 0] > 0
            block, cell = np.nonzero(met)
            part = number[at + block], keys[rows[block], 1] * _BLOCK + cell, *counts[rows][met].T
            for column, values in zip(found, part, strict=True):
                column[end : end + len(block)] = values
            end += len(block)
        return np.stack([keys[first, part] for part in (0, 2, 3)]), found

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CountTable) or self._used != other._used:
            return False
        (keys, mine), (others, theirs) = self.entries(), other.entries()
        both = zip((keys, *mine), (others, *theirs), strict=True)
        return all(a.shape == b.shape and np.allclose(a, b, rtol=1e-12, atol=0) for a, b in both)

    __hash__ = None  # type: ignore[assignment]  # it changes while it counts

    def _widen(self, most: float) -> None:
        """Hold the counts in numbers that go up to `most`."""
        if most > _limit(self._counts.dtype):
            self._counts = self._counts.astype(next(kind for kind in _WIDTHS if most <= _limit(np.dtype(kind))))

    def _make_room(self, more: int) -> None:
        """Enlarge the table, where it is, until it has room for `more` blocks."""
        if self._used + more > self.blocks:
            blocks = max(self._used + more, self.blocks + self.blocks // 4)
            held = self._slots.nbytes + self._keys.nbytes + self._counts.nbytes
            refuse_without_room(_PAIR * blocks - held, f"{self._used:,} pairs of query and item, and more,", FEWER)
            self._keys, self._counts = (_grown(one, blocks) for one in (self._keys, self._counts))
        if 4 * self.blocks > 3 * len(self._slots):
            self._slots = np.empty(0, np.int32)  # before there are others
            self._slots = np.full(1 << (self.blocks + self.blocks // 2).bit_length(), -1, np.int32)
            find_slots(self._slots, self._keys, self._used)


def _grown(array: NDArray[Any], blocks: int) -> NDArray[Any]:
    """An array with more blocks, where it is unless its memory is another's, as of one from another process."""
    array = array if array.flags.owndata else array.copy()
    array.resize((blocks, *array.shape[1:]), refcheck=False)
    return array


def _limit(kind: np.dtype[Any]) -> float:
    return np.inf if kind.kind == "f" else float(np.iinfo(kind).max)


class Counting(NamedTuple):
    """The state of counting a log. ranks: of its longest slate."""

    table: CountTable
    tally: Tally
    ranks: int
    weighed: Weighed
    names: Mapping[int, str]

    def __add__(self, other: Counting) -> Counting:  # type: ignore[override]  # not as tuples are joined
        weighed, ranks = self.weighed.plus(other.weighed), max(self.ranks, other.ranks)
        names = {**self.names, **other.names}
        table = CountTable(self.table.blocks, self.table.held).add_blocks(*other.table.held)
        return Counting(table, self.tally + other.tally, ranks, weighed, names)


@dataclass(frozen=True)
class CountsFold(Fold):
    """Reduces a log to `ClickCounts`. context: a column whose values have cells of their own.

    Memory: see `CountTable`.
    """

    by: str | None = None
    browsing: bool = False
    context: str | None = None

    def add(self, part: Counting | None, batch: LogBatch) -> Counting:
        """The state with a batch added; its table is changed in place.

        Raises:
            UsageError: clicks that are not whole numbers.
        """
        assert batch.clicks is not None
        state = Counting(CountTable(), Tally(), 0, Weighed(), {}) if part is None else part
        fraction, repeated = look_at(batch.clicks)
        if fraction >= 0:
            whole_clicks(batch)
        seen = tally(batch, repeated)
        ranks = max(state.ranks, batch.slates.shape[1] if len(batch) else 0)
        base, names = (None, {}) if self.context is None else contexts.value_cells(batch, self.context)
        table = state.table.add(batch, self.by, browsing=self.browsing, base=base)
        weighed = state.weighed.plus(Weighed.of(1.0 / batch.inclusion))
        return Counting(table, state.tally + seen, ranks, weighed, {**state.names, **names})

    def merged(self, part: Any, other: Any) -> Any:
        """The sum of two parts; the table of the first is changed in place."""
        part.table.add_blocks(*other.table.held)
        return (part._replace(table=CountTable()) + other._replace(table=CountTable()))._replace(table=part.table)

    def result(self, state: Counting) -> TrainingData:
        """The counts.

        Raises:
            EmptyLogError: nothing was shown.
        """
        (keys, query, item), (document, cell, shown, clicked) = state.table.entries()
        if not len(keys):
            raise no_impressions()
        first = np.searchsorted(document, np.arange(len(keys), dtype=np.int32))
        views = np.add.reduceat(shown, first).astype(np.float64)
        documents, values = Documents.of(keys, query, item, self.by, views), None
        if self.context is not None:
            cell, values = contexts.dense(cell, state.ranks, state.names)
        size = len(documents), state.ranks, self.browsing, documents.query
        counts = ClickCounts(document, cell, shown, clicked, *size, values=values)
        return TrainingData(documents, counts, state.tally, state.weighed.worth)


def count_clicks(sessions: Sessions, *, browsing: bool = False) -> ClickCounts:
    """The weighted counts of sessions in memory."""
    shown, (n, k) = sessions.document >= 0, sessions.document.shape
    rank = np.broadcast_to(np.arange(k), (n, k))
    cell = browsing_cell(rank, last_clicks(sessions.click)) if browsing else rank
    weight = np.broadcast_to(sessions.weight[:, None], (n, k))[shown]
    cells = k * (k + 1) // 2 if browsing else k
    document, clicked = sessions.document[shown].astype(np.int64), weight * (sessions.click[shown] > 0)
    found = _summed(document, cell[shown], cells, weight, clicked)
    return ClickCounts(*found, sessions.documents, k, browsing, sessions.query)


def last_clicks(clicks: np.ndarray) -> Integers:
    """[n, k] the last clicked rank above each rank, counted from 1; 0 where there is none."""
    ranks = np.arange(1, clicks.shape[1] + 1)
    latest = np.maximum.accumulate(np.where(clicks > 0, ranks, 0), axis=1)
    return np.concatenate([np.zeros((len(clicks), 1), np.int64), latest[:, :-1]], axis=1)


def _summed(
    document: Integers, cell: Integers, cells: int, shown: Floats, clicked: Floats
) -> tuple[Integers, Integers, Floats, Floats]:
    """The document and cell of each distinct pair of these, and the sums of its views and clicks."""
    key, place = np.unique(document.astype(np.int64) * cells + cell, return_inverse=True)
    document, cell = np.divmod(key, cells)
    return document, cell, _sums(place, shown), _sums(place, clicked)


def _sums(place: Integers, values: Floats, size: int = 0) -> Floats:
    return np.bincount(place, weights=values, minlength=size).astype(np.float64, copy=False)
