"""What the estimators say of one target: one row each, selected where the data select, compared with each other."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

from ..estimators.base import Estimator
from ..estimators.family import Family
from ..estimators.layout import Layout
from ..estimators.named import REFERENCES
from ..estimators.selected_member import least_error, slope
from ..estimators.wrappers import SelfNormalised
from ..findings import cautions_for, has_cause
from ..findings.assumptions import DisagreementEvidence, SelectedMemberEvidence, SelectorEvidence
from ..findings.row import Row
from ..language.formatting import nine_digits
from ..policies.base import Policy
from ..sums.estimate import Caution, Estimate, Interval
from .counts import Counts

Rows = Mapping[str, Row]
"""What the estimators say of one target, by the spelling that was asked for; references have their own."""


@dataclass(frozen=True)
class Pick:
    """An estimator chosen before the evaluation, and the one that its interval has to include, by spelling.

    margin: the least distance of the ends of its interval from its value, where no candidate can be trusted.
    """

    chosen: str
    anchor: str
    evidence: SelectorEvidence
    margin: float = 0.0


def selected(summary: Counts, target: Policy, spelling: str, family: Family, pick: Pick | None = None) -> Row:
    """Return the row selected from a family of estimators; most spellings have one member.

    pick: the selection, if it was made before.

    The interval is the union of the selected one and that of the first trustworthy window, or of the estimate without a
    bound, so that if the assumption of that one holds it covers the truth at least as often as that one does, whatever
    was selected.
    """
    made = {name: summary.row(target, estimator) for name, estimator in family.items()}
    if pick is not None:
        return replace(_picked(summary, made, pick), name=spelling)
    return replace(_chosen(summary, target, made) if len(made) > 1 else next(iter(made.values())), name=spelling)


def _chosen(summary: Counts, target: Policy, made: Rows) -> Row:
    """Return the row that the data choose of several bounds, or of several windows."""
    free = next(iter(made.values()))
    bounded = len({one.estimator.kind.window for one in made.values()}) == 1
    if bounded and free.refusal is not None:
        return free
    given = {name: one for name, one in made.items() if one.refusal is None}
    if not given:
        return list(made.values())[-1]
    names, estimates = list(given), [one.estimate for one in given.values()]
    known = [summary.error_is_reliable(target, one) for one in given.values()]
    trusted = next((place for place, sure in enumerate(known) if sure), None)
    if bounded:
        choice_made = _by_error(summary, target, given)
    else:
        # An estimate without a known error contradicts nothing.
        half_widths = [e.standard_error if sure else math.inf for e, sure in zip(estimates, known, strict=True)]
        choice = slope([estimate.value for estimate in estimates], half_widths)
        choice_made = SelectedMemberEvidence(names=tuple(names), chosen=choice.index, refuted=choice.refuted)
    choice_made = replace(choice_made, trusted=trusted)
    anchor, own = given[names[0 if bounded else trusted or 0]], given[names[choice_made.chosen]]
    honest = _spanning(names[choice_made.chosen], own.estimate, anchor.estimate, cautions_for(choice_made))
    return replace(own, estimate=honest, anchor=anchor, considered=given)


def _spanning(name: str, own: Estimate, anchor: Estimate, warnings: Sequence[Caution]) -> Estimate:
    """Return the chosen estimate of this name with its interval extended to include that of its anchor."""
    return replace(
        own,
        low=min(anchor.low, own.low),
        high=max(anchor.high, own.high),
        difference=span(anchor.difference, own.difference),
        warnings=(*own.warnings, *warnings),
        chosen=name,
    )


def _by_error(summary: Counts, target: Policy, given: Rows) -> SelectedMemberEvidence:
    """Return the choice among ever tighter bounds of the weights."""
    means = [summary.mean(target, one.estimator) for one in given.values()]
    kept = [one.control for one in given.values()]
    choice = least_error(
        [one.estimate.value for one in given.values()],
        [one.estimate.standard_error for one in given.values()],
        kept if next(iter(given.values())).base.normalised else [one / kept[0] for one in kept],
        [summary.inference.difference(mean, means[-1]).standard_error for mean in means],
    )
    return SelectedMemberEvidence(names=tuple(given), chosen=choice.index, bias=choice.biases[choice.index])


def _picked(summary: Counts, made: Rows, pick: Pick) -> Row:
    """Return a selection that was made before; a part of the log may lack either estimate."""
    own, anchor = made[pick.chosen], made[pick.anchor]
    if own.refusal is not None or anchor.refusal is not None:
        return own if anchor.refusal is None else anchor
    found = _spanning(pick.chosen, own.estimate, anchor.estimate, cautions_for(pick.evidence))
    found = _widened(own.estimate, found, pick.margin)
    if summary.nonnegative and found.value >= 0:
        found = replace(found, low=max(found.low, 0.0))
    return replace(own, estimate=found, anchor=anchor)


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


def requested(rows: Rows) -> list[Row]:
    """Return the rows that the user requested."""
    return [row for row in rows.values() if row.asked]


def references(layout: Layout) -> list[Estimator]:
    """Return the estimators that the user did not request and that assume less; `snips` too, where `ips` was asked."""
    plain = REFERENCES[:1] if REFERENCES[0] in layout.estimators else ()
    every = dict.fromkeys([*plain, *layout.references])
    return [SelfNormalised(one) if one == REFERENCES[0] else one for one in every]  # better for frequent clicks


def of_references(summary: Counts, target: Policy, some: Iterable[Estimator]) -> Rows:
    """Return what references say of a target, as far as the log gives it."""
    every = ((repr(one), summary.row(target, one)) for one in some)
    return {name: replace(row, asked=False) for name, row in every if row.refusal is None}


def beside_log(summary: Counts, target: Policy, row: Row) -> Row:
    """Return a row of a target with what the verdict on it needs: the mean of the log, and how far it is away."""
    if row.kind.weighs == "logged":
        return row
    row = replace(row, most=float(summary.sums.largest[row.estimator.kind.outcome]))
    if row.refusal is not None:
        return row
    relative = summary.relative(summary.mean(target, row.estimator), summary.layout.logged(row.base))
    return replace(row, logged=summary.logged(row.base), relative=relative)


def contradicted(summary: Counts, target: Policy, rows: Rows, pairs: int) -> Rows:
    """Return the rows of a target, with a warning on estimates that differ from a less assuming one.

    Where the further assumption holds, both estimate the same and their paired difference has mean 0
    (Hausman's specification test). Estimates without a known error contradict no other, nor do those that are
    contradicted themselves; bounded ones neither contradict nor are contradicted, for their bias is known, as is that
    of unseen items. If the data chose an estimator, the ones that they did not choose may contradict it too.

    pairs: comparisons in the whole run.
    """
    given = {name: row for name, row in rows.items() if row.refusal is None}
    considered = {name: one for row in rows.values() for name, one in row.considered.items()}
    asked = {name: row for name, row in given.items() if row.asked}
    every = asked | {name: row for name, row in (considered | given).items() if name not in asked}
    judged: dict[str, Row] = {}
    holding: dict[str, Row] = {}
    for name, row in sorted(every.items(), key=lambda one: len(one[1].kind.assumes)):
        worst, found = _against(summary, target, row, holding, pairs), row.estimate
        warnings = found.warnings if worst is None else (worst, *found.warnings)
        judged[name] = replace(row, estimate=replace(found, warnings=warnings))
        # An estimate whose error may be larger than it seems contradicts no other.
        uncertain = any(has_cause(one, "tail") and one.severity != "note" for one in row.estimate.warnings)
        if worst is None and summary.error_is_reliable(target, row) and not uncertain:
            holding[name] = row
    return {name: judged.get(name, row) for name, row in rows.items()}


def compared(estimators: Iterable[Estimator], rewards_are_clicks: bool) -> int:
    """Return how many pairs of some estimators are compared."""
    return sum(_comparable(one, other, rewards_are_clicks) for one, other in permutations(estimators, 2))


def _against(summary: Counts, target: Policy, row: Row, holding: Rows, pairs: int) -> Caution | None:
    """Return the worst contradiction of an estimate by less assuming ones."""
    estimate = row.estimate
    if any(has_cause(caution, "coverage") for caution in estimate.warnings):
        return None  # the reason why it is off is reported already
    mean = summary.mean(target, row.estimator)
    evidence = [
        DisagreementEvidence(
            other=name,
            difference=summary.inference.difference(mean, summary.mean(target, other.estimator)),
            width=estimate.high - estimate.low,
            further=row.kind.assumes - other.kind.assumes,
            other_assumes=other.kind.assumes,
            other_sound=other.estimate.trustworthy,
            error_ratio=summary.error_ratio(target, other.estimator),
            pairs=pairs,
            missing=_hidden(other) * abs(estimate.value),
            own_missing=_hidden(row) * abs(other.estimate.value),
        )
        for name, other in holding.items()
        if _comparable(row.estimator, other.estimator, summary.rewards_are_clicks)
    ]
    # Prefer a sound one without assumptions, which gives clear advice; otherwise the one that is furthest away.
    said = [(not pair.decisive, -nine_digits(pair.deviations), one) for pair in evidence for one in cautions_for(pair)]
    return min(said, key=lambda one: one[:2])[2] if said else None


def _hidden(row: Row) -> float:
    """Return the share of the target that such a log is unlikely to show in the weights of an estimate."""
    return min((row.hidden or 0.0) + row.unsupported, 1.0)


def _comparable(estimator: Estimator, other: Estimator, rewards_are_clicks: bool) -> bool:
    """Whether `other` estimates the same quantity under weaker assumptions."""
    one, two = estimator.kind, other.kind
    if any(e.bound is not None or e.weighs == "logged" for e in (one, two)):
        return False
    return two.assumes < one.assumes and (one.outcome == two.outcome or rewards_are_clicks)
