"""An A/B test of rankers: the difference of means of two arms, and what the same rows say off-policy.

The difference of means needs no policy. The estimators that assume more are combined by the shares of least variance,
and the difference of means leans on what they say together, in an interval that holds whether or not they are right.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..estimators.layout import CONTROL, REWARD, ROWS, of_arm
from ..findings import cautions_for
from ..findings.arms import ArmsEvidence, ControlEvidence
from ..findings.row import EstimatorKind, Row
from ..language.assumptions import FROM_TOP, HISTORY, LISTS_ALONE
from ..language.registry import Later
from ..log.batch import Floats
from ..policies.base import Policy
from ..sums.estimate import Caution, Estimate, Interval, Known
from ..sums.mean import Mean, combined, ratio, relative
from ..sums.named_sums import ByName, Sums
from .candidates import Rows
from .counts import Counts

if TYPE_CHECKING:
    from ..inference import uncertain_prior
else:  # needed where arms are compared
    uncertain_prior = Later("..inference.uncertain_prior", __package__)

MEANS, COMBINED = "difference of means", "combined"
"""The answers of an A/B test, by the names that stand in the place of an estimator."""
CONTRADICTS = 3.0
"""Deviates of the paired difference to what assumes less, from which the assumption is called false. If it is right,
that happens to 3 of 1,000."""
ADMITTED = FROM_TOP | HISTORY
"""What may be assumed of users in a combination: no more than all usual click models do, or nearly all."""
BY_HISTORY = "history"
"""The name of the step by a model of the history of clicks."""
OF_STATE = "a state holds sums of rows, and no model that two logs could share"
"""Why there is none in a state."""
_ROUNDED_ALIKE = 1e-6
"""Of a standard error: two estimators that differ by less are the same in this log."""


@dataclass(frozen=True)
class Arm:
    """One ranker of the test: its value in the column, its share of the impressions, and what these earned.

    designed: the share that was said, with `balanced(by(...), shares={...})`; None where it was counted.
    """

    arm: str
    policy: str
    impressions: float
    share: Interval
    designed: float | None
    mean: Interval


@dataclass(frozen=True)
class Step:
    """What one estimator says of the difference of two arms.

    - assumes: beyond the difference of means. difference: its own. contrast: less what assumes less, on the same rows.
    - share: of it in the answer, or in the pool; None where it assumes too much.
    """

    estimator: str
    assumes: tuple[str, ...]
    difference: Interval
    contrast: Interval
    share: float | None

    @property
    def contradicted(self) -> bool:
        """Whether what assumes less says otherwise."""
        return self.share is not None and self.contrast.deviation(0.0) > CONTRADICTS


@dataclass(frozen=True)
class ArmsCompared:
    """The difference of two arms: of their means, by each estimator, and combined.

    - combined: its interval holds whether or not the steps are right.
    - saved: the square of how much longer the interval of the means is: how many times fewer sessions it needs.
    - lists_alone: the same, if the arms differ only in their lists for certain; None where the log says otherwise,
      or that makes it no sharper.
    - plain: of means without the control, where there is one; from this on sessions are saved.
    """

    target: str
    against: str
    means: Interval
    steps: tuple[Step, ...]
    combined: Interval
    saved: float | None
    plain: Known = None
    lists_alone: Known = None


Sides = tuple[Mean, Mean]
"""A difference of two arms as the means to subtract."""


@dataclass(frozen=True)
class PooledSteps:
    """What the steps and the means say together, by shares of least variance.

    sides: by all that are admitted. alone: by those that assume nothing about users; None where one is refuted.
    """

    steps: tuple[Step, ...]
    sides: Sides
    alone: Sides | None


@dataclass(frozen=True)
class ABTest:
    """The arms of a log, and their differences.

    column: which tells the arm of a row. left_out: why there is no step by the history of clicks, where there is none.
    """

    column: str
    arms: tuple[Arm, ...]
    compared: tuple[ArmsCompared, ...]
    left_out: str | None = None


@dataclass(frozen=True)
class ArmsPair:
    """Two arms of a log, whose rankers are the targets that are compared.

    arms: their numbers in the layout. targets, rows: the two rankers, and what the estimators say of each.
    """

    summary: Counts
    arms: tuple[int, int]
    targets: tuple[Policy, Policy]
    rows: tuple[Rows, Rows]

    @property
    def means(self) -> tuple[Mean, Mean]:
        """The mean reward of each arm."""
        one, other = map(self.summary.arm_mean, self.arms)
        return one, other

    @property
    def anchor(self) -> Interval:
        """The difference of means, with Welch's error where rows are independent, else by clusters."""
        return welch_difference(self.summary, self.arms, self.means)

    @property
    def plain(self) -> Interval:
        """The difference of means as it is without a control."""
        one, other = (self.summary.layout.arm_mean(arm, REWARD) for arm in self.arms)
        return welch_difference(self.summary, self.arms, (one, other))

    def pooled(self) -> PooledSteps:
        """The estimators, what assumes least first, and what they say together."""
        parts: list[tuple[tuple[Mean, Mean], float]] = [(self.means, 1.0)]
        alone, steps = None, list[Step]()
        for name, assumes, means in self._further():
            step = self._step(name, assumes, _minus(*means), _minus(*_sides(parts)))
            steps.append(step)
            if step.share is not None:
                parts = [(both, held * (1 - step.share)) for both, held in parts] + [(means, step.share)]
            if not assumes and step.share and not any(one.contradicted for one in steps):
                alone = _sides(parts)
        held = iter(share for _, share in parts[1:])
        shared = (one if one.share is None else replace(one, share=next(held)) for one in steps)
        return PooledSteps(tuple(shared), _sides(parts), alone)

    def _further(self) -> Iterator[tuple[str, frozenset[str], tuple[Mean, Mean]]]:
        """What assumes more than the means, the least first: its name, assumptions, and its mean of both."""
        names = [one for one in self.rows[0] if one in self.rows[1]]
        for name in sorted(names, key=lambda one: (len(self.rows[0][one].kind.assumes), one)):
            mine, theirs = (some[name] for some in self.rows)
            if all(row.sound and row.kind.weighs != "logged" and row.outcome == "reward" for row in (mine, theirs)):
                both = zip(self.targets, (mine.estimator, theirs.estimator), strict=True)
                one, other = (self.summary.mean(*pair) for pair in both)
                yield mine.name, mine.kind.assumes, (one, other)
        layout = self.summary.layout
        if layout.history is not None and not self.summary.group and self.summary.clicks_alone:
            one, other = map(layout.history_mean, self.arms)
            yield BY_HISTORY, ADMITTED, (one, other)

    def _step(self, name: str, assumed: frozenset[str], own: Mean, less: Mean) -> Step:
        """What one estimator says, and its share of least variance with those that assume less."""
        inference, nothing = self.summary.inference, combined([(less, 0.0)])
        difference, before = (inference.difference(one, nothing) for one in (own, less))
        contrast = inference.difference(own, less)
        same = contrast.standard_error <= _ROUNDED_ALIKE * before.standard_error
        share = (0.0 if same else _least_variance(before, difference, contrast)) if assumed <= ADMITTED else None
        return Step(name, tuple(sorted(assumed | LISTS_ALONE)), difference, contrast, share)

    def leaning(self, own: Interval, sides: tuple[Mean, Mean], other: Sides) -> tuple[uncertain_prior.Leaning, Sides]:
        """How far a difference leans on another one, and both together."""
        inference = self.summary.inference
        contrast = inference.difference(_minus(*other), _minus(*sides))
        found = uncertain_prior.leaning(own, inference.difference(*other), contrast, self.summary.spec.level)
        one, two = (
            combined([(mine, 1 - found.share), (theirs, found.share)])
            for mine, theirs in zip(sides, other, strict=True)
        )
        return found, (one, two)

    def compared(self, names: tuple[str, str], confidence: float) -> ArmsCompared:
        """The whole comparison. confidence: the level of its intervals."""
        at = replace(self, summary=self.summary.at(confidence))
        pooled, means, plain = at.pooled(), at.anchor, at.plain
        found, both = at.leaning(means, at.means, pooled.sides)
        steps = tuple(one if one.share is None else replace(one, share=one.share * found.share) for one in pooled.steps)
        together = found.interval(means, at._value(both))
        control = None if at.summary.layout.control is None else plain
        alone = at._lists_alone(pooled)
        return ArmsCompared(*names, means, steps, together, saved(plain, together), control, alone)

    def _lists_alone(self, pooled: PooledSteps) -> Interval | None:
        """The difference if the arms differ only in their lists; None where that is refuted, or makes it no sharper."""
        if pooled.alone is None:
            return None
        own, means = self.summary.inference.difference(*pooled.alone), self.anchor
        found, both = self.leaning(own, pooled.alone, pooled.sides)
        return found.interval(own, self._value(both)) if own.high - own.low < means.high - means.low else None

    def _value(self, sides: Sides) -> float:
        return self.summary.inference.difference(*sides).value

    def candidates(self, about_log: Sequence[Caution]) -> list[Row]:
        """The combination, and the difference of means that it is held against, as possible answers.

        about_log: what binds both; of the rest of the log's faults, those of the logging policy bind the first alone.
        """
        found, both = self.leaning(self.anchor, self.means, self.pooled().sides)
        share, first = self.summary.relative(*self.means), next(iter(self.rows[0].values()))
        means = Row(
            MEANS,
            first.estimator,
            EstimatorKind(),
            difference_estimate(self.summary, self.anchor, about_log),
            relative=share,
        )
        if found == uncertain_prior.Leaning():
            return [means]
        away = found.interval(self.anchor, self._value(both))
        change = self.summary.sums.value(relative(*both))
        together = replace(
            means,
            name=COMBINED,
            estimate=difference_estimate(self.summary, away, about_log),
            relative=share and found.interval(share, change),
            kind=EstimatorKind(logging="log_prob"),
        )
        return [together, replace(means, asked=False)]


def pair_of(
    summary: Counts, targets: Mapping[str, Policy], rows: Mapping[str, Rows], names: tuple[str, str]
) -> ArmsPair | None:
    """The arms that served two targets; None if one of them has none, or its arm no row."""
    places = [_number_of(summary, name, targets.get(name)) for name in names]
    if None in places or places[0] == places[1]:
        return None
    arms = int(places[0] or 0), int(places[1] or 0)
    if any(summary.sums.total[of_arm(arm, ROWS)] <= 0 for arm in arms):
        return None
    return ArmsPair(summary, arms, (targets[names[0]], targets[names[1]]), (rows[names[0]], rows[names[1]]))


def arms(summary: Counts, designed: Mapping[str, float] | None) -> tuple[Arm, ...]:
    """The arms of a log. designed: their shares, where these were said."""
    known, inference = summary.layout.arms, summary.inference
    found = []
    for number, (value, policy) in enumerate(known.policies.items() if known is not None else ()):
        mean = summary.arm_mean(number)
        rows = float(summary.sums.total[of_arm(number, ROWS)])
        share = inference.interval(ratio(of_arm(number, ROWS), ROWS))
        said = None if designed is None else designed[value]
        found.append(Arm(str(value), repr(policy), rows, share, said, inference.interval(mean)))
    return tuple(found)


def of_shares(summary: Counts, designed: Mapping[str, float] | None) -> tuple[Caution, ...]:
    """What the shares of the arms say of the log, where these were designed."""
    if designed is None or summary.layout.arms is None:
        return ()
    shares = {one.arm: (one.share, one.designed) for one in arms(summary, designed) if one.designed is not None}
    return cautions_for(ArmsEvidence(column=summary.layout.arms.column, shares=shares))


def of_control(summary: Counts) -> tuple[Caution, ...]:
    """What the arms say of the control: known before the impression, it differs between them by chance alone."""
    layout, found = summary.layout, {}
    if layout.control is None or layout.arms is None:
        return ()
    for number, value in enumerate(layout.arms.policies):
        rows = of_arm(number, ROWS)
        excess = layout.excess(rows, rows)
        if excess is not None and summary.sums.total[rows] > 0:
            found[str(value)] = summary.inference.difference(excess, combined([(excess, 0.0)]))
    return cautions_for(ControlEvidence(column=layout.control, arms=layout.arms.column, away=found))


def welch_difference(summary: Counts, places: tuple[int, int], means: Sides) -> Interval:
    """The difference of the means of two arms; of independent rows with Welch's error, which divides by n - 1 each.

    With a control that of the rewards less its slope times it, as fixed: tea-tasting and Deng and others (2013).
    """
    found, sums = summary.inference.difference(*means), summary.sums
    sampled = sums.squares[ROWS] != sums.total[ROWS]
    if sampled or any(summary.inference.widest(mean).clusters is not None for mean in means):
        return found
    variance = 0.0
    for arm, mean in zip(places, means, strict=True):
        rows = float(sums.total[of_arm(arm, ROWS)])
        if not rows > 1:
            return replace(found, low=-math.inf, high=math.inf, standard_error=math.inf)
        divided = float(sums.total[mean.shares[0]]) / rows  # 1, but of a ratio of two means
        variance += sums.moments.variation(_in_arm(mean, sums)) / (rows - 1) / rows / divided**2
    error = math.sqrt(variance)
    stretch = error / found.standard_error if found.standard_error > 0 else 1.0
    low, high = (found.value + stretch * (end - found.value) for end in (found.low, found.high))
    return replace(found, low=low, high=high, standard_error=error)


def _in_arm(mean: Mean, sums: Sums) -> Floats:
    """[d] coefficients of a row's reward less the mean of its arm, both adjusted by the control; 0 in other arms."""
    found = sums.influence(mean) * float(sums.total[mean.shares[0]]) / sums.n
    named = ByName(sums.columns, found)
    for column in (ROWS, CONTROL):
        if column in sums.columns.once:
            named[column] = 0.0
    return found


def saved(means: Interval, found: Interval) -> float | None:
    """How many times fewer sessions it needs than the difference of means does: the squared ratio of both lengths."""
    one, other = (ends.high - ends.low for ends in (means, found))
    return (one / other) ** 2 if 0 < other < math.inf and one < math.inf else None


def _number_of(summary: Counts, name: str, target: Policy | None) -> int | None:
    """The number of the arm that a target served: by its name, else by its policy."""
    known = summary.layout.arms
    if known is None or target is None:
        return None
    same = [(number, str(value)) for number, (value, one) in enumerate(known.policies.items()) if one == target]
    return next((number for number, value in same if value == name), same[0][0] if same else None)


def _least_variance(before: Interval, own: Interval, contrast: Interval) -> float:
    """The share of least variance of what assumes more, between 0 and 1."""
    one, other, between = (found.standard_error**2 for found in (before, own, contrast))
    if not 0 < between < math.inf:
        return 0.0
    return min(max((one + between - other) / (2 * between), 0.0), 1.0)


def _minus(one: Mean, other: Mean) -> Mean:
    return combined([(one, 1.0), (other, -1.0)])


def _sides(parts: Sequence[tuple[tuple[Mean, Mean], float]]) -> Sides:
    """The combination for each of two arms. parts: means of both, and their share."""
    one, other = (combined([(both[side], share) for both, share in parts]) for side in (0, 1))
    return one, other


def difference_estimate(summary: Counts, away: Interval, about_log: Sequence[Caution]) -> Estimate:
    """A difference of two rankers as an estimate."""
    known = away.value, away.low, away.high, away.standard_error, summary.sums.n
    least = summary.detectable(away, away.standard_error, 1.0)
    return Estimate(*known, math.nan, None, 0.0, difference=away, detectable=least, about_log=tuple(about_log))
