"""Estimates held against each other: what assumes more must agree with what assumes less."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..estimators.base import Estimator
from ..estimators.logged import LoggedMean
from ..estimators.wrappers import Clip, SelfNormalised, bare, weighing
from ..findings import about
from ..findings.disagreement import contradicts
from ..findings.evidence import OfDisagreement
from ..folds.estimate import Estimate
from ..policies.propensities import AnyPolicy
from .choice import Chosen, Given
from .summary import Summary

_Any = Estimator | SelfNormalised


def contradicted(summary: Summary, target: AnyPolicy, found: Mapping[str, Chosen]) -> dict[str, Estimate]:
    """The estimates of a target by name, with a warning on those that differ from one which assumes less.

    Where the further assumption holds, both estimate the same and their paired difference has mean 0
    (Hausman's test of a specification). Estimates whose error is not known contradict nobody, clipped
    ones neither contradict nor are contradicted, for their bias is known, as is that of unseen items.
    Where the data chose an estimator, those that they did not choose may contradict it too.
    """
    listed = {name: (one.estimator, one.estimate) for name, one in found.items() if isinstance(one.estimate, Estimate)}
    return {name: _against(summary, target, listed[name], listed | found[name].considered) for name in listed}


def _against(summary: Summary, target: AnyPolicy, given: tuple[_Any, Estimate], every: Given) -> Estimate:
    estimator, estimate = given
    if any(caution.code == "unseen-items" for caution in estimate.warnings):
        return estimate  # why it is off is said already
    worst: OfDisagreement | None = None
    for other_name, (other, reference) in every.items():
        if not (_comparable(summary, estimator, other) and summary.knows_error(target, other, reference)):
            continue
        difference = summary.difference(target, estimator, other)
        away = difference.deviation(0.0) if difference.standard_error > 0 else 0.0
        width = estimate.high - estimate.low
        one = OfDisagreement(other=other_name, away=away, difference=abs(difference.value), width=width)
        if contradicts(one) and (worst is None or away > worst.away):
            worst = one
    return estimate if worst is None else replace(estimate, warnings=(*about(worst), *estimate.warnings))


def _comparable(summary: Summary, estimator: _Any, other: _Any) -> bool:
    """Whether `other` estimates the same thing and assumes less."""
    one, two = bare(estimator), bare(other)
    if any(isinstance(weighing(e), Clip | LoggedMean) for e in (one, two)):
        return False
    return two.assumes < one.assumes and (one.earns == two.earns or summary.rewards_are_clicks)
