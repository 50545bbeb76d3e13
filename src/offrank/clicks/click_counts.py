"""One pass over a log: how often each document was shown and clicked, per rank or per rank and last click.

The hash table grows with the distinct documents and cells, not with the log.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import EmptyLogError
from ..log.batch import Floats, Integers, LogBatch
from ..sums.base import Fold
from . import contexts
from ._kernels_counting import add_blocks, add_sessions, look_at
from .base import Parameters
from .contexts import Values
from .documents import Documents
from .sessions import Sessions, Tally, TrainingData, Weighed, tally, whole_clicks

_BLOCK = 8
"""Adjacent cells of a document whose counts are together."""


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

    def thinned(self, most: int) -> ClickCounts:
        """The counts of at most `most` documents, evenly chosen."""
        every = -(-self.documents // most)
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
        rank = self.rank(self.cell)
        return _sums(rank, self.shown, self.ranks), _sums(rank, self.clicked, self.ranks)

    def by_cell(self) -> tuple[Floats, Floats]:
        """(shown, clicked) of each cell [cells]."""
        return _sums(self.cell, self.shown, self.cells), _sums(self.cell, self.clicked, self.cells)

    def by_document(self) -> tuple[Floats, Floats]:
        """(shown, clicked) of each document [documents]."""
        documents = self.documents
        return _sums(self.document, self.shown, documents), _sums(self.document, self.clicked, documents)


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
            self._used, row = add_sessions(*self._arrays, self._used, row, *arrays)
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
        self._used = add_blocks(*self._arrays, self._used, keys, counts)
        return self

    def _make_room(self, more: int) -> None:
        """Double the table until it has room for `more` blocks."""
        blocks = self.blocks
        while self._used + more > blocks:
            blocks *= 2
        if blocks > self.blocks:
            self._slots, self._keys, self._counts = CountTable(blocks, self.held)._arrays


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
        return Counting(self.table.merged(other.table), self.tally + other.tally, ranks, weighed, names)


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

    def result(self, state: Counting) -> TrainingData[ClickCounts]:
        """The counts.

        Raises:
            EmptyLogError: nothing was shown.
        """
        found = state.table.entries()
        if not len(found.cell):
            raise EmptyLogError("the log has no impressions", "give a log with at least one impression")
        first = np.append(True, np.diff(found.document) != 0)
        shown = np.add.reduceat(found.shown, np.flatnonzero(first))
        documents = Documents.of(found.document[first], found.query[first], found.item[first], self.by, shown)
        size = len(documents), state.ranks, self.browsing, documents.query
        counts = ClickCounts(np.cumsum(first) - 1, found.cell, found.shown, found.clicked, *size)
        if self.context is not None:
            cell, values = contexts.dense(found.cell, state.ranks, state.names)
            counts = replace(counts, cell=cell, values=values)
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
    key, place = np.unique(document * cells + cell, return_inverse=True)
    document, cell = np.divmod(key, cells)
    return document, cell, _sums(place, shown), _sums(place, clicked)


def _sums(place: Integers, values: Floats, size: int = 0) -> Floats:
    return np.bincount(place, weights=values, minlength=size).astype(np.float64, copy=False)
