"""Click models learnt from the log that they judge: each half of it is judged by what was learnt from the other.

Two halves, and not more: their models are independent, so that by draws from both posteriors the mean over the log is
as doubtful as by one model of the whole log.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..clicks.documents import grouping
from ..clicks.fitted import Fitted
from ..clicks.model import ClickModel
from ..errors import UsageError
from ..log.batch import Integers, LogBatch
from ..log.source import Needs, Source, SourceOver
from ..policies.base import Fits
from ..readers.log import opened
from ..running.executors import Executor, Progress
from .training import query_keys

HALVES = 2


@dataclass(frozen=True)
class ClickHalves(Fits):
    """A click model that is learnt twice, from each half of the log.

    key: the column whose equal values stay together in a half; None if each row is alone. learnt: number i judges the
    rows whose group is i modulo 2, and was learnt from the others.
    """

    model: ClickModel
    learnt: tuple[Fitted, ...] = ()
    key: str | None = None

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
    ) -> ClickHalves:
        """The same, learnt from a log. clusters: the columns whose equal values mark dependent rows.

        The column of the queries is left aside: a model that has not seen a query knows nothing of its documents.

        Raises:
            UsageError: a half of the log is empty, or clicks are not whole numbers.
        """
        _, query = grouping(source, "auto")
        key = next((column for column in clusters if column != query), None)
        learnt = [
            self.model.fit(_OtherHalf(source, half, key), executor=executor, progress=progress)
            for half in range(HALVES)
        ]
        return replace(self, learnt=tuple(learnt), key=key)

    def needs(self) -> Needs:
        """The columns that the models read, and the one that tells the halves."""
        return self._known[0].needs() | _needs(self.key)

    def parts(self, batch: LogBatch) -> Iterator[tuple[Integers, Fitted]]:
        """The rows of each half of a batch, and the model that judges them."""
        number = query_keys(batch, self.key) % np.uint64(HALVES)
        for half, fitted in enumerate(self._known):
            yield np.flatnonzero(number == half), fitted

    @property
    def _known(self) -> tuple[Fitted, ...]:
        if not self.learnt:
            raise UsageError(f"{self.model!r} has not been fitted to a log", "use it in evaluate, which fits it first")
        return self.learnt


@dataclass(frozen=True)
class _OtherHalf(SourceOver):
    """The rows of a source that are not in a half, as a source."""

    half: int
    key: str | None

    def select(self, needed: Needs) -> _OtherHalf:
        return super().select(needed | _needs(self.key))

    def describe(self) -> str:
        return f"half of {self.source.describe()}"

    def batches(self, part: int) -> Iterator[LogBatch]:
        for batch in self.source.batches(part):
            yield batch.take(np.flatnonzero(query_keys(batch, self.key) % np.uint64(HALVES) != self.half))


def _needs(key: str | None) -> Needs:
    return Needs() if key is None else Needs(clusters=frozenset([key]))
