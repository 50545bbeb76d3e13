"""All estimators for all targets, in one pass: batches in, rows of terms out to the inner folds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import Any, Generic, TypeVar, cast, get_args

import numpy as np

from ..errors import ImpossibleSlateError, OffrankError, RowError
from ..folds.base import Fold, Sample
from ..folds.group_by import GroupBy
from ..folds.moments import Block
from ..inference.by_slot import BySlot
from ..inference.ratio import Ratio
from ..log import rules
from ..log.batch import Floats, Labels, LogBatch
from ..log.source import Needs
from ..policies.base import Ability
from ..policies.propensities import AnyPolicy, ShownAbility, law_needs, propensities, shown_needs
from ..running.cache import RunCache
from . import _kernels, _kernels_slots
from .base import Asked, Estimator, Predicting, Terms, terms
from .reference import Reference, reference_terms
from .worth import BLOCKS, WorthLayout, WorthTerms, blocks
from .wrappers import weighing

LARGEST = 1e150
"""Of a row's value or weight: the squares of more could not be summed. What is below its inverse counts as zero."""
TOGETHER = 10
"""So many estimators have third moments of their differences; there are as many as the third power of this."""

S = TypeVar("S")
R = TypeVar("R")


@dataclass(frozen=True)
class Layout:
    """Which column of a sample holds what, each already divided by the inclusion probability.

    Column 0: one per row. Columns 1 and 2: the logged reward and the logged clicks. Then a pair
    (value, weight) for each target and estimator. Then for each block of slots (the last one holds all slots from
    rank `BLOCKS` on) the number of slots, and a pair (value, weight) for each target and estimator of `per_slot`.

    references: those of the estimators that nobody asked for, so that they refuse no row.
    """

    targets: tuple[AnyPolicy, ...]
    estimators: tuple[Estimator, ...]
    per_slot: tuple[Estimator, ...] = ()
    references: tuple[Reference, ...] = ()

    @property
    def columns(self) -> int:
        """Columns before those of slots."""
        return 3 + 2 * len(self.targets) * len(self.estimators)

    @property
    def stride(self) -> int:
        """Columns of a block of slots."""
        return 1 + 2 * len(self.targets) * len(self.per_slot) if self.per_slot else 0

    @cached_property
    def worth(self) -> WorthLayout:
        """The sums that say what estimates are worth."""
        weighed = (weighing(estimator) for estimator in self.estimators)
        slotted = tuple(one is not None and one.earns == "clicks" for one in weighed)
        return WorthLayout(slotted * len(self.targets))

    def pairs(self) -> Iterator[tuple[AnyPolicy, Estimator, int, int]]:
        """Every (target, estimator, value column, weight column)."""
        column = 3
        for target in self.targets:
            for estimator in self.estimators:
                yield target, estimator, column, column + 1
                column += 2

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The columns that one number is made from: those of a target, or of each of its many estimators.

        And those of an estimator for all targets, or for the first of many and each other one: for their differences.
        """
        each = 2 * (len(self.estimators) if len(self.estimators) <= TOGETHER else 1)
        found = [list(range(first, first + each)) for first in range(3, self.columns, each or 1)]
        stride, others = 2 * len(self.estimators), range(1, len(self.targets))
        compared = [[0, *others]] if len(self.targets) <= TOGETHER else [[0, other] for other in others]
        for first in range(3, 3 + stride, 2) if others else ():
            found += [[first + stride * t + part for t in some for part in (0, 1)] for some in compared]
        return tuple((0, 1, 2, *block) for block in found)

    def slot_pairs(self) -> Iterator[tuple[AnyPolicy, Estimator, int]]:
        """Every (target, estimator) of `per_slot`, and its value column in the first block of slots."""
        column = self.columns + 1
        for target in self.targets:
            for estimator in self.per_slot:
                yield target, estimator, column
                column += 2

    def by_slot(self, target: AnyPolicy, estimator: Estimator, width: int) -> BySlot:
        """The mean that divides each slot by its own weight, in states of `width` columns."""
        [first] = [column for known, other, column in self.slot_pairs() if known == target and other == estimator]
        values = range(first, width, self.stride)
        numbers = range(self.columns, width, self.stride)
        return BySlot(tuple(values), tuple(value + 1 for value in values), tuple(numbers), 0)

    def logged(self, estimator: Estimator) -> Ratio:
        """What the logging policy earned, in the outcome that the estimator weighs."""
        return Ratio(1 if estimator.earns == "reward" else 2, 0)


@dataclass(frozen=True)
class TermsFold(Generic[S, R]):
    """Turns batches into samples and hands them to `inner`. clusters: columns whose values mark dependent rows."""

    layout: Layout
    logging: AnyPolicy
    inner: Fold[S, Sample, R]
    clusters: tuple[str, ...] = ()
    cache: RunCache = field(default_factory=RunCache, compare=False, repr=False)

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
        layout = self.layout
        values = np.zeros((len(batch), layout.columns + layout.stride * blocks(batch.slates.shape[1])))
        values[:, 0] = 1.0
        if batch.outcome is not None or batch.clicks is not None:
            values[:, 1] = batch.reward
        if batch.clicks is not None:
            values[:, 2] = values[:, 1] if batch.outcome is None else batch.clicks.sum(axis=1)
        logging = propensities(self.logging, batch, self.cache)
        shown = {id(target): propensities(target, batch, self.cache) for target in self.layout.targets}
        every: dict[tuple[int, Estimator], Terms] = {}
        for target, estimator, value, weight in layout.pairs():
            if isinstance(estimator, Reference) and estimator in layout.references:
                found = reference_terms(estimator, batch, logging, shown[id(target)])
            else:
                found = terms(estimator, batch, logging, shown[id(target)])
            values[:, value], values[:, weight] = found.value, found.weight
            every[id(target), estimator] = found
        if layout.per_slot:
            self._slots(values, batch, every)
        rewards, earned = (values[:, 1].copy(), values[:, 2].copy()), [outcome(one) for _, one in every]
        summed = WorthTerms(layout.worth, batch, rewards, tuple(zip(every.values(), earned, strict=True)))
        if (batch.inclusion != 1).any():
            values /= batch.inclusion[:, None]
        row, column = _kernels.settle(values, 1 / LARGEST, LARGEST)
        if row >= 0:
            raise self._beyond(batch, row, column, values[row])
        return Sample(values, batch.row, batch.dependent(self.clusters), summed)

    def _beyond(self, batch: LogBatch, row: int, column: int, values: Floats) -> OffrankError:
        """Why a row's [d] values cannot be summed: one in `column` is too large, or no number."""
        place, number = int(batch.row[row]) - batch.base, f"{values[column]:.3g}"
        for target, estimator, value, weight in self.layout.pairs():
            if column == weight or (column == value and not abs(values[weight]) <= LARGEST):
                return ImpossibleSlateError(
                    f"{batch.file}, row {place} (the first is 0): {estimator!r} gives the logged slate the weight "
                    f"{values[weight]:.3g} for {target!r}: {self.logging!r} says that it hardly ever happens",
                    "this cannot be how the log was drawn: check the propensities, the score column, the temperature "
                    "and the examination curve, or bound the weights: clip(ips, 100)",
                )
            if column == value:
                return self._outcome(batch, place, estimator.earns, number)
        names = ("inclusion", "reward", "clicks")
        return self._outcome(batch, place, names[column] if column < len(names) else "clicks", number)

    def _outcome(self, batch: LogBatch, place: int, column: str, number: str) -> RowError:
        rule = rules.TOO_LARGE
        return RowError(batch.file, place, column, rule.code, f"{number} {rule.broken}", rule.remedy)

    def _slots(self, values: Floats, batch: LogBatch, found: Mapping[tuple[int, Estimator], Terms]) -> None:
        """Fill the columns of slots."""
        layout, length = self.layout, batch.contexts.length
        for block, column in enumerate(range(layout.columns, values.shape[1], layout.stride)):
            more = length - block
            values[:, column] = np.maximum(more, 0) if block == BLOCKS - 1 else more > 0
        for target, estimator, first in layout.slot_pairs():
            weights = found[id(target), estimator].weights
            if weights is None or batch.clicks is None:
                raise ValueError(f"{estimator!r} has no weights of clicks")
            weight, control = weights.weight, weights.control
            _kernels_slots.normalising(weight, control, batch.clicks, length, values, first, layout.stride, BLOCKS)


def outcome(estimator: Estimator) -> int:
    """0 where an estimator weighs the logged reward, 1 where clicks."""
    return 0 if estimator.earns == "reward" else 1


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


def needs(layout: Layout, logging: AnyPolicy) -> Needs:
    """The columns that the estimators read, through the policies that they ask.

    Raises:
        AbilityError: a policy cannot know what an estimator asks.
    """
    # The logged reward is always read: whether it is something else than the clicks must not depend on who else asks.
    found: list[Any] = [Needs(frozenset(["reward"]))]
    for estimator in layout.estimators:
        found.append(Needs(frozenset([estimator.earns])))
        if estimator.asks_logging is not None:
            found.append(_needs(logging, estimator.asks_logging))
        if estimator.asks_target is not None:
            found += [_needs(target, estimator.asks_target) for target in layout.targets]
        if isinstance(estimator, Predicting):
            found += [estimator.needs(target) for target in layout.targets]
    return reduce(Needs.__or__, found)


def _needs(policy: AnyPolicy, asked: Asked) -> Needs:
    if asked in get_args(ShownAbility):
        return shown_needs(policy, cast(ShownAbility, asked))
    return law_needs(policy, cast(Ability, asked))
