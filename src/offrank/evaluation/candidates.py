"""The judgement on one target: each estimate compared with less assuming ones, and the verdict."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import permutations

from ..errors import NoOverlapError
from ..estimators.base import Reference
from ..estimators.family import Family
from ..estimators.named import REFERENCES
from ..estimators.wrappers import SelfNormalised, without_normalisation
from ..findings import cautions_for, has_cause
from ..findings.evidence import ChoiceEvidence, DisagreementEvidence, EstimatorChoiceEvidence
from ..findings.verdict import Candidate, Verdict, verdict
from ..folds.estimate import Caution, Estimate, Interval
from ..formatting import nine_digits
from ..policies.propensities import AnyPolicy
from ..selection.bounds import least_error
from ..selection.windows import slope
from .counts import AnyEstimator, Counts

Given = dict[str, tuple[AnyEstimator, Estimate]]
"""Estimators by their spelling, each with its estimate."""


@dataclass(frozen=True)
class SelectedEstimate:
    """An estimate or the reason why it is missing, its estimator, and the family that it was chosen from.

    held_to: the estimator whose interval is included too, if the data chose.
    """

    estimator: AnyEstimator
    estimate: Estimate | NoOverlapError
    considered: Given = field(default_factory=dict)
    held_to: AnyEstimator | None = None


@dataclass(frozen=True)
class Pick:
    """An estimator chosen before the evaluation, and the one that its interval has to include, by spelling.

    margin: the least distance of the ends of its interval from its value, where no candidate can be trusted.
    """

    chosen: str
    held_to: str
    evidence: EstimatorChoiceEvidence
    margin: float = 0.0


def chosen(summary: Counts, target: AnyPolicy, family: Family, pick: Pick | None = None) -> SelectedEstimate:
    """Return the estimate chosen from a family of estimators; most spellings have one member.

    pick: the choice, if it was made before.

    The interval is the union of the chosen one and that of the first trustworthy window, or of the estimate without a
    bound, so that if the assumption of that one holds it covers the truth at least as often as that one does, whatever
    was chosen.
    """
    made = {name: (estimator, summary.estimate(target, estimator)) for name, estimator in family.items()}
    if pick is not None:
        return _picked(made, pick, summary.nonnegative)
    if len(made) == 1:
        return SelectedEstimate(*next(iter(made.values())))
    bounded, free = (
        len({without_normalisation(one).window_size for one in family.values()}) == 1,
        next(iter(made.values())),
    )
    if bounded and not isinstance(free[1], Estimate):
        return SelectedEstimate(*free)
    given = {name: (estimator, e) for name, (estimator, e) in made.items() if isinstance(e, Estimate)}
    if not given:
        return SelectedEstimate(*next(reversed(made.values())))
    names, estimates = list(given), [estimate for _, estimate in given.values()]
    known = [summary.error_is_reliable(target, estimator, estimate) for estimator, estimate in given.values()]
    trusted = next((place for place, sure in enumerate(known) if sure), None)
    if bounded:
        choice_made = _by_error(summary, target, given)
    else:
        # An estimate without a known error contradicts nothing.
        half_widths = [e.standard_error if sure else math.inf for e, sure in zip(estimates, known, strict=True)]
        choice = slope([estimate.value for estimate in estimates], half_widths)
        choice_made = ChoiceEvidence(names=tuple(names), chosen=choice.index, refuted=choice.refuted)
    choice_made = replace(choice_made, trusted=trusted)
    held = names[0 if bounded else trusted or 0]
    return _held(given, names[choice_made.chosen], held, cautions_for(choice_made))


def _held(given: Given, name: str, held: str, warnings: Sequence[Caution]) -> SelectedEstimate:
    """Return the estimate of this name with its interval extended to include that of `held`."""
    (estimator, found), (first_estimator, first) = given[name], given[held]
    honest = replace(
        found,
        low=min(first.low, found.low),
        high=max(first.high, found.high),
        difference=span(first.difference, found.difference),
        warnings=(*found.warnings, *warnings),
        chosen=name,
    )
    return SelectedEstimate(estimator, honest, given, first_estimator)


def _by_error(summary: Counts, target: AnyPolicy, given: Given) -> ChoiceEvidence:
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
    return ChoiceEvidence(names=tuple(given), chosen=choice.index, bias=choice.biases[choice.index])


def _picked(
    made: Mapping[str, tuple[AnyEstimator, Estimate | NoOverlapError]], pick: Pick, nonnegative: bool
) -> SelectedEstimate:
    """Return a choice that was made before; a part of the log may lack either estimate."""
    given = {name: (estimator, e) for name, (estimator, e) in made.items() if isinstance(e, Estimate)}
    if not {pick.chosen, pick.held_to} <= set(given):
        return SelectedEstimate(*made[pick.chosen if pick.held_to in given else pick.held_to])
    found = _held(given, pick.chosen, pick.held_to, cautions_for(pick.evidence))
    widened = _widened(given[pick.chosen][1], found.estimate, pick.margin)
    if nonnegative and isinstance(widened, Estimate) and widened.value >= 0:
        widened = replace(widened, low=max(widened.low, 0.0))
    return replace(found, estimate=widened, considered={})


def _widened(alone: Estimate, found: Estimate | NoOverlapError, margin: float) -> Estimate | NoOverlapError:
    """Widen the intervals of an estimate to at least its value plus and minus a margin."""
    if not (margin and isinstance(found, Estimate)):
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
    return replace(other, low=min(one.low, other.low), high=max(one.high, other.high))


@dataclass(frozen=True)
class TargetEstimates:
    """The estimates for one target. references: less assuming estimates that the user did not request."""

    summary: Counts
    target: AnyPolicy
    found: Mapping[str, SelectedEstimate]
    references: Given
    estimates: Mapping[str, Estimate | NoOverlapError]

    @classmethod
    def of(
        cls, summary: Counts, target: AnyPolicy, found: Mapping[str, SelectedEstimate], pairs: int
    ) -> TargetEstimates:
        """Compare the estimates with each other. pairs: number of comparisons in the whole run."""
        references: Given = {}
        for reference in summary.layout.references:
            estimator = named(reference)
            estimate = summary.estimate(target, estimator)
            if isinstance(estimate, Estimate):
                references[repr(estimator)] = estimator, estimate
        judged = contradicted(summary, target, found, references, pairs)
        kept = {name: (estimator, judged[name]) for name, (estimator, _) in references.items()}
        return cls(summary, target, found, kept, {key: judged.get(key, one.estimate) for key, one in found.items()})

    def verdict(self, name: str, about_log: Sequence[Caution]) -> Verdict | None:
        """Return the verdict on the target of this name; None if only logged quantities were requested."""
        known = self.summary
        candidates = list(self.candidates.values())
        return verdict(name, candidates, about_log, nonnegative=known.nonnegative, tested=known.tested)

    @cached_property
    def candidates(self) -> dict[str, Candidate]:
        """Return the possible answers and the references, by the estimator's spelling."""
        asked = [
            self._candidate(key, one.estimator, self.estimates[key], held_to=one.held_to)
            for key, one in self.found.items()
        ]
        more = [self._candidate(key, *given, asked=False) for key, given in self.references.items()]
        return {one.name: one for one in (*more, *asked) if one is not None}

    def _candidate(
        self,
        key: str,
        estimator: AnyEstimator,
        found: Estimate | NoOverlapError,
        *,
        held_to: AnyEstimator | None = None,
        asked: bool = True,
    ) -> Candidate | None:
        plain, summary = without_normalisation(estimator), self.summary
        held_to = None if held_to == estimator or not self._unwarned(held_to) else held_to
        if plain.weighs == "logged":
            return None
        given, logged, relative, refusal = None, None, None, None
        if isinstance(found, Estimate):
            given, logged = found, summary.logged(plain)
            relative = summary.relative(summary.mean(self.target, estimator), summary.layout.logged(plain))
        else:
            refusal = Caution(found.code, "serious", found.message, found.remedy)
        return Candidate(
            key,
            plain.assumptions,
            given,
            logged,
            relative,
            refusal,
            "clicks" if plain.outcome == "clicks" and not summary.rewards_are_clicks else "reward",
            plain.requires_logging is not None,
            asked,
            None if held_to is None else repr(held_to),
            None if held_to is None else without_normalisation(held_to).assumptions,
            math.nan if logged is None else abs(logged.value),
            float(summary.moments.largest[summary.layout.logged(plain).numerator]),
        )

    def _unwarned(self, estimator: AnyEstimator | None) -> bool:
        """Whether this estimate has no warning, so that an interval that contains its own is as sound."""
        found = None if estimator is None else self.summary.estimate(self.target, estimator)
        return isinstance(found, Estimate) and all(one.severity == "note" for one in found.warnings)


def named(reference: Reference) -> AnyEstimator:
    """Return the estimator that stands for a reference: SNIPS for whole slates, better for frequent clicks."""
    return SelfNormalised(reference) if reference == REFERENCES[0] else reference


def contradicted(
    summary: Counts, target: AnyPolicy, found: Mapping[str, SelectedEstimate], references: Given, pairs: int
) -> dict[str, Estimate]:
    """Return a target's estimates by name, with a warning on those that differ from a less assuming one.

    Where the further assumption holds, both estimate the same and their paired difference has mean 0
    (Hausman's specification test). Estimates without a known error contradict no other, nor do those that are
    contradicted themselves; bounded ones neither contradict nor are contradicted, for their bias is known, as is that
    of unseen items. If the data chose an estimator, the ones that they did not choose may contradict it too.

    references: estimates that the user did not request; they are included. pairs: comparisons in the whole run.
    """
    listed = {name: (one.estimator, one.estimate) for name, one in found.items() if isinstance(one.estimate, Estimate)}
    considered = {name: given for one in found.values() for name, given in one.considered.items()}
    every = listed | {name: given for name, given in (considered | references).items() if name not in listed}
    judged: dict[str, Estimate] = {}
    holding: Given = {}
    for name, (estimator, estimate) in sorted(
        every.items(), key=lambda one: len(without_normalisation(one[1][0]).assumptions)
    ):
        worst = _against(summary, target, (estimator, estimate), holding, pairs)
        judged[name] = estimate if worst is None else replace(estimate, warnings=(worst, *estimate.warnings))
        if worst is None and _may_contradict(summary, target, estimator, estimate):
            holding[name] = estimator, estimate
    return {name: judged[name] for name in (*listed, *references)}


def compared(estimators: Iterable[AnyEstimator], rewards_are_clicks: bool) -> int:
    """Return how many pairs of some estimators are compared."""
    return sum(_comparable(one, other, rewards_are_clicks) for one, other in permutations(estimators, 2))


def _against(
    summary: Counts, target: AnyPolicy, given: tuple[AnyEstimator, Estimate], holding: Given, pairs: int
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


def _may_contradict(summary: Counts, target: AnyPolicy, estimator: AnyEstimator, estimate: Estimate) -> bool:
    # The error may be larger than estimated: such an estimate contradicts no other.
    uncertain = any(has_cause(one, "tail") and one.severity != "note" for one in estimate.warnings)
    return summary.error_is_reliable(target, estimator, estimate) and not uncertain


def _comparable(estimator: AnyEstimator, other: AnyEstimator, rewards_are_clicks: bool) -> bool:
    """Whether `other` estimates the same quantity under weaker assumptions."""
    one, two = without_normalisation(estimator), without_normalisation(other)
    if any(e.bound is not None or e.weighs == "logged" for e in (one, two)):
        return False
    return two.assumptions < one.assumptions and (one.outcome == two.outcome or rewards_are_clicks)
