"""The estimate of a spelling that leaves a choice to the data, and what it was chosen from."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from ..errors import NoOverlapError
from ..estimators.base import Estimator
from ..estimators.family import Family
from ..estimators.wrappers import SelfNormalised
from ..findings import about
from ..findings.evidence import OfChoice
from ..folds.estimate import Estimate, Interval
from ..policies.propensities import AnyPolicy
from ..selection.windows import slope
from .summary import Summary

Given = dict[str, tuple[Estimator | SelfNormalised, Estimate]]
"""Estimators by their spelling, each with what it estimates."""


@dataclass(frozen=True)
class Chosen:
    """An estimate or why there is none, the estimator that it is from, and all that this was chosen from.

    held_to: the estimator whose interval it spans too, where the data chose.
    """

    estimator: Estimator | SelfNormalised
    estimate: Estimate | NoOverlapError
    considered: Given = field(default_factory=dict)
    held_to: Estimator | SelfNormalised | None = None


def chosen(summary: Summary, target: AnyPolicy, family: Family) -> Chosen:
    """The estimate of a family of estimators; of most spellings it has one member.

    The interval spans that of the chosen estimate and that of the first which can be trusted, so that where the
    assumption of that one holds it covers the truth at least as often as that one does, whatever was chosen.
    """
    made = {name: (estimator, summary.estimate(target, estimator)) for name, estimator in family.items()}
    if len(made) == 1:
        return Chosen(*next(iter(made.values())))
    given = {name: (estimator, e) for name, (estimator, e) in made.items() if isinstance(e, Estimate)}
    if not given:
        return Chosen(*next(reversed(made.values())))
    names, estimates = list(given), [estimate for _, estimate in given.values()]
    known = [summary.knows_error(target, estimator, estimate) for estimator, estimate in given.values()]
    # An error that is not known contradicts nothing.
    half_widths = [e.standard_error if sure else math.inf for e, sure in zip(estimates, known, strict=True)]
    choice = slope([estimate.value for estimate in estimates], half_widths)
    trusted = next((place for place, half in enumerate(half_widths) if math.isfinite(half)), None)
    name, first, found = names[choice.index], estimates[trusted or 0], estimates[choice.index]
    choice_made = OfChoice(names=tuple(names), chosen=choice.index, refuted=choice.refuted, trusted=trusted)
    honest = replace(
        found,
        low=min(first.low, found.low),
        high=max(first.high, found.high),
        difference=span(first.difference, found.difference),
        warnings=(*found.warnings, *about(choice_made)),
        chosen=name,
    )
    return Chosen(given[name][0], honest, given, given[names[trusted or 0]][0])


def span(one: Interval | None, other: Interval | None) -> Interval | None:
    """The interval of `other`, widened to hold that of `one`."""
    if one is None or other is None:
        return other
    return replace(other, low=min(one.low, other.low), high=max(one.high, other.high))
