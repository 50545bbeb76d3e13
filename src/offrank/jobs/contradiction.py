"""Estimates held against each other: what assumes more must agree with what assumes less."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import permutations

from ..estimators.base import Estimator
from ..estimators.logged import LoggedMean
from ..estimators.wrappers import Clip, SelfNormalised, bare, weighing
from ..findings import about
from ..findings.evidence import OfDisagreement
from ..folds.estimate import Caution, Estimate
from ..policies.propensities import AnyPolicy
from .choice import Chosen, Given
from .summary import Summary

LUCKY = frozenset({"heavy-tail", "large-weight", "hidden-mass", "few-rewards"})
"""Warnings of an error that may be larger than the log shows: such an estimate contradicts nobody."""

_Any = Estimator | SelfNormalised


def contradicted(
    summary: Summary, target: AnyPolicy, found: Mapping[str, Chosen], references: Given, pairs: int
) -> dict[str, Estimate]:
    """The estimates of a target by name, with a warning on those that differ from one which assumes less.

    Where the further assumption holds, both estimate the same and their paired difference has mean 0
    (Hausman's test of a specification). Estimates whose error is not known contradict nobody, nor do those that are
    contradicted themselves; clipped ones neither contradict nor are contradicted, for their bias is known, as is that
    of unseen items. Where the data chose an estimator, those that they did not choose may contradict it too.

    references: estimates that nobody asked for; they are among the answers. pairs: compared in the whole run.
    """
    listed = {name: (one.estimator, one.estimate) for name, one in found.items() if isinstance(one.estimate, Estimate)}
    considered = {name: given for one in found.values() for name, given in one.considered.items()}
    every = listed | {name: given for name, given in (considered | references).items() if name not in listed}
    judged: dict[str, Estimate] = {}
    holding: Given = {}
    for name, (estimator, estimate) in sorted(every.items(), key=lambda one: len(bare(one[1][0]).assumes)):
        worst = _against(summary, target, (estimator, estimate), holding, pairs)
        judged[name] = estimate if worst is None else replace(estimate, warnings=(worst, *estimate.warnings))
        if worst is None and _may_contradict(summary, target, estimator, estimate):
            holding[name] = estimator, estimate
    return {name: judged[name] for name in (*listed, *references)}


def compared(estimators: Iterable[_Any], rewards_are_clicks: bool) -> int:
    """How many pairs of some estimators are held against each other."""
    return sum(_comparable(one, other, rewards_are_clicks) for one, other in permutations(estimators, 2))


def _against(
    summary: Summary, target: AnyPolicy, given: tuple[_Any, Estimate], holding: Given, pairs: int
) -> Caution | None:
    """The worst contradiction of an estimate by those that assume less."""
    estimator, estimate = given
    if any(caution.code == "unseen-items" for caution in estimate.warnings):
        return None  # why it is off is said already
    evidence = [
        OfDisagreement(
            other=name,
            difference=summary.difference(target, estimator, other),
            width=estimate.high - estimate.low,
            further=bare(estimator).assumes - bare(other).assumes,
            other_assumes=bare(other).assumes,
            other_sound=reference.trustworthy,
            luck=summary.luck(target, other),
            pairs=pairs,
        )
        for name, (other, reference) in holding.items()
        if _comparable(estimator, other, summary.rewards_are_clicks)
    ]
    # Of a sound one that assumes nothing the advice is clear; else the furthest speaks.
    said = [(not pair.decisive, -pair.deviations, one) for pair in evidence for one in about(pair)]
    return min(said, key=lambda one: one[:2])[2] if said else None


def _may_contradict(summary: Summary, target: AnyPolicy, estimator: _Any, estimate: Estimate) -> bool:
    lucky = any(one.code in LUCKY and one.severity != "note" for one in estimate.warnings)
    return summary.knows_error(target, estimator, estimate) and not lucky


def _comparable(estimator: _Any, other: _Any, rewards_are_clicks: bool) -> bool:
    """Whether `other` estimates the same thing and assumes less."""
    one, two = bare(estimator), bare(other)
    if any(isinstance(weighing(e), Clip | LoggedMean) for e in (one, two)):
        return False
    return two.assumes < one.assumes and (one.earns == two.earns or rewards_are_clicks)
