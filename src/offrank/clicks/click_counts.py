"""One pass over a log: how often each document was shown and clicked, per rank or per rank and last click."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from ..log.batch import Floats, Integers, LogBatch
from ..sums.base import Fold
from . import contexts
from ._kernels_counting import look_at
from .base import Parameters
from .contexts import Values
from .count_table import CountTable
from .documents import Documents
from .sessions import Sessions, Tally, TrainingData, Weighed, no_impressions, tally, whole_clicks


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
        most = float(self.shown.max(initial=0)) * self.ranks
        whole = np.dtype(np.int32 if self.shown.dtype.kind != "f" and most < 1 << 31 else np.float64)
        kinds, found = (self.document.dtype, self.cell.dtype, whole, whole), []
        for part in self.parts():
            document, *summed = _summed(part.document, rank_of(part.cell), self.ranks, part.shown, part.clicked)
            columns = zip((document + part.first, *summed), kinds, strict=True)
            found.append([column.astype(kind) for column, kind in columns])
        document, cell, shown, clicked = map(np.concatenate, zip(*found, strict=True))
        return replace(self, document=document, cell=cell, shown=shown, clicked=clicked, browsing=False)

    def numbers(self, entries: slice | Integers = slice(None)) -> tuple[Integers, Floats, Floats]:
        """(cell, shown, clicked) of some entries, as they are computed with."""
        shown, clicked = (one[entries].astype(np.float64, copy=False) for one in (self.shown, self.clicked))
        return self.cell[entries].astype(np.int64, copy=False), shown, clicked

    def part(self, first: int, end: int) -> SomeDocuments:
        """The entries of the documents from the first one to the end."""
        begin, stop = np.searchsorted(self.document, np.array([first, end], self.document.dtype))
        document = self.document[begin:stop].astype(np.int64) - first
        return SomeDocuments(first, end - first, document, *self.numbers(slice(begin, stop)))

    def parts(self, together: int = 1 << 16) -> Iterator[SomeDocuments]:
        """The entries of some documents after others: in numbers to compute with, all would fill the memory."""
        for first in range(0, self.documents, together):
            yield self.part(first, min(first + together, self.documents))

    def thinned(self, every: int) -> ClickCounts:
        """The counts of one document of so many, evenly chosen."""
        chosen = np.arange(0, self.documents, every, dtype=self.document.dtype)
        first, end = (np.searchsorted(self.document, chosen, side) for side in ("left", "right"))
        size, before = end - first, np.cumsum(end - first) - (end - first)
        kept = np.arange(size.sum()) + np.repeat(first - before, size)
        return replace(
            self,
            document=np.repeat(np.arange(len(chosen), dtype=self.document.dtype), size),
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
        found = np.empty(self.documents)
        for part in self.parts():
            total = _sums(part.document, part.shown * (1.0 + self.rank(part.cell)), part.documents)
            found[part.rows] = total / np.maximum(part.by_document()[0], 1e-300)
        return found

    def by_position(self) -> tuple[Floats, Floats]:
        """(shown, clicked) at each rank [ranks]."""
        shown, clicked = self.by_cell()
        rank = self.rank(np.arange(self.cells))
        return _sums(rank, shown, self.ranks), _sums(rank, clicked, self.ranks)

    def by_cell(self) -> tuple[Floats, Floats]:
        """(shown, clicked) of each cell [cells]."""
        shown, clicked = np.zeros((2, self.cells))
        for part in self.parts():
            shown += _sums(part.cell, part.shown, self.cells)
            clicked += _sums(part.cell, part.clicked, self.cells)
        return shown, clicked

    def by_document(self) -> tuple[Floats, Floats]:
        """(shown, clicked) of each document [documents]."""
        shown, clicked = np.empty(self.documents), np.empty(self.documents)
        for part in self.parts():
            shown[part.rows], clicked[part.rows] = part.by_document()
        return shown, clicked


class SomeDocuments(NamedTuple):
    """The entries of some documents, from `first` on, which are numbered from 0; all else as in `ClickCounts`."""

    first: int
    documents: int
    document: Integers
    cell: Integers
    shown: Floats
    clicked: Floats

    @property
    def rows(self) -> slice:
        """The documents."""
        return slice(self.first, self.first + self.documents)

    @property
    def begin(self) -> Integers:
        """[documents + 1] the first entry of each document, and the number of all."""
        return np.searchsorted(self.document, np.arange(self.documents + 1))

    def by_document(self) -> tuple[Floats, Floats]:
        """(shown, clicked) of each document [documents]."""
        return _sums(self.document, self.shown, self.documents), _sums(self.document, self.clicked, self.documents)


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
        """The counts; the table is empty afterwards.

        Raises:
            EmptyLogError: nothing was shown.
        """
        known, (document, cell, shown, clicked) = state.table.entries(grouped=self.by is not None, last=True)
        documents, values = Documents.of(*known, by=self.by), None
        del known
        if not len(documents):
            raise no_impressions()
        if self.context is not None:
            cell, values = contexts.dense(cell, state.ranks, state.names)
        size = len(documents), state.ranks, self.browsing, documents.query
        counts = ClickCounts(document, cell, shown, clicked, *size, values=values)
        documents = replace(documents, shown=counts.by_document()[0])
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
