"""Click models learnt from the log that they judge: each half of it is judged by what was learnt from the other.

Two halves, and not more: their models are independent, so that by draws from both posteriors the mean over the log is
as doubtful as by one model of the whole log. Rows are divided by what they say, not by where they stand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from ..clicks.documents import grouping, session_needs, shown_keys
from ..clicks.fitted import Fitted
from ..clicks.model import ClickModel
from ..errors import UsageError
from ..log.batch import Integers, LogBatch
from ..log.contexts import stacked
from ..log.hashing import ODD, hashed
from ..log.source import Needs, Source, SourceOver
from ..policies.base import Fits
from ..readers.log import opened
from ..running.executors import Executor, Progress, run
from ..sums import _kernels as kernels
from ..sums.base import Fold
from ..sums.sampled import COPIES, KEPT, Keys, Sketch, row_contents, sketch

HALVES = 2
MOST_SHOWN = 10_000_000
"""Shown items of a log whose rows are put in one order with all of their documents, which takes some 300 MB."""


@dataclass(frozen=True, eq=False)
class RowNumbers:
    """What tells the rows of a log apart, whatever their order.

    By a column, if rows of equal values stay together; each null is alone, by its place. Else by the place of a row in
    an order of what rows say: by the scores and propensities of what was shown, the clicks, and the documents, each of
    which is what its own rows say. Names of items and queries have no say, and rows that agree in all of it may be
    exchanged: models and estimates are the same, if they read no more. Of more than `MOST_SHOWN` shown items, rows are
    told apart by scores and propensities alone; or by where they stand, if more than COPIES of them say what others do.

    needs: the columns to read, so that the same rows are left out as when they were numbered. key: that column. known:
    the ids of all rows [n], ascending, and the number of each. told: the columns whose scores and propensities count.
    If all three are None, rows are told apart by where they stand.
    """

    needs: Needs = field(default_factory=Needs)
    key: str | None = None
    known: tuple[Keys, Keys] | None = None
    told: Needs | None = None

    def of(self, batch: LogBatch) -> Keys:
        """[n] the number of each row, equal for rows that stay together."""
        if self.key is not None:
            return batch.dependent([self.key])[self.key]
        if self.known is not None:
            return self.known[1][np.searchsorted(self.known[0], batch.row)]
        return batch.row if self.told is None else row_contents(batch, self.told)

    def half(self, batch: LogBatch) -> Keys:
        """[n] the half of each row: as coins fall, so that equal rows are not shared out evenly."""
        found: Keys = hashed(self.of(batch) * ODD) % np.uint64(HALVES)
        return found


@dataclass(frozen=True)
class ClickHalves(Fits):
    """A click model that is learnt twice, from each half of the log.

    rows: what tells rows apart, and which of them stay together in a half. learnt: number i judges the rows of half i,
    and was learnt from the others.
    """

    model: ClickModel
    learnt: tuple[Fitted, ...] = ()
    rows: RowNumbers = field(default_factory=RowNumbers, compare=False)

    def __repr__(self) -> str:
        return repr(self.model)

    def fit(self, source: Source, executor: Executor | None = None) -> ClickHalves:
        """The same, learnt from a log whose rows are independent."""
        return self.by_halves(opened(source), (), executor)

    def by_halves(
        self,
        source: Source,
        clusters: Sequence[str],
        executor: Executor | None = None,
        progress: Progress | None = None,
        told: Needs | None = None,
    ) -> ClickHalves:
        """The same, learnt from a log. clusters: the columns whose equal values mark dependent rows.

        The column of the queries is left aside: a model that has not seen a query knows nothing of its documents. Where
        no other is left, halves are of rows, which are told apart as `RowNumbers` says, by the columns `told`.

        Raises:
            UsageError: a half of the log is empty, or clicks are not whole numbers.
        """
        _, query = grouping(source, "auto")
        key = next((column for column in clusters if column != query), None)
        told = told or Needs()
        needed = Needs(clusters=frozenset([key])) if key else session_needs(query) | told
        found = RowNumbers(key=key) if key else run(source.select(needed), _RowsFold(query, told), executor, progress)
        rows = replace(found, needs=replace(needed, holes=False, texts=False))
        others = [_OtherHalf(source, half, rows) for half in range(HALVES)]
        learnt = tuple(self.model.fit(one, executor=executor, progress=progress) for one in others)
        return replace(self, learnt=learnt, rows=rows)

    def needs(self) -> Needs:
        """The columns that the models read, and the one that tells the halves."""
        return self._known[0].needs() | self.rows.needs

    def parts(self, batch: LogBatch) -> Iterator[tuple[Integers, Fitted]]:
        """The rows of each half of a batch, and the model that judges them."""
        number = self.rows.half(batch)
        for half, fitted in enumerate(self._known):
            yield np.flatnonzero(number == half), fitted

    def keyed(self, batch: LogBatch) -> LogBatch:
        """The batch, in which what is drawn for a row follows from what tells it apart."""
        return batch if self.rows.key else replace(batch, row=self.rows.of(batch))

    @property
    def _known(self) -> tuple[Fitted, ...]:
        if not self.learnt:
            raise UsageError(f"{self.model!r} has not been fitted to a log", "use it in evaluate, which fits it first")
        return self.learnt


@dataclass(frozen=True)
class _OtherHalf(SourceOver):
    """The rows of a source that are not in a half, as a source."""

    half: int
    rows: RowNumbers

    def select(self, needed: Needs) -> _OtherHalf:
        return super().select(needed | self.rows.needs)

    def describe(self) -> str:
        return f"half of {self.source.describe()}"

    def batches(self, part: int) -> Iterator[LogBatch]:
        for batch in self.source.batches(part):
            yield batch.take(np.flatnonzero(self.rows.half(batch) != self.half))


@dataclass(frozen=True, eq=False)
class RowCodes:
    """Rows, and a sample of what they say. pieces: ids [n], codes [n], documents [n, k], 0 on pads; none if many."""

    sample: Sketch
    cells: int
    pieces: tuple[tuple[Keys, Keys, Keys], ...]

    def __add__(self, other: RowCodes) -> RowCodes:
        cells = self.cells + other.cells
        return RowCodes(self.sample + other.sample, cells, self.pieces + other.pieces if cells <= MOST_SHOWN else ())


@dataclass(frozen=True)
class _RowsFold(Fold):
    """Reduces a log to the `RowNumbers` of its rows. by: the column of the queries."""

    by: str | None
    told: Needs

    def of(self, batch: LogBatch) -> RowCodes:
        said, shown = row_contents(batch, self.told), batch.slates >= 0
        code, ranks = said.copy(), np.where(shown, np.arange(shown.shape[1]), -1)
        for places, values in ((ranks, batch.clicks), (np.zeros((len(batch), 1), np.int64), batch.inclusion[:, None])):
            kernels.with_numbers(code, places, np.ascontiguousarray(values).view(np.uint64))
        documents = hashed(shown_keys(batch.contexts, batch.slates, self.by).view(np.uint64)) * shown
        sample = sketch(KEPT, hashed(batch.row), said[:, None])
        return RowCodes(sample, int(shown.sum()), ((batch.row.copy(), code, documents),) if len(batch) else ())

    def result(self, found: RowCodes) -> RowNumbers:
        if found.cells > MOST_SHOWN:
            said = found.sample.sums
            return RowNumbers(told=self.told if len(np.unique(said)) >= (1 - COPIES) * len(said) else None)
        if not found.pieces:
            return RowNumbers(known=(np.empty(0, np.uint64),) * 2)
        rows, codes, documents = zip(*found.pieces, strict=True)
        row, code = np.concatenate(rows), np.concatenate(codes)
        width = max(one.shape[1] for one in documents)
        shown = pa.array(stacked(documents, width, 0).ravel()).dictionary_encode()
        sums, place = np.zeros(len(shown.dictionary), np.uint64), shown.indices.to_numpy().reshape(len(row), width).T
        for rank, at in enumerate(place):  # what the rows of a document say, in any order
            np.add.at(sums, at, hashed(code ^ hashed(np.full(1, rank, np.uint64))))
        for at in place:
            code = hashed((code ^ sums[at]) * ODD)
        number, by_id = np.empty(len(row), np.uint64), np.argsort(row, kind="stable")
        number[np.lexsort((row, code))] = np.arange(len(row), dtype=np.uint64)
        return RowNumbers(known=(row[by_id], number[by_id]))
