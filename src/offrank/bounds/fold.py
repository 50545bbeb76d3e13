"""The sums of both ends for each target, under each assumption, in the whole log and in each group."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from ..inference.clusters_and_level import IntervalSpec
from ..log.batch import Floats, LogBatch, Naturals
from ..log.source import Needs
from ..policies.base import Policy
from ..sums.base import Fold, Sample, Tee
from ..sums.clusters import BUCKETS_OF_A_GROUP
from ..sums.group_by import with_groups
from ..sums.mean import Name
from ..sums.named_sums import ByName, NamedColumns
from .ends import OF_DRAW, OF_PART, ROW_COUNT, of_part
from .knowledge import Knowledge


@dataclass(frozen=True, eq=False)
class BoundsFold(Fold):
    """Reduces batches to the sums of both ends for each target under each knowledge.

    against: the target that the others are compared with; None: what was logged. spec: of the intervals, clustered by
    the column of the contexts. by: a column of groups.
    """

    knowledge: tuple[Knowledge, ...]
    targets: tuple[Policy, ...]
    spec: IntervalSpec
    against: Policy | None = None
    by: str | None = None

    def needs(self) -> Needs:
        """Return the columns to read."""
        found = Needs(clusters=frozenset([self._context]), labels=frozenset([self.by] if self.by else []))
        for known in self.knowledge:
            for one in (*self.targets, *([] if self.against is None else [self.against])):
                found |= known.needs(one)
        return found

    def parts(self) -> Iterator[tuple[int, Policy, Knowledge]]:
        """Yield each target under each knowledge, with the number by which its columns are called."""
        for number, (target, known) in enumerate(product(self.targets, self.knowledge)):
            yield number, target, known

    @cached_property
    def columns(self) -> NamedColumns:
        """The names of the columns."""
        names: list[Name] = [ROW_COUNT]
        for number, _, known in self.parts():
            names += [of_part(name, number) for name in OF_PART]
            names += [of_part(name, number, draw) for draw in range(len(known.drawn)) for name in OF_DRAW]
        return NamedColumns(tuple(names))

    @cached_property
    def sums(self) -> Tee:
        """Return the folds of the sums."""
        blocks = [(ROW_COUNT, column) for column in self.columns.once[1:]]
        each = Tee(self.spec.folds(self.columns, buckets=BUCKETS_OF_A_GROUP, blocks=blocks))
        return with_groups(Tee(self.spec.folds(self.columns, blocks=blocks)), each if self.by else None)

    def of(self, batch: LogBatch) -> dict[str, Any]:
        context = batch.dependent([self._context])
        named = ByName(self.columns, np.empty((len(batch), self.columns.width())))
        named[ROW_COUNT] = 1.0
        for number, target, known in self.parts():
            values = self._values(batch, context[self._context], target, known)
            for name, one in zip(OF_PART, values, strict=True):
                named[of_part(name, number)] = one
            for draw, drawn in enumerate(known.drawn):
                lower, upper, *_, less, more = self._values(batch, context[self._context], target, drawn)
                for name, one in zip(OF_DRAW, (lower, upper, less, more), strict=True):
                    named[of_part(name, number, draw)] = one
        groups = batch.labels[self.by] if self.by else None
        return self.sums.of(Sample.of(named.array, batch.row, context, groups=groups))

    def result(self, part: dict[str, Any]) -> dict[str, Any]:
        return self.sums.result(part)

    def _values(self, batch: LogBatch, context: Naturals, target: Policy, known: Knowledge) -> list[Floats]:
        ends = known.ends(batch, context, target)
        if self.against is None:
            logged = known.earned(batch)
            return [*ends, ends.lower - logged, ends.upper - logged]
        return [*ends, *known.gap(batch, context, target, self.against)]

    @property
    def _context(self) -> str:
        return self.spec.columns[0]
