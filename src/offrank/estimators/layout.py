"""The named columns of a sample: of each row, of each pair of a target and an estimator, and of slots."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial, reduce
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from ..log.source import Needs
from ..policies.base import Policy
from ..policies.by import By
from ..sums.mean import Mean, Name, excess, ratio
from ..sums.named_sums import NamedColumns
from .base import Estimator, Reference, Weighted

if TYPE_CHECKING:
    from .history import ArmsHistory

ROWS, REWARD, CLICKS = "rows", "reward", "clicks"
"""Columns of a sample: one per row, and the outcomes as logged, called as estimators call them."""
PER = "per"
"""What an outcome is divided by that is a ratio of two means."""
CONTROL, SLOTS = "control", "slots"
"""Columns of a control, and in blocks of slots of how many a row has there."""
TOGETHER = 10
"""Up to this many estimators have third moments of their differences, whose number grows with its third power."""
BLOCKS = 20
"""The slots from this rank on are summed as one block."""


@dataclass(frozen=True)
class Marks:
    """How many rows have what.

    - clicks: known clicks. unlike: a reward that is not their sum. priced: a click that is neither 0 nor 1.
    - rewarded: a reward other than 0. clicked: clicks whose sum is not 0.
    """

    clicks: float
    unlike: float
    priced: float
    rewarded: float
    clicked: float


MARKS = tuple(f"rows with {one.name}" for one in fields(Marks))
"""The columns of these counts among the sums of a log."""


LOGGED = ("number", "clicks", "above")
WEIGHTED = ("control", "value", "square", "pair", "beside")
"""Sums by block of slots, as logged, and of each pair whose clicks are weighted."""


SQUARES: dict[Name, Name] = {outcome: f"{outcome} squares" for outcome in ("reward", "clicks")}
"""The columns of the squares of the logged outcomes."""


def columns_without_moments(slotted: Sequence[bool]) -> NamedColumns:
    """The names of the sums of which no moments are taken, each but MARKS divided by the inclusion probability.

    `SQUARES`: of the logged reward, and of an impression's logged clicks. MARKS: how many rows have what. For each pair
    of target and estimator the weighted reward (earned) and its weighted square, and the squared weights, summed over
    slots. By block of slots LOGGED, and WEIGHTED of each pair that weights clicks. slotted: whether a pair does.
    """
    pairs = range(len(slotted))
    once = [f"{name} {pair}" for pair in pairs for name in ("earned", "squared", "weights")]
    in_slots = [f"{name} {pair}" for pair in pairs if slotted[pair] for name in WEIGHTED]
    return NamedColumns((*SQUARES.values(), *MARKS, *once), (*LOGGED, *in_slots) if any(slotted) else ())


class TargetPair(NamedTuple):
    """A target and an estimator, their number among all pairs, and the names of their columns.

    value, weight: of each row; per: the weight times what the outcome is divided by. slot_value, slot_weight, slot_per:
    in each block of slots. drawn: values by draws from the posterior of the estimator's model. parts: its further sums.
    outcome: REWARD or CLICKS, which it estimates. weighted: how it weights the logged ones, and plain: without a bound;
    None where it does not.
    """

    target: Policy
    estimator: Estimator
    weighted: Weighted | None
    plain: Weighted | None
    number: int
    value: Name
    weight: Name
    per: Name
    slot_value: Name
    slot_weight: Name
    slot_per: Name
    drawn: Mapping[Name, Estimator]
    outcome: Name
    parts: Mapping[str, Name]


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
    ratio: whether the outcome is a ratio of two means, whose columns are PER, and that of each pair and arm.
    divisor: the column by which a sum of the outcome is divided. of_rows: the columns of a row as logged.
    learnt: those of what a model of the history of clicks says of arms, or of rankers whose lists were merged.
    """

    targets: tuple[Policy, ...]
    estimators: tuple[Estimator, ...]
    per_slot: tuple[Estimator, ...] = ()
    references: tuple[Reference, ...] = ()
    arms: By | None = None
    control: str | None = None
    history: ArmsHistory | None = None
    ratio: bool = False
    divisor: Name = field(init=False, compare=False, repr=False)
    of_rows: tuple[Name, ...] = field(init=False, compare=False, repr=False)
    learnt: tuple[Name, ...] = field(init=False, compare=False, repr=False)
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
            per, slots = f"{PER} {number}", "in slots"
            names = value, weight, per, f"{value} {slots}", f"{weight} {slots}", f"{per} {slots}"
            parts = {part: f"{part} {number}" for part in estimator.parts} if estimator.parts else {}
            known = target, estimator, weighted, plain, number, *names, drawn, kind.outcome, parts
            pairs.append(TargetPair(*known))
        put = partial(object.__setattr__, self)
        put("pairs", tuple(pairs))
        put("places", {(one.target, one.estimator): one for one in pairs})
        put("rewards", (REWARD, CLICKS, *(one.value for one in pairs)))
        put("divisor", PER if self.ratio else ROWS)
        put("of_rows", (ROWS, REWARD, CLICKS, *([PER] if self.ratio else [])))
        once = [*self.of_rows, *(name for one in pairs for name in (one.value, one.weight))]
        once += [name for one in pairs for name in (*one.drawn, *one.parts.values())]
        once += [one.per for one in pairs] if self.ratio else []
        learnt = () if self.history is None else range(len(self.history.directions))
        put("learnt", tuple(by_history(ranker) for ranker in learnt))
        once += [*([] if self.arms is None else self._of_arms), *self.learnt]
        once += [] if self.control is None else self._of_control(self.controlled)
        slotted = self.slotted if self.per_slot else []
        blocks = [SLOTS, *(name for one in slotted for name in (one.slot_value, one.slot_weight))] if slotted else []
        blocks += [one.slot_per for one in slotted] if self.ratio else []
        put("columns", NamedColumns(tuple(once), tuple(blocks)))
        clicked = tuple(one.weighted is not None and one.weighted.kind.outcome == "clicks" for one in pairs)
        put("summed", columns_without_moments(clicked))

    def with_slots(self, column: Name) -> tuple[Name, ...]:
        """A column of rewards, and that of its slots."""
        return (column, *(one.slot_value for one in self.slotted if one.value == column))

    def needs(self, logging: Policy) -> Needs:
        """The columns that the estimators and their policies read.

        Raises:
            AbilityError: a policy lacks an ability that an estimator requires.
        """
        # The logged reward is always read: whether it differs from the clicks must not depend on the other estimators.
        found: list[Any] = [Needs(frozenset(["reward"]))]
        for estimator in self.estimators:
            kind = estimator.kind
            found.append(Needs(frozenset([kind.outcome])))
            for policy, ability in [(logging, kind.logging), *((target, kind.target) for target in self.targets)]:
                if ability is not None:
                    found.append(policy.reads(ability))
            found += [estimator.needs(target) for target in self.targets]
        if self.control is not None:
            found.append(Needs(numbers=frozenset([self.control])))
        if self.arms is not None:
            found.append(self.arms.reads("log_prob") if self.tells_lists else self.arms.column_read)
        if self.history is not None:
            found.append(self.history.needs())
        return reduce(Needs.__or__, found)

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
        """The columns of arms."""
        return [of_arm(arm, column) for arm in range(self.served_by) for column in self.of_rows]

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
        named = [[name for one in some for name in (one.value, one.weight, *one.parts.values())] for some in found]
        if self.ratio:
            named = [[*names, *(one.per for one in some)] for names, some in zip(named, found, strict=True)]
        if self.arms is not None and self.served_by <= TOGETHER:
            named.append([*self._of_arms, *self.learnt])
        elif self.learnt and len(self.learnt) <= TOGETHER:
            named.append([*self.learnt])
        for some in named:
            yield *self.of_rows, *some, *([] if self.control is None else self._of_control(some))

    def arm_mean(self, arm: int, outcome: Name) -> Mean:
        """The mean of the rows that an arm served. outcome: REWARD or CLICKS."""
        return ratio(of_arm(arm, outcome), of_arm(arm, self.divisor))

    def history_mean(self, arm: int) -> Mean:
        """The mean of what the model of the history of clicks says of an arm."""
        return ratio(by_history(arm), ROWS)

    def logged(self, estimator: Estimator) -> Mean:
        """The mean of the logging policy, in the outcome that the estimator estimates."""
        return ratio(estimator.kind.outcome, self.divisor)
