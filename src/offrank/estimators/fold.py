"""All estimators for all targets, in one pass: batches in, rows of terms out to the inner folds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any, Generic, TypeVar

import numpy as np

from ..folds.base import Fold, Sample
from ..folds.group_by import GroupBy
from ..folds.intervals import Ratio
from ..log.batch import Labels, LogBatch
from ..log.source import Needs
from ..policies.base import Policy
from ..policies.shown import Shown
from .base import Estimator, Predicting, terms

S = TypeVar("S")
R = TypeVar("R")


@dataclass(frozen=True)
class Layout:
    """Which column of a sample holds what, each already divided by the inclusion probability.

    Column 0: one per row. Columns 1 and 2: the logged reward and the logged clicks. Then a pair
    (value, weight) for each target and estimator.
    """

    targets: tuple[Policy, ...]
    estimators: tuple[Estimator, ...]

    @property
    def columns(self) -> int:
        return 3 + 2 * len(self.targets) * len(self.estimators)

    def pairs(self) -> Iterator[tuple[Policy, Estimator, int, int]]:
        """Every (target, estimator, value column, weight column)."""
        column = 3
        for target in self.targets:
            for estimator in self.estimators:
                yield target, estimator, column, column + 1
                column += 2

    def logged(self, estimator: Estimator) -> Ratio:
        """What the logging policy earned, in the outcome that the estimator weighs."""
        return Ratio(1 if estimator.earns == "reward" else 2, 0)


@dataclass(frozen=True)
class TermsFold(Generic[S, R]):
    """Turns batches into samples and hands them to `inner`. clusters: columns whose values mark dependent rows."""

    layout: Layout
    logging: Policy
    inner: Fold[S, Sample, R]
    clusters: tuple[str, ...] = ()

    def empty(self) -> S:
        return self.inner.empty()

    def add(self, state: S, batch: LogBatch) -> S:
        return self.inner.add(state, self.sample(batch))

    def merge(self, left: S, right: S) -> S:
        return self.inner.merge(left, right)

    def finish(self, state: S) -> R:
        return self.inner.finish(state)

    def sample(self, batch: LogBatch) -> Sample:
        """The rows of terms of a batch."""
        values = np.zeros((len(batch), self.layout.columns))
        values[:, 0] = 1.0
        if batch.outcome is not None or batch.clicks is not None:
            values[:, 1] = batch.reward
        if batch.clicks is not None:
            values[:, 2] = values[:, 1] if batch.outcome is None else batch.clicks.sum(axis=1)
        logging = Shown(self.logging, batch)
        shown = {id(target): Shown(target, batch) for target in self.layout.targets}
        for target, estimator, value, weight in self.layout.pairs():
            found = terms(estimator, batch, logging, shown[id(target)])
            values[:, value], values[:, weight] = found.value, found.weight
        if (batch.inclusion != 1).any():
            values /= batch.inclusion[:, None]
        return Sample(values, batch.row, batch.dependent(self.clusters))


@dataclass(frozen=True)
class ByColumn:
    """Groups rows by a column of the log."""

    column: str

    def __call__(self, batch: LogBatch) -> Labels:
        return batch.labels[self.column]


@dataclass(frozen=True)
class BySlots:
    """Groups rows by their number of slots."""

    def __call__(self, batch: LogBatch) -> Labels:
        slots, codes = np.unique(batch.contexts.length, return_inverse=True)
        return Labels(codes, tuple(str(number) for number in slots))


@dataclass(frozen=True)
class GroupedTermsFold:
    """As TermsFold, and beside the whole log's state one of `each` for every group."""

    terms: TermsFold[Any, Any]
    by: ByColumn | BySlots
    each: Fold[Any, Sample, Any]

    def empty(self) -> tuple[Any, dict[str, Any]]:
        return self.terms.empty(), self._groups.empty()

    def add(self, state: tuple[Any, dict[str, Any]], batch: LogBatch) -> tuple[Any, dict[str, Any]]:
        sample, labels = self.terms.sample(batch), self.by(batch)
        groups = self._groups.add_groups(state[1], sample, labels.codes, labels.names)
        return self.terms.inner.add(state[0], sample), groups

    def merge(self, left: tuple[Any, dict[str, Any]], right: tuple[Any, dict[str, Any]]) -> tuple[Any, dict[str, Any]]:
        return self.terms.merge(left[0], right[0]), self._groups.merge(left[1], right[1])

    def finish(self, state: tuple[Any, dict[str, Any]]) -> tuple[Any, dict[str, Any]]:
        """The whole log's result, and each group's."""
        return self.terms.finish(state[0]), self._groups.finish(state[1])

    @property
    def _groups(self) -> GroupBy[Any, Any]:
        return GroupBy(self.each)


def needs(layout: Layout, logging: Policy) -> Needs:
    """The columns that the estimators read, through the policies that they ask.

    Raises:
        AbilityError: a policy cannot know what an estimator asks.
    """
    found: list[Any] = [Needs()]
    for estimator in layout.estimators:
        found.append(Needs(frozenset([estimator.earns])))
        if estimator.asks_logging is not None:
            found.append(logging.needs(estimator.asks_logging))
        if estimator.asks_target is not None:
            found += [target.needs(estimator.asks_target) for target in layout.targets]
        if isinstance(estimator, Predicting):
            found += [estimator.needs(target) for target in layout.targets]
    return reduce(Needs.__or__, found)
