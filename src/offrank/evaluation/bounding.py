"""Between what a target's mean reward lies, where the log cannot tell it: worst-case (Manski) bounds.

Rows of one context (a query) are alike, and an item is clicked by its own rank only. The mean click of what a context
showed at a rank is known there; an item that was never shown at a rank is clicked with a probability between 0 and 1.
With an examination curve p, clicks at any rank tell the relevance of an item, and so its clicks at every rank; one that
was never looked at is clicked at rank k with a probability of at most p_k / p_1. The target's law at every rank gives
the weights. Neither end is cut to what is possible in a cell: means would then be biased towards its middle.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from .. import assumptions
from ..errors import UsageError
from ..folds.base import MappedFold, Sample, Tee
from ..inference.spec import AUTO, IntervalSpec
from ..log.batch import Floats, LogBatch
from ..log.source import Needs, Source, has
from ..policies.fit import fitted
from ..policies.propensities import AnyPolicy, law_needs, propensities
from ..running.checkpoint import CheckpointFolder
from ..running.executors import run
from ..wording import Option, Wording
from .bounds import CLICKS_COLUMN, OF_PAIR, ROWS_COLUMN, Bounds, from_columns
from .cells import Cells, CellsFold
from .question import TargetEvaluation


@dataclass(frozen=True, eq=False)
class BoundsFold(MappedFold):
    """Reduces batches to the sums of both ends for each target, without and with the examination curve."""

    cells: Cells
    targets: tuple[AnyPolicy, ...]
    curve: Floats | None
    spec: IntervalSpec

    @property
    def needs(self) -> Needs:
        """Return the columns to read.

        Raises:
            AbilityError: a target does not tell how likely an item is at a rank.
        """
        found = CellsFold(self._context).needs
        for one in self.targets:
            found |= law_needs(one, "rank_probs")
        return found

    @property
    def reducer(self) -> Tee:
        columns = 2 + OF_PAIR * len(self.targets) * (1 if self.curve is None else 2)
        blocks = tuple((ROWS_COLUMN, CLICKS_COLUMN, start, start + 1) for start in range(2, columns, OF_PAIR))
        return Tee(self.spec.folds(columns, blocks=blocks))

    def mapped(self, batch: LogBatch) -> Sample:
        context = batch.dependent([self._context])
        place, slots = self.cells.of(context[self._context], batch.contexts), batch.contexts.slots
        tables = [found[:, :slots][place] for found in _click_tables(self.cells, self.curve)]
        values = [np.ones(len(batch)), batch.clicked]
        for target in self.targets:
            at_rank = propensities(target, batch).candidate_ranks
            for table, most in zip(tables, _most(self.curve, slots), strict=True):
                known = np.isfinite(table)
                lower, upper = np.where(known, table, 0.0), np.where(known, table, most)
                values += [(at_rank * each).sum(axis=(1, 2)) for each in (lower, upper, known, np.ones_like(table))]
        return Sample(np.column_stack(values), batch.row, context)

    @property
    def _context(self) -> str:
        return self.spec.columns[0]


def bounds_of(question: TargetEvaluation, source: Source) -> Mapping[str, tuple[Bounds, ...]]:
    """Return the bounds of each target: without a curve, then with it; the log is read twice.

    Raises:
        UsageError: no column of contexts, or a curve that is shorter than the slates.
        AbilityError: a target whose law is not known. LogError: a log that bounds nothing, see `CellsFold`.
    """
    context, executor = _context_of(question, source), question.executor
    executor = executor.executor if isinstance(executor, CheckpointFolder) else executor
    spec, first = replace(question.spec, cluster=context), CellsFold(context)
    cells = run(source.select(first.needs), first, executor)
    curve = question.trained.curve
    targets = tuple(fitted(one, source, executor) for one in question.targets.values())
    if curve is not None and len(curve) < cells.ranks:
        raise UsageError(
            f"the examination curve has {len(curve)} ranks, but the slates have {cells.ranks}",
            "give a value for each rank",
        )
    second = BoundsFold(cells, targets, None if curve is None else np.array(curve), spec)
    counted = spec.inference(run(source.select(second.needs), second, executor, question.progress))
    counted = replace(counted, nonnegative=True)
    assumed = [assumptions.ITEM_POSITION, *([] if curve is None else [assumptions.POSITION_BASED])]
    pairs = ((name, one) for name in question.targets for one in assumed)
    found = [from_columns(name, one, context, counted, 2 + OF_PAIR * n) for n, (name, one) in enumerate(pairs)]
    return {name: tuple(one for one in found if one.target == name) for name in question.targets}


def _context_of(question: TargetEvaluation, source: Source) -> str:
    asked = question.cluster_column
    asked = "query" if asked == AUTO and has(source, Needs(clusters=frozenset(["query"]))) else asked
    if asked in (None, AUTO):
        remedy = Wording("name the column whose values repeat, such as the query: {}", Option("cluster", "COLUMN"))
        raise UsageError("bounds need contexts that repeat, and the log has no column for them", remedy)
    return str(asked)


def _click_tables(cells: Cells, curve: Floats | None) -> Iterator[Floats]:
    """Yield the click probabilities [items + 1, ranks] of each assumption, NaN where the log does not tell them."""
    yield cells.rates()
    if curve is not None:
        yield cells.relevance(curve)[:, None] * curve[: cells.ranks]


def _most(curve: Floats | None, slots: int) -> Iterator[Floats]:
    """Yield the largest click probability at each rank [slots] under each assumption."""
    yield np.ones(slots)
    if curve is not None:
        yield np.minimum(curve[:slots] / curve[0], 1.0)
