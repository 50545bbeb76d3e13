"""The sums of both ends for each target, under each assumption, in the whole log and in each group."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..folds.base import MappedFold, Sample, Tee
from ..folds.buckets import BUCKETS_OF_A_GROUP
from ..folds.group_by import with_groups
from ..inference.spec import IntervalSpec
from ..log.batch import Floats, LogBatch
from ..log.source import Needs
from ..policies.propensities import AnyPolicy
from .ends import OF_DRAW, OF_PART, ROWS_COLUMN
from .knowledge import Knowledge


@dataclass(frozen=True, eq=False)
class BoundsFold(MappedFold):
    """Reduces batches to the sums of both ends for each target under each knowledge.

    against: the target that the others are compared with; None: what was logged. spec: of the intervals, clustered by
    the column of the contexts. by: a column of groups.
    """

    knowledge: tuple[Knowledge, ...]
    targets: tuple[AnyPolicy, ...]
    spec: IntervalSpec
    against: AnyPolicy | None = None
    by: str | None = None

    @property
    def needs(self) -> Needs:
        """Return the columns to read."""
        found = Needs(clusters=frozenset([self._context]), labels=frozenset([self.by] if self.by else []))
        for known in self.knowledge:
            for one in (*self.targets, *([] if self.against is None else [self.against])):
                found |= known.needs(one)
        return found

    def starts(self) -> Iterator[tuple[int, AnyPolicy, Knowledge]]:
        """Yield the first column of each target under each knowledge."""
        column = ROWS_COLUMN + 1
        for target in self.targets:
            for known in self.knowledge:
                yield column, target, known
                column += _width(known)

    @property
    def reducer(self) -> Tee:
        *_, (start, _, known) = self.starts()
        columns = start + _width(known)
        blocks = tuple((ROWS_COLUMN, column) for column in range(1, columns))
        each = Tee(self.spec.folds(columns, buckets=BUCKETS_OF_A_GROUP, blocks=blocks))
        return with_groups(Tee(self.spec.folds(columns, blocks=blocks)), each if self.by else None)

    def mapped(self, batch: LogBatch) -> Sample:
        context = batch.dependent([self._context])
        values = [np.ones(len(batch))]
        for _, target, known in self.starts():
            values += self._values(batch, context[self._context], target, known)
            for one in known.drawn:
                lower, upper, *_, less, more = self._values(batch, context[self._context], target, one)
                values += [lower, upper, less, more]
        groups = batch.labels[self.by] if self.by else None
        return Sample(np.column_stack(values), batch.row, context, groups=groups)

    def _values(
        self, batch: LogBatch, context: NDArray[np.uint64], target: AnyPolicy, known: Knowledge
    ) -> list[Floats]:
        ends = known.ends(batch, context, target)
        if self.against is None:
            logged = known.earned(batch)
            return [*ends, ends.lower - logged, ends.upper - logged]
        return [*ends, *known.gap(batch, context, target, self.against)]

    @property
    def _context(self) -> str:
        return self.spec.columns[0]


def _width(known: Knowledge) -> int:
    return OF_PART + OF_DRAW * len(known.drawn)
