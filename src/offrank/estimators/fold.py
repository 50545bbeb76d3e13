"""All estimators for all targets in one pass: batches become rows of terms for the inner folds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import product
from typing import Any, NamedTuple, cast, get_args

import numpy as np

from ..errors import ImpossibleSlateError, OffrankError, RowError
from ..folds.base import Fold, MappedFold, Sample
from ..folds.group_by import Grouping
from ..folds.moments import Block
from ..inference.ratio import BySlot, ControlExcess, Ratio
from ..log import rules
from ..log.batch import Floats, LogBatch
from ..log.source import Needs
from ..policies.base import Ability
from ..policies.by import By
from ..policies.propensities import AnyPolicy, ShownAbility, law_needs, propensities, shown_needs
from ..policies.ties import sorts
from . import _kernels, _kernels_slots
from .base import Asked, Estimator, Reference, Terms, refuse_impossible, terms_of
from .effective_size import BLOCKS, EffectiveSizeLayout, EffectiveSizeTerms, blocks
from .history import ArmsHistory
from .marks import marks
from .wrappers import weights_of

ROWS, REWARD, CLICKS = 0, 1, 2
"""The first columns of a sample."""
LARGEST = 1e150
"""Largest value or weight of a row whose square can be summed. Values below its inverse count as zero."""
TOGETHER = 10
"""Up to this many estimators have third moments of their differences, whose number grows with its third power."""


class PairColumns(NamedTuple):
    """A target and an estimator: their number among all pairs, and the columns of values and weights."""

    target: AnyPolicy
    estimator: Estimator
    number: int
    value: int
    weight: int


@dataclass(frozen=True)
class Layout:
    """The columns of a sample, each already divided by the inclusion probability.

    ROWS: one per row. REWARD and CLICKS: as logged. Then a pair (value, weight) for each target and estimator:
    `places`. Then the values by draws from the posteriors of models: `drawn_places`. Then for each block of slots (the
    last one holds all slots from rank `BLOCKS` on) the number of slots, and a pair for each target and estimator of
    `per_slot`: `slot_places`. Before those of slots, three for each arm of an experiment: ROWS, REWARD and CLICKS of
    the rows that it served. Then what a model of the history of clicks says of each arm, if there is one. Then, where
    there is a control, its own column, and it times the weight of each pair and times each arm's ROWS: `controls`.

    references: estimators added implicitly, which therefore reject no row. arms: which ranker served a row, if known.
    control: a column that was known before the impression. history: what was learnt of the clicks of an experiment.
    """

    targets: tuple[AnyPolicy, ...]
    estimators: tuple[Estimator, ...]
    per_slot: tuple[Estimator, ...] = ()
    references: tuple[Reference, ...] = ()
    arms: By | None = None
    control: str | None = None
    history: ArmsHistory | None = None

    @property
    def columns(self) -> int:
        """Number of columns before those of slots."""
        return self.before_control + (0 if self.control is None else 1 + len(self.controlled))

    @property
    def before_control(self) -> int:
        """Number of columns before those of the control."""
        return self.before_history + (0 if self.history is None else self.served_by)

    @property
    def before_history(self) -> int:
        """Number of columns before those of the model of the history of clicks."""
        return self.before_arms + 3 * self.served_by

    @cached_property
    def controlled(self) -> tuple[int, ...]:
        """The columns that are multiplied by the control: the weights of all pairs, and the ROWS of arms."""
        arms = range(self.before_arms, self.before_history, 3)
        return (*(one.weight for one in self.pairs), *arms)

    def excess(self, weight: int, denominator: int) -> ControlExcess | None:
        """How far the control's mean by a column of weights is from its plain mean; None without a control."""
        if self.control is None:
            return None
        weighed = self.before_control + 1 + self.controlled.index(weight)
        return ControlExcess(weighed, weight, self.before_control, denominator, ROWS)

    @property
    def before_arms(self) -> int:
        """Number of columns before those of arms."""
        return self.paired + len(self.targets) * sum(len(one.drawn) for one in self.estimators)

    @property
    def served_by(self) -> int:
        """Number of arms."""
        return 0 if self.arms is None else len(self.arms.policies)

    @property
    def paired(self) -> int:
        """Number of columns before those of draws."""
        return 3 + 2 * len(self.targets) * len(self.estimators)

    @cached_property
    def drawn_places(self) -> dict[tuple[AnyPolicy, Estimator], tuple[int, ...]]:
        """(target, estimator) -> the columns of its values by draws from the posterior of its model."""
        found, first = {}, self.paired
        for pair in product(self.targets, self.estimators):
            columns = range(first, first + len(pair[1].drawn))
            found[pair], first = tuple(columns), columns.stop
        return found

    @property
    def tells_lists(self) -> bool:
        """Whether each arm has one list, which its mixture with others would not miss in its rows."""
        return self.arms is not None and self.arms.any_slate and sorts(self.arms)

    @property
    def stride(self) -> int:
        """Number of columns of a block of slots."""
        return 1 + 2 * len(self.targets) * len(self.per_slot) if self.per_slot else 0

    @cached_property
    def effective_sizes(self) -> EffectiveSizeLayout:
        """The layout of the sums for effective sample sizes."""
        weighed = (weights_of(estimator) for estimator in self.estimators)
        slotted = tuple(one is not None and one.outcome == "clicks" for one in weighed)
        return EffectiveSizeLayout(slotted * len(self.targets))

    @cached_property
    def pairs(self) -> tuple[PairColumns, ...]:
        """Every target with every estimator, and their columns."""
        every = enumerate(product(self.targets, self.estimators))
        return tuple(PairColumns(*pair, number, 3 + 2 * number, 4 + 2 * number) for number, pair in every)

    @cached_property
    def places(self) -> dict[tuple[AnyPolicy, Estimator], PairColumns]:
        """(target, estimator) -> the pair of them."""
        return {(one.target, one.estimator): one for one in self.pairs}

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The columns that enter one result: those of a target, or of each estimator where there are many.

        Also those of an estimator for all targets, or for the first of many and each other one, for their differences.
        """
        each = 2 * (len(self.estimators) if len(self.estimators) <= TOGETHER else 1)
        found = [list(range(first, first + each)) for first in range(3, self.paired, each or 1)]
        stride, others = 2 * len(self.estimators), range(1, len(self.targets))
        compared = [[0, *others]] if len(self.targets) <= TOGETHER else [[0, other] for other in others]
        for first in range(3, 3 + stride, 2) if others else ():
            found += [[first + stride * t + part for t in some for part in (0, 1)] for some in compared]
        if 0 < self.served_by <= TOGETHER:
            found.append(list(range(self.before_arms, self.before_control)))
        return tuple((0, 1, 2, *block, *self._controls(block)) for block in found)

    def _controls(self, block: Sequence[int]) -> list[int]:
        """The columns of the control that belong to a block."""
        if self.control is None:
            return []
        first = self.before_control
        return [first, *(first + 1 + at for at, column in enumerate(self.controlled) if column in block)]

    @cached_property
    def slot_places(self) -> dict[tuple[AnyPolicy, Estimator], int]:
        """(target, estimator) in `per_slot` -> its value column in the first block of slots."""
        every = enumerate(product(self.targets, self.per_slot))
        return {pair: self.columns + 1 + 2 * number for number, pair in every}

    def by_slot(self, target: AnyPolicy, estimator: Estimator, width: int) -> BySlot:
        """The mean that normalises each slot by its own weight, in states of `width` columns."""
        values = range(self.slot_places[target, estimator], width, self.stride)
        numbers = range(self.columns, width, self.stride)
        return BySlot(tuple(values), tuple(value + 1 for value in values), tuple(numbers), ROWS)

    def arm_mean(self, arm: int, outcome: int) -> Ratio:
        """The mean of the rows that an arm served. outcome: REWARD or CLICKS."""
        first = self.before_arms + 3 * arm
        return Ratio(first + outcome, first + ROWS)

    def history_mean(self, arm: int) -> Ratio:
        """The mean of what the model of the history of clicks says of an arm."""
        return Ratio(self.before_history + arm, ROWS)

    def logged(self, estimator: Estimator) -> Ratio:
        """The mean of the logging policy, in the outcome that the estimator estimates."""
        return Ratio(REWARD if estimator.outcome == "reward" else CLICKS, ROWS)


@dataclass(frozen=True)
class TermsFold(MappedFold):
    """Turns batches into samples and passes them to `reducer`.

    clusters: columns whose values mark dependent rows. by: the group of each row.
    """

    layout: Layout
    logging: AnyPolicy
    inner: Fold[Any, Sample, Any]
    clusters: tuple[str, ...] = ()
    by: Grouping | None = None

    @property
    def reducer(self) -> Fold[Any, Sample, Any]:
        return self.inner

    def mapped(self, batch: LogBatch) -> Sample:
        """The rows of terms of a batch."""
        layout = self.layout
        values = np.zeros((len(batch), layout.columns + layout.stride * blocks(batch.slates.shape[1])))
        known = batch.outcome is not None or batch.clicks is not None
        reward = batch.reward if known else np.zeros(len(batch))
        clicks = batch.clicked if batch.clicks is not None else np.zeros(len(batch))
        values[:, ROWS], values[:, REWARD], values[:, CLICKS] = 1.0, reward, clicks
        counted = marks(batch, reward, clicks)
        logging = propensities(self.logging, batch)
        every: dict[tuple[int, Estimator], Terms] = {}
        lenient: dict[Estimator, Any] = {one: one.lenient_terms for one in layout.references}
        for target, estimator, _, value, weight in layout.pairs:
            if estimator in lenient:
                found: Terms = lenient[estimator](batch, logging, propensities(target, batch))
            else:
                found = terms_of(estimator, batch, self.logging, target)
            values[:, value], values[:, weight] = found.value, found.weight
            every[id(target), estimator] = found
        for (target, estimator), columns in layout.drawn_places.items():
            for column, one in zip(columns, estimator.drawn, strict=True):
                values[:, column] = terms_of(one, batch, self.logging, target).value
        self._arms(values, batch)
        self._control(values, batch)
        if layout.per_slot:
            self._slots(values, batch, every)
        earned = [outcome_index(one) for _, one in every]
        found_of = tuple(zip(every.values(), earned, strict=True))
        summed = EffectiveSizeTerms(layout.effective_sizes, batch, (reward, clicks), found_of)
        if batch.sampled:
            values /= batch.inclusion[:, None]
        row, column = _kernels.settle(values, 1 / LARGEST, LARGEST)
        if row >= 0:
            raise self._beyond(batch, row, column, values[row])
        groups = None if self.by is None else self.by(batch)
        return Sample(values, batch.row, batch.dependent(self.clusters), summed, groups, counted)

    def _arms(self, values: Floats, batch: LogBatch) -> None:
        """Fill the columns of the arms."""
        layout = self.layout
        if layout.arms is not None:
            if layout.tells_lists:
                own = propensities(layout.arms, batch)
                refuse_impossible(batch, np.isneginf(own.log_prob), own)
            served = layout.arms.arms(batch.contexts)[:, None] == np.arange(layout.served_by)
            each = served[:, :, None] * values[:, None, : CLICKS + 1]
            values[:, layout.before_arms : layout.before_history] = each.reshape(len(batch), -1)
        if layout.history is not None:
            values[:, layout.before_history : layout.before_control] = layout.history.terms(batch)

    def _control(self, values: Floats, batch: LogBatch) -> None:
        """Fill the columns of the control."""
        layout = self.layout
        if layout.control is not None:
            control = batch.numbers[layout.control][:, None]
            found = np.hstack([control, control * values[:, layout.controlled]])
            values[:, layout.before_control : layout.columns] = found

    def _beyond(self, batch: LogBatch, row: int, column: int, values: Floats) -> OffrankError:
        """The error for a row whose [d] values cannot be summed, because the one in `column` is too large or NaN."""
        place, number = int(batch.row[row]) - batch.base, f"{values[column]:.3g}"
        for target, estimator, _, value, weight in self.layout.pairs:
            if column == weight or (column == value and not abs(values[weight]) <= LARGEST):
                return ImpossibleSlateError(
                    f"{batch.file}, row {place} (the first is 0): {estimator!r} gives the logged slate the weight "
                    f"{values[weight]:.3g} for {target!r}, because its probability under {self.logging!r} is almost "
                    "0",
                    "the logging policy cannot be right: check the propensities, the score column, the temperature "
                    "and the examination curve, or bound the weights: clip(ips, 100)",
                )
            if column == value:
                return self._outcome(batch, place, estimator.outcome, number)
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
        for (target, estimator), first in layout.slot_places.items():
            weights = found[id(target), estimator].weights
            if weights is None or batch.clicks is None:
                raise ValueError(f"{estimator!r} has no weights of clicks")
            weight, control = weights.weight, weights.control
            _kernels_slots.normalising(weight, control, batch.clicks, length, values, first, layout.stride, BLOCKS)


def outcome_index(estimator: Estimator) -> int:
    """0 if an estimator weights the logged reward, 1 if it weights clicks."""
    return 0 if estimator.outcome == "reward" else 1


def needs(layout: Layout, logging: AnyPolicy) -> Needs:
    """The columns that the estimators and their policies read.

    Raises:
        AbilityError: a policy lacks an ability that an estimator requires.
    """
    # The logged reward is always read: whether it differs from the clicks must not depend on the other estimators.
    found: list[Any] = [Needs(frozenset(["reward"]))]
    for estimator in layout.estimators:
        found.append(Needs(frozenset([estimator.outcome])))
        if estimator.requires_logging is not None:
            found.append(_needs(logging, estimator.requires_logging))
        if estimator.requires_target is not None:
            found += [_needs(target, estimator.requires_target) for target in layout.targets]
        found += [estimator.needs(target) for target in layout.targets]
    if layout.control is not None:
        found.append(Needs(numbers=frozenset([layout.control])))
    if layout.arms is not None:
        found.append(layout.arms.needs("log_prob") if layout.tells_lists else layout.arms.reads)
    if layout.history is not None:
        found.append(layout.history.needs)
    return reduce(Needs.__or__, found)


def _needs(policy: AnyPolicy, asked: Asked) -> Needs:
    if asked in get_args(ShownAbility):
        return shown_needs(policy, cast(ShownAbility, asked))
    return law_needs(policy, cast(Ability, asked))
