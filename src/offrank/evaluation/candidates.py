"""What the estimators say of one target: one row each, selected where the data select, compared with each other."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any

from ..errors import NoOverlapError
from ..estimators.family import Family
from ..estimators.fold import Layout
from ..estimators.named import REFERENCES
from ..estimators.wrappers import SelfNormalised, without_normalisation
from ..findings import cautions_for, has_cause
from ..findings.evidence import DisagreementEvidence, SelectedMemberEvidence, SelectorEvidence
from ..findings.verdict import EstimateRow
from ..language.formatting import nine_digits
from ..policies.base import Policy
from ..selection.bounds import least_error
from ..selection.windows import slope
from ..sums.estimate import Caution, Estimate, Interval
from .counts import AnyEstimator, Counts

Given = dict[str, tuple[AnyEstimator, Estimate]]
"""Estimators by their spelling, each with its estimate."""
Rows = Mapping[str, EstimateRow[AnyEstimator]]
"""What the estimators say of one target, by the spelling that was asked for; references have their own."""


@dataclass(frozen=True)
class Pick:
    """An estimator chosen before the evaluation, and the one that its interval has to include, by spelling.

    margin: the least distance of the ends of its interval from its value, where no candidate can be trusted.
    """

    chosen: str
    held_to: str
    evidence: SelectorEvidence
    margin: float = 0.0


def row_of(
    summary: Counts, name: str, estimator: AnyEstimator, found: Estimate | NoOverlapError, **more: Any
) -> EstimateRow[AnyEstimator]:
    """Return what an estimator says. name: the spelling that was asked for. more: further fields of the row."""
    plain = without_normalisation(estimator)
    return EstimateRow(
        name,
        estimator,
        plain.assumptions,
        found,
        outcome="clicks" if plain.outcome == "clicks" and not summary.rewards_are_clicks else "reward",
        requires_logging=plain.requires_logging is not None,
        of_target=plain.weighs != "logged",
        base=plain,
        normalisation=estimator.normalisation,
        **more,
    )


def selected(
    summary: Counts, target: Policy, spelling: str, family: Family, pick: Pick | None = None
) -> EstimateRow[AnyEstimator]:
    """Return the estimate selected from a family of estimators; most spellings have one member.

    pick: the selection, if it was made before.

    The interval is the union of the selected one and that of the first trustworthy window, or of the estimate without a
    bound, so that if the assumption of that one holds it covers the truth at least as often as that one does, whatever
    was selected.
    """
    made = {name: (estimator, summary.estimate(target, estimator)) for name, estimator in family.items()}
    if pick is not None:
        return _picked(summary, spelling, made, pick)
    if len(made) == 1:
        return row_of(summary, spelling, *next(iter(made.values())))
    bounded, free = (
        len({without_normalisation(one).window_size for one in family.values()}) == 1,
        next(iter(made.values())),
    )
    if bounded and not isinstance(free[1], Estimate):
        return row_of(summary, spelling, *free)
    given = {name: (estimator, e) for name, (estimator, e) in made.items() if isinstance(e, Estimate)}
    if not given:
        return row_of(summary, spelling, *next(reversed(made.values())))
    names, estimates = list(given), [estimate for _, estimate in given.values()]
    known = [summary.error_is_reliable(target, estimator, estimate) for estimator, estimate in given.values()]
    trusted = next((place for place, sure in enumerate(known) if sure), None)
    if bounded:
        choice_made = _by_error(summary, target, given)
    else:
        # An estimate without a known error contradicts nothing.
        half_widths = [e.standard_error if sure else math.inf for e, sure in zip(estimates, known, strict=True)]
        choice = slope([estimate.value for estimate in estimates], half_widths)
        choice_made = SelectedMemberEvidence(names=tuple(names), chosen=choice.index, refuted=choice.refuted)
    choice_made = replace(choice_made, trusted=trusted)
    held = names[0 if bounded else trusted or 0]
    name = names[choice_made.chosen]
    honest = _held(given, name, held, cautions_for(choice_made))
    return row_of(summary, spelling, given[name][0], honest, held_to=given[held][0], considered=given)


def _held(given: Given, name: str, held: str, warnings: Sequence[Caution]) -> Estimate:
    """Return the estimate of this name with its interval extended to include that of `held`."""
    (_, found), (_, first) = given[name], given[held]
    return replace(
        found,
        low=min(first.low, found.low),
        high=max(first.high, found.high),
        difference=span(first.difference, found.difference),
        warnings=(*found.warnings, *warnings),
        chosen=name,
    )


def _by_error(summary: Counts, target: Policy, given: Given) -> SelectedMemberEvidence:
    """Return the choice among ever tighter bounds of the weights."""
    means = [summary.mean(target, estimator) for estimator, _ in given.values()]
    kept = [summary.kept(target, estimator) for estimator, _ in given.values()]
    first = next(iter(given.values()))[0]
    choice = least_error(
        [estimate.value for _, estimate in given.values()],
        [estimate.standard_error for _, estimate in given.values()],
        kept if without_normalisation(first).normalised else [one / kept[0] for one in kept],
        [summary.inference.difference(mean, means[-1]).standard_error for mean in means],
    )
    return SelectedMemberEvidence(names=tuple(given), chosen=choice.index, bias=choice.biases[choice.index])


def _picked(
    summary: Counts,
    spelling: str,
    made: Mapping[str, tuple[AnyEstimator, Estimate | NoOverlapError]],
    pick: Pick,
) -> EstimateRow[AnyEstimator]:
    """Return a selection that was made before; a part of the log may lack either estimate."""
    given = {name: (estimator, e) for name, (estimator, e) in made.items() if isinstance(e, Estimate)}
    if not {pick.chosen, pick.held_to} <= set(given):
        return row_of(summary, spelling, *made[pick.chosen if pick.held_to in given else pick.held_to])
    estimator, alone = given[pick.chosen]
    found = _widened(alone, _held(given, pick.chosen, pick.held_to, cautions_for(pick.evidence)), pick.margin)
    if summary.nonnegative and found.value >= 0:
        found = replace(found, low=max(found.low, 0.0))
    return row_of(summary, spelling, estimator, found, held_to=given[pick.held_to][0])


def _widened(alone: Estimate, found: Estimate, margin: float) -> Estimate:
    """Widen the intervals of an estimate to at least its value plus and minus a margin."""
    if not margin:
        return found
    away = found.difference
    if away is not None:
        low, high = away.value - margin, away.value + margin
        away = replace(away, low=min(away.low, low), high=max(away.high, high))
    low, high = alone.value - margin, alone.value + margin
    return replace(found, low=min(found.low, low), high=max(found.high, high), difference=away)


def span(one: Interval | None, other: Interval | None) -> Interval | None:
    """Widen the interval of `one` to include that of `other`."""
    if one is None or other is None:
        return other
    return other.spanning(one)


def requested(rows: Rows) -> list[EstimateRow[AnyEstimator]]:
    """Return the rows that the user requested."""
    return [row for row in rows.values() if row.asked]


def references(layout: Layout) -> list[AnyEstimator]:
    """Return the estimators that the user did not request and that assume less; `snips` too, where `ips` was asked."""
    plain = REFERENCES[:1] if REFERENCES[0] in layout.estimators else ()
    every = dict.fromkeys([*plain, *layout.references])
    return [SelfNormalised(one) if one == REFERENCES[0] else one for one in every]  # better for frequent clicks


def of_references(summary: Counts, target: Policy, some: Iterable[AnyEstimator]) -> Rows:
    """Return what references say of a target, as far as the log gives it."""
    every = ((one, summary.estimate(target, one)) for one in some)
    return {repr(one): row_of(summary, repr(one), one, e, asked=False) for one, e in every if isinstance(e, Estimate)}


def beside_log(summary: Counts, target: Policy, row: EstimateRow[AnyEstimator]) -> EstimateRow[AnyEstimator]:
    """Return a row of a target with what the verdict on it needs: the mean of the log, and how far it is away."""
    if not row.of_target:
        return row
    plain, held_to = without_normalisation(row.estimator), row.held_to
    row = replace(row, most=float(summary.sums.largest[plain.outcome]))
    if held_to is not None and held_to != row.estimator and _unwarned(summary.estimate(target, held_to)):
        row = replace(row, holds=without_normalisation(held_to).assumptions)
    if row.estimate is None:
        return row
    logged = summary.logged(plain)
    relative = summary.relative(summary.mean(target, row.estimator), summary.layout.logged(plain))
    return replace(row, logged=logged, relative=relative)


def _unwarned(found: Estimate | NoOverlapError) -> bool:
    """Whether an estimate has no warning, so that an interval that contains its own is as sound."""
    return isinstance(found, Estimate) and all(one.severity == "note" for one in found.warnings)


def contradicted(summary: Counts, target: Policy, rows: Rows, pairs: int) -> Rows:
    """Return the rows of a target, with a warning on estimates that differ from a less assuming one.

    Where the further assumption holds, both estimate the same and their paired difference has mean 0
    (Hausman's specification test). Estimates without a known error contradict no other, nor do those that are
    contradicted themselves; bounded ones neither contradict nor are contradicted, for their bias is known, as is that
    of unseen items. If the data chose an estimator, the ones that they did not choose may contradict it too.

    pairs: comparisons in the whole run.
    """
    given = {name: (row.estimator, row.estimate, row.asked) for name, row in rows.items()}
    known = [(name, (estimator, e), asked) for name, (estimator, e, asked) in given.items() if e is not None]
    every: Given = {name: one for name, one, asked in known if asked}
    considered = {name: one for row in rows.values() for name, one in row.considered.items()}
    more = considered | {name: one for name, one, asked in known if not asked}
    every |= {name: one for name, one in more.items() if name not in every}
    judged: dict[str, Estimate] = {}
    holding: Given = {}
    for name, (estimator, estimate) in sorted(
        every.items(), key=lambda one: len(without_normalisation(one[1][0]).assumptions)
    ):
        worst = _against(summary, target, (estimator, estimate), holding, pairs)
        judged[name] = estimate if worst is None else replace(estimate, warnings=(worst, *estimate.warnings))
        if worst is None and _may_contradict(summary, target, estimator, estimate):
            holding[name] = estimator, estimate
    return {name: row if row.estimate is None else replace(row, found=judged[name]) for name, row in rows.items()}


def compared(estimators: Iterable[AnyEstimator], rewards_are_clicks: bool) -> int:
    """Return how many pairs of some estimators are compared."""
    return sum(_comparable(one, other, rewards_are_clicks) for one, other in permutations(estimators, 2))


def _against(
    summary: Counts, target: Policy, given: tuple[AnyEstimator, Estimate], holding: Given, pairs: int
) -> Caution | None:
    """Return the worst contradiction of an estimate by less assuming ones."""
    estimator, estimate = given
    if any(has_cause(caution, "coverage") for caution in estimate.warnings):
        return None  # the reason why it is off is reported already
    evidence = [
        DisagreementEvidence(
            other=name,
            difference=summary.inference.difference(summary.mean(target, estimator), summary.mean(target, other)),
            width=estimate.high - estimate.low,
            further=without_normalisation(estimator).assumptions - without_normalisation(other).assumptions,
            other_assumes=without_normalisation(other).assumptions,
            other_sound=reference.trustworthy,
            error_ratio=summary.error_ratio(target, other),
            pairs=pairs,
            missing=_hidden(reference) * abs(estimate.value),
            own_missing=_hidden(estimate) * abs(reference.value),
        )
        for name, (other, reference) in holding.items()
        if _comparable(estimator, other, summary.rewards_are_clicks)
    ]
    # Prefer a sound one without assumptions, which gives clear advice; otherwise the one that is furthest away.
    said = [(not pair.decisive, -nine_digits(pair.deviations), one) for pair in evidence for one in cautions_for(pair)]
    return min(said, key=lambda one: one[:2])[2] if said else None


def _hidden(estimate: Estimate) -> float:
    """Return the share of the target that such a log is unlikely to show in the weights of an estimate."""
    design = estimate.design
    return 0.0 if design is None or estimate.mean_weight is None else min(design.hidden + design.unsupported, 1.0)


def _may_contradict(summary: Counts, target: Policy, estimator: AnyEstimator, estimate: Estimate) -> bool:
    # The error may be larger than estimated: such an estimate contradicts no other.
    uncertain = any(has_cause(one, "tail") and one.severity != "note" for one in estimate.warnings)
    return summary.error_is_reliable(target, estimator, estimate) and not uncertain


def _comparable(estimator: AnyEstimator, other: AnyEstimator, rewards_are_clicks: bool) -> bool:
    """Whether `other` estimates the same quantity under weaker assumptions."""
    one, two = without_normalisation(estimator), without_normalisation(other)
    if any(e.bound is not None or e.weighs == "logged" for e in (one, two)):
        return False
    return two.assumptions < one.assumptions and (one.outcome == two.outcome or rewards_are_clicks)
