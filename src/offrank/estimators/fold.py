"""All estimators for all targets in one pass: batches become rows of terms for the inner folds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial, reduce
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..errors import ImpossibleSlateError, OffrankError, RowError
from ..log import rules
from ..log.batch import LogBatch
from ..log.source import Needs
from ..policies.base import Policy
from ..policies.by import By
from ..policies.propensities import propensities
from ..sums.base import Fold, Sample
from ..sums.group_by import Grouping
from ..sums.mean import Mean, Name, excess, ratio
from ..sums.named_sums import ByName, NamedColumns
from . import _kernels, _kernels_slots
from .base import Estimator, Reference, Terms, Weighted, refuse_impossible, terms_of
from .effective_size import BLOCKS, EffectiveSizeTerms, columns_without_moments

if TYPE_CHECKING:
    from .history import ArmsHistory

ROWS, REWARD, CLICKS = "rows", "reward", "clicks"
"""Columns of a sample: one per row, and the outcomes as logged, called as estimators call them."""
CONTROL, SLOTS = "control", "slots"
"""Columns of a control, and in blocks of slots of how many a row has there."""
LARGEST = 1e150
"""Largest value or weight of a row whose square can be summed. Values below its inverse count as zero."""
TOGETHER = 10
"""Up to this many estimators have third moments of their differences, whose number grows with its third power."""


class TargetPair(NamedTuple):
    """A target and an estimator, their number among all pairs, and the names of their columns.

    value, weight: of each row. slot_value, slot_weight: in each block of slots. drawn: values by draws from the
    posterior of the estimator's model. outcome: REWARD or CLICKS, which it estimates. weighted: how it weights the
    logged ones, and plain: without a bound; None where it does not.
    """

    target: Policy
    estimator: Estimator
    weighted: Weighted | None
    plain: Weighted | None
    number: int
    value: Name
    weight: Name
    slot_value: Name
    slot_weight: Name
    drawn: Mapping[Name, Estimator]
    outcome: Name


def of_arm(arm: int, column: Name) -> Name:
    """One of ROWS, REWARD and CLICKS of the rows that an arm of an experiment served."""
    return f"{column} of arm {arm}"


def by_history(arm: int) -> Name:
    """What a model of the history of clicks says of an arm."""
    return f"history of arm {arm}"


def times_control(column: Name) -> Name:
    """A column times that of the control."""
    return f"control times {column}"


@dataclass(frozen=True)
class Layout:
    """The named columns of a sample, each already divided by the inclusion probability.

    ROWS: one per row. REWARD and CLICKS: as logged. Value and weight of each `TargetPair`, and
    values by draws from the posteriors of models. ROWS, REWARD and CLICKS of the rows that each arm of an experiment
    served, and what a model of the history of clicks says of it. The CONTROL, and it times the weights of each pair
    and times each arm's ROWS. In blocks of slots (the last one holds all slots from rank `BLOCKS` on) the number of
    SLOTS, and value and weight of each pair whose estimator is in `per_slot`.

    references: estimators added implicitly, which therefore reject no row. arms: which ranker served a row, if known.
    control: a column that was known before the impression. history: what was learnt of the clicks of an experiment.
    """

    targets: tuple[Policy, ...]
    estimators: tuple[Estimator, ...]
    per_slot: tuple[Estimator, ...] = ()
    references: tuple[Reference, ...] = ()
    arms: By | None = None
    control: str | None = None
    history: ArmsHistory | None = None
    pairs: tuple[TargetPair, ...] = field(init=False, compare=False, repr=False)
    places: dict[tuple[Policy, Estimator], TargetPair] = field(init=False, compare=False, repr=False)
    columns: NamedColumns = field(init=False, compare=False, repr=False)
    rewards: tuple[Name, ...] = field(init=False, compare=False, repr=False)
    summed: NamedColumns = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        pairs = list[TargetPair]()
        for number, (target, estimator) in enumerate(product(self.targets, self.estimators)):
            kind, weighted = estimator.kind, estimator.weighting
            plain = weighted if kind.bound is None else kind.bound.free
            value, weight = f"value {number}", f"weight {number}"
            draws = () if kind.model is None else estimator.drawn
            drawn: dict[Name, Estimator] = {f"{value} by draw {at}": one for at, one in enumerate(draws)}
            names = value, weight, f"{value} in slots", f"{weight} in slots"
            pairs.append(TargetPair(target, estimator, weighted, plain, number, *names, drawn, kind.outcome))
        put = partial(object.__setattr__, self)
        put("pairs", tuple(pairs))
        put("places", {(one.target, one.estimator): one for one in pairs})
        put("rewards", (REWARD, CLICKS, *(one.value for one in pairs)))
        once = [ROWS, REWARD, CLICKS, *(name for one in pairs for name in (one.value, one.weight))]
        once += [name for one in pairs for name in one.drawn]
        once += [] if self.arms is None else self._of_arms
        once += [] if self.control is None else self._of_control(self.controlled)
        slotted = self.slotted if self.per_slot else []
        blocks = [SLOTS, *(name for one in slotted for name in (one.slot_value, one.slot_weight))] if slotted else []
        put("columns", NamedColumns(tuple(once), tuple(blocks)))
        clicked = tuple(one.weighted is not None and one.weighted.kind.outcome == "clicks" for one in pairs)
        put("summed", columns_without_moments(clicked))

    @property
    def slotted(self) -> list[TargetPair]:
        """The pairs that have columns in blocks of slots."""
        return [self.places[pair] for pair in product(self.targets, self.per_slot)]

    @property
    def served_by(self) -> int:
        """Number of arms."""
        return 0 if self.arms is None else len(self.arms.policies)

    @property
    def tells_lists(self) -> bool:
        """Whether each arm has one list, which its mixture with others would not miss in its rows."""
        return self.arms is not None and self.arms.any_slate and self.arms.sorts

    @property
    def _of_arms(self) -> list[Name]:
        """The columns of arms, and of what is learnt of them."""
        arms = range(self.served_by)
        found = [of_arm(arm, column) for arm in arms for column in (ROWS, REWARD, CLICKS)]
        return found + ([] if self.history is None else [by_history(arm) for arm in arms])

    @property
    def controlled(self) -> list[Name]:
        """The columns that are multiplied by the control: the weights of all pairs, and the ROWS of arms."""
        return [one.weight for one in self.pairs] + [of_arm(arm, ROWS) for arm in range(self.served_by)]

    def _of_control(self, some: Sequence[Name]) -> list[Name]:
        """The columns of the control that belong to some others."""
        return [CONTROL, *(times_control(column) for column in self.controlled if column in some)]

    def excess(self, weight: Name, denominator: Name) -> Mean | None:
        """How far the control's mean by a column of weights is from its plain mean; None without a control."""
        if self.control is None:
            return None
        return excess(times_control(weight), weight, CONTROL, denominator, ROWS)

    @property
    def blocks(self) -> Iterator[tuple[Name, ...]]:
        """The columns that enter one result: those of a target, or of each estimator where there are many.

        Also those of an estimator for all targets, or for the first of many and each other one, for their differences.
        """
        each, every = len(self.estimators), self.pairs
        step = each if each <= TOGETHER else 1
        found = [every[first : first + step] for first in range(0, len(every), step or 1)]
        others = range(1, len(self.targets))
        compared = [[0, *others]] if len(self.targets) <= TOGETHER else [[0, other] for other in others]
        for number in range(each) if others else ():
            found += [tuple(every[number + each * target] for target in some) for some in compared]
        named = [[name for one in some for name in (one.value, one.weight)] for some in found]
        if self.arms is not None and self.served_by <= TOGETHER:
            named.append(self._of_arms)
        for some in named:
            yield ROWS, REWARD, CLICKS, *some, *([] if self.control is None else self._of_control(some))

    def arm_mean(self, arm: int, outcome: Name) -> Mean:
        """The mean of the rows that an arm served. outcome: REWARD or CLICKS."""
        return ratio(of_arm(arm, outcome), of_arm(arm, ROWS))

    def history_mean(self, arm: int) -> Mean:
        """The mean of what the model of the history of clicks says of an arm."""
        return ratio(by_history(arm), ROWS)

    def logged(self, estimator: Estimator) -> Mean:
        """The mean of the logging policy, in the outcome that the estimator estimates."""
        return ratio(estimator.kind.outcome, ROWS)


@dataclass(frozen=True)
class TermsFold(Fold):
    """Turns batches into samples, whose sums it keeps.

    clusters: columns whose values mark dependent rows. by: the group of each row.
    """

    layout: Layout
    logging: Policy
    sums: Fold
    clusters: tuple[str, ...] = ()
    by: Grouping | None = None

    def add(self, part: Any, batch: LogBatch) -> Any:
        """The sum of a part and of the rows of terms of a batch."""
        layout, columns = self.layout, self.layout.columns
        # Each column stands together in memory, which only columns of slots need empty.
        room = np.zeros if layout.per_slot else np.empty
        values = room((columns.width(min(batch.slates.shape[1], BLOCKS)), len(batch.row))).T
        clicks = np.zeros(len(batch)) if batch.clicks is None else batch.click_sums.total
        reward = clicks if batch.outcome is None else batch.outcome
        named = ByName(columns, values)
        named[ROWS], named[REWARD], named[CLICKS] = 1.0, reward, clicks
        logging = propensities(self.logging, batch)
        every = list[Terms]()
        lenient: dict[Estimator, Any] = {one: one.lenient_terms for one in layout.references}
        for pair in layout.pairs:
            target, estimator, *_ = pair
            if estimator in lenient:
                found: Terms = lenient[estimator](batch, logging, propensities(target, batch))
            else:
                found = terms_of(estimator, batch, self.logging, target)
            named[pair.value], named[pair.weight] = found.value, found.weight
            every.append(found)
            for name, one in pair.drawn.items():
                named[name] = terms_of(one, batch, self.logging, target).value
        if layout.arms is not None:
            self._arms(named, batch, layout.arms)
        if layout.control is not None:
            named[CONTROL] = batch.numbers[layout.control]
            for weight in layout.controlled:
                named[times_control(weight)] = named[CONTROL] * named[weight]
        if layout.per_slot:
            self._slots(named, batch, every)
        rewards: dict[Name, Any] = {REWARD: reward, CLICKS: clicks}
        earned = tuple((terms, rewards[pair.outcome]) for terms, pair in zip(every, layout.pairs, strict=True))
        summed = EffectiveSizeTerms(layout.summed, batch, (reward, clicks), earned)
        if batch.sampled:
            values /= batch.inclusion[:, None]
        column, row = _kernels.settle(values.T, 1 / LARGEST, LARGEST)
        if row >= 0:
            raise self._beyond(batch, row, columns.name(column), ByName(columns, values[row]))
        groups = None if self.by is None else self.by(batch)
        return self.sums.add(part, Sample(values.T, batch.row, batch.dependent(self.clusters), summed, groups))

    def _arms(self, named: ByName, batch: LogBatch, served: By) -> None:
        """Fill the columns of the arms, and of what is learnt of them."""
        layout = self.layout
        if layout.tells_lists:
            own = propensities(served, batch)
            refuse_impossible(batch, np.isneginf(own.log_prob), own)
        arms = served.arms(batch.contexts)
        for arm in range(layout.served_by):
            for column in (ROWS, REWARD, CLICKS):
                named[of_arm(arm, column)] = (arms == arm) * named[column]
        if layout.history is not None:
            for arm, terms in enumerate(layout.history.terms(batch).T):
                named[by_history(arm)] = terms

    def _beyond(self, batch: LogBatch, row: int, column: Name, values: ByName) -> OffrankError:
        """The error for a row whose values cannot be summed, because the one in `column` is too large or NaN."""
        place, number = int(batch.row[row]) - batch.base, f"{values[column]:.3g}"
        for pair in self.layout.pairs:
            weight = float(values[pair.weight])
            if column == pair.weight or (column == pair.value and not abs(weight) <= LARGEST):
                return ImpossibleSlateError(
                    f"{batch.file}, row {place} (the first is 0): {pair.estimator!r} gives the logged slate the weight "
                    f"{weight:.3g} for {pair.target!r}, because its probability under {self.logging!r} is almost "
                    "0",
                    "the logging policy cannot be right: check the propensities, the score column, the temperature "
                    "and the examination curve, or bound the weights: clip(ips, 100)",
                )
            if column == pair.value:
                return self._outcome(batch, place, pair.estimator.kind.outcome, number)
        names: dict[Name, str] = {ROWS: "inclusion", REWARD: "reward"}
        return self._outcome(batch, place, names.get(column, "clicks"), number)

    def _outcome(self, batch: LogBatch, place: int, column: str, number: str) -> RowError:
        rule = rules.TOO_LARGE
        return RowError(batch.file, place, column, rule.code, f"{number} {rule.broken}", rule.remedy)

    def _slots(self, named: ByName, batch: LogBatch, found: Sequence[Terms]) -> None:
        """Fill the columns of slots."""
        length, number = batch.contexts.length, named[SLOTS]
        number[:] = length[:, None] > np.arange(number.shape[1])
        if number.shape[1] == BLOCKS:
            number[:, -1] = np.maximum(length - (BLOCKS - 1), 0)
        for pair in self.layout.slotted:
            weights = found[pair.number].weights
            if weights is None or batch.clicks is None:
                raise ValueError(f"{pair.estimator!r} has no weights of clicks")
            columns = named[pair.slot_value], named[pair.slot_weight]
            _kernels_slots.normalising(weights.weight, weights.control, batch.clicks, length, *columns)


def needs(layout: Layout, logging: Policy) -> Needs:
    """The columns that the estimators and their policies read.

    Raises:
        AbilityError: a policy lacks an ability that an estimator requires.
    """
    # The logged reward is always read: whether it differs from the clicks must not depend on the other estimators.
    found: list[Any] = [Needs(frozenset(["reward"]))]
    for estimator in layout.estimators:
        kind = estimator.kind
        found.append(Needs(frozenset([kind.outcome])))
        for policy, ability in [(logging, kind.logging), *((target, kind.target) for target in layout.targets)]:
            if ability is not None:
                found.append(policy.reads(ability))
        found += [estimator.needs(target) for target in layout.targets]
    if layout.control is not None:
        found.append(Needs(numbers=frozenset([layout.control])))
    if layout.arms is not None:
        found.append(layout.arms.reads("log_prob") if layout.tells_lists else layout.arms.column_read)
    if layout.history is not None:
        found.append(layout.history.needs())
    return reduce(Needs.__or__, found)
