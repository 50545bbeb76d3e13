"""One pass over a log: how often each document was shown and clicked, per rank or per rank and last click."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..errors import EmptyLogError
from ..log.batch import Floats, Integers, LogBatch
from ._kernels_counting import look_at
from .counting import CountTable
from .documents import Documents
from .sessions import Gathered, Sessions, Tally, Weighed, tally, whole_clicks


@dataclass(frozen=True)
class Counts:
    """Impressions shown[i] and clicks clicked[i] of document[i] in cell[i], each divided by its inclusion probability.

    All [c], one entry per distinct (document, cell), sorted by both. documents: their number; ranks: the
    longest session's number of ranks. browsing: a cell is a rank and a last clicked rank, see `browsing_cell`;
    otherwise it is a rank. query: [documents] index of each document's query, where it is known.
    """

    document: Integers
    cell: Integers
    shown: Floats
    clicked: Floats
    documents: int
    ranks: int
    browsing: bool = False
    query: Integers | None = None

    @property
    def cells(self) -> int:
        """The number of possible cells."""
        return self.ranks * (self.ranks + 1) // 2 if self.browsing else self.ranks

    def by_rank(self) -> Counts:
        """The counts per document and rank, summed over the last clicks above."""
        if not self.browsing:
            return self
        rank = rank_of(self.cell)
        key, place = np.unique(self.document * self.ranks + rank, return_inverse=True)
        document, cell = np.divmod(key, self.ranks)
        shown, clicked = _sums(place, self.shown), _sums(place, self.clicked)
        return Counts(document, cell, shown, clicked, self.documents, self.ranks, query=self.query)

    def thinned(self, most: int) -> Counts:
        """The counts of at most `most` documents, evenly chosen."""
        every = -(-self.documents // most)
        kept = self.document % every == 0
        entries = (self.document[kept] // every, self.cell[kept], self.shown[kept], self.clicked[kept])
        return Counts(*entries, -(-self.documents // every), self.ranks, self.browsing)

    def scaled(self, share: float) -> Counts:
        """The same counts, all multiplied by a number."""
        return replace(self, shown=self.shown * share, clicked=self.clicked * share)

    def mean_rank(self) -> Floats:
        """[documents] the mean logged rank of each document, counted from 1."""
        rank = 1.0 + (rank_of(self.cell) if self.browsing else self.cell)
        total = _sums(self.document, self.shown * rank, self.documents)
        return np.asarray(total / np.maximum(self.by_document()[0], 1e-300))

    def by_cell(self) -> tuple[Floats, Floats]:
        """(shown, clicked) of each cell [cells]."""
        return _sums(self.cell, self.shown, self.cells), _sums(self.cell, self.clicked, self.cells)

    def by_document(self) -> tuple[Floats, Floats]:
        """(shown, clicked) of each document [documents]."""
        documents = self.documents
        return _sums(self.document, self.shown, documents), _sums(self.document, self.clicked, documents)


def browsing_cell(rank: Integers, last: Integers) -> Integers:
    """The cell of a rank (from 0) and the last clicked rank above it (`last`, from 1; 0 for none): last <= rank."""
    return rank * (rank + 1) // 2 + last


def rank_of(cell: Integers) -> Integers:
    """The rank of a browsing cell."""
    return ((np.sqrt(8.0 * cell + 1) - 1) // 2).astype(np.int64)


class Counting(NamedTuple):
    """The state of counting a log. ranks: of its longest slate."""

    table: CountTable
    tally: Tally
    ranks: int
    weighed: Weighed


@dataclass(frozen=True)
class CountsFold:
    """Reduces a log to `Counts`. Memory: see `CountTable`."""

    by: str | None = None
    browsing: bool = False

    def empty(self) -> Counting:
        return Counting(CountTable(), Tally(), 0, Weighed())

    def add(self, state: Counting, batch: LogBatch) -> Counting:
        """The state with a batch added; its table is changed in place.

        Raises:
            UsageError: clicks that are not whole numbers.
        """
        assert batch.clicks is not None
        fraction, repeated = look_at(batch.clicks)
        if fraction >= 0:
            whole_clicks(batch)
        seen = tally(batch, repeated)
        ranks = max(state.ranks, batch.slates.shape[1] if len(batch) else 0)
        table = state.table.add(batch, self.by, browsing=self.browsing)
        return Counting(table, state.tally + seen, ranks, state.weighed.plus(Weighed.of(1.0 / batch.inclusion)))

    def merge(self, left: Counting, right: Counting) -> Counting:
        weighed, ranks = left.weighed.plus(right.weighed), max(left.ranks, right.ranks)
        return Counting(left.table.merged(right.table), left.tally + right.tally, ranks, weighed)

    def finish(self, state: Counting) -> Gathered:
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
        counts = Counts(np.cumsum(first) - 1, found.cell, found.shown, found.clicked, *size)
        return Gathered(documents, counts, state.tally, state.weighed.worth)


def counted(sessions: Sessions, *, browsing: bool = False) -> Counts:
    """The weighted counts of sessions in memory."""
    shown, (n, k) = sessions.document >= 0, sessions.document.shape
    rank = np.broadcast_to(np.arange(k), (n, k))
    cell = browsing_cell(rank, last_clicks(sessions.click)) if browsing else rank
    weight = np.broadcast_to(sessions.weight[:, None], (n, k))[shown]
    cells = k * (k + 1) // 2 if browsing else k
    key, place = np.unique(sessions.document[shown].astype(np.int64) * cells + cell[shown], return_inverse=True)
    document, cell = np.divmod(key, cells)
    clicked = _sums(place, weight * (sessions.click[shown] > 0))
    return Counts(document, cell, _sums(place, weight), clicked, sessions.documents, k, browsing, sessions.query)


def last_clicks(clicks: np.ndarray) -> Integers:
    """[n, k] the last clicked rank above each rank, counted from 1; 0 where there is none."""
    ranks = np.arange(1, clicks.shape[1] + 1)
    latest = np.maximum.accumulate(np.where(clicks > 0, ranks, 0), axis=1)
    return np.concatenate([np.zeros((len(clicks), 1), np.int64), latest[:, :-1]], axis=1)


def _sums(place: Integers, values: Floats, size: int = 0) -> Floats:
    return np.bincount(place, weights=values, minlength=size).astype(np.float64, copy=False)
