"""The choice of an estimator for one target: candidates, their estimates for it and for pseudo-targets, the ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..checks.log import about_log
from ..checks.rows import ImpressionsFold
from ..errors import EmptyLogError, OffrankError
from ..estimators.design import design_fold
from ..estimators.family import Auto, Family, family
from ..estimators.fold import TermsFold
from ..estimators.named import estimator
from ..estimators.wrappers import bare
from ..findings.evidence import OfEstimatorChoice
from ..folds.base import Tee
from ..folds.estimate import Caution, Estimate
from ..inference.spec import IntervalSpec
from ..log.batch import Floats, RunCache
from ..log.source import Source
from ..policies.propensities import AnyPolicy, propensities
from ..running.executors import Executor, Progress, run
from ..selection.estimators import Contrast, EstimatorCandidate, EstimatorRanking, ranking
from ..selection.pseudo_targets import DistanceFold, pseudo_targets
from .judgement import Pick
from .plan import Picks, Plan
from .summary import AnyEstimator, Summary, inner_fold

CANDIDATES = (
    *("ips", "snips", "rips", "snrips", "pi", "wpi", "ipm", "snipm"),
    *("interpol(window=1)", "interpol(window=2)", "pbm"),
)
"""The estimators to choose from by default, of which a log and its policies usually allow only some."""
_TRIED = 32
"""Rows on which every candidate is tried first, so that one that cannot be had stops no other."""


@dataclass(frozen=True)
class EstimatorChoice:
    """The choice of an estimator for one target.

    - given: each candidate's estimator by its spelling; those that the log cannot give are in `refused`, with reasons.
    - estimates: of the target, by spelling. about_log: problems of the log that concern all of them.
    - pseudo: the pseudo-targets that were used. ranking: the estimated errors. rows: impressions read.
    """

    given: Family
    refused: Mapping[str, str]
    estimates: Mapping[str, Estimate]
    about_log: tuple[Caution, ...]
    pseudo: tuple[str, ...]
    ranking: EstimatorRanking
    rows: int

    @property
    def chosen(self) -> str:
        """The spelling of the choice."""
        return self.ranking.chosen

    def evidence(self) -> OfEstimatorChoice:
        """Return what the finding about the choice says."""
        ranked = {one.candidate.name: one for one in self.ranking.ranked}
        trusted = ranked.get(self.ranking.trusted or "")
        return OfEstimatorChoice(
            chosen=self.chosen,
            error=ranked[self.chosen].error if trusted else 0.0,
            among=len(self.given),
            trusted=self.ranking.trusted,
            trusted_error=trusted.error if trusted else 0.0,
            refuted=tuple((name, str(one.against)) for name, one in ranked.items() if one.refuted),
            unchecked=bool(trusted and trusted.candidate.assumes),
        )

    def pick(self) -> Pick:
        """Return the choice, and the trusted estimator that its interval has to include."""
        return Pick(self.chosen, self.ranking.trusted or self.chosen, self.evidence())


@dataclass(frozen=True)
class Chooser:
    """What to choose from, and by which log.

    candidates: estimators by spelling. examination: probability that each rank is examined, or None. pseudo: whether
    pseudo-targets are used besides the target.
    """

    source: Source
    logging: AnyPolicy
    examination: Sequence[float] | None
    spec: IntervalSpec
    candidates: tuple[AnyEstimator, ...] = tuple(map(estimator, CANDIDATES))
    executor: Executor | None = None
    progress: Progress | None = None
    pseudo: bool = True

    def choose(self, target: AnyPolicy) -> EstimatorChoice:
        """Return the choice for a target.

        Raises:
            OffrankError: no candidate can be had; the reason of the first.
        """
        able, refused = self._able(target)
        if not able:
            raise next(iter(refused.values()))
        others = self._pseudo(target, tuple(able.values()))
        summary, distances = self._read(target, others, able)
        reasons = {name: str(one.message) for name, one in refused.items()}
        estimates, found = {}, []
        for name, one in able.items():
            estimate = summary.estimate(target, one)
            if not isinstance(estimate, Estimate):
                reasons[name] = str(estimate.message)
            elif bare(one).outcome == "clicks" and not summary.rewards_are_clicks:
                reasons[name] = "it estimates clicks, which are not the reward of this log"
            else:
                estimates[name] = estimate
        if not estimates:
            raise next(one for one in summary.made.values() if isinstance(one, OffrankError))
        kept = {name: able[name] for name in estimates}
        for name, one in kept.items():
            found.append(_candidate(summary, (target, *others), distances, name, one, kept, estimates[name]))
        spelled = tuple(map(repr, others))
        return EstimatorChoice(kept, reasons, estimates, summary.about_log, spelled, ranking(found), summary.moments.n)

    def _able(self, target: AnyPolicy) -> tuple[Family, dict[str, OffrankError]]:
        """Return the candidates that policies and columns allow, and why not the others."""
        able: Family = {}
        refused: dict[str, OffrankError] = {}
        for one in self.candidates:
            try:
                ready = family(one, self.examination)
                self._tried(target, tuple(ready.values()))
                able |= ready
            except OffrankError as error:
                refused[repr(one)] = error
        return able, refused

    def _tried(self, target: AnyPolicy, estimators: Sequence[AnyEstimator]) -> None:
        """Raise if an estimator cannot be had, by its columns or on the first rows."""
        plan = self._plan((target,), {repr(one): one for one in estimators})
        batch = next((one for one in self.source.select(plan.needs()).batches(0) if len(one)), None)
        if batch is None:
            return
        few = batch.take(np.arange(min(len(batch), _TRIED)))
        both = propensities(self.logging, few), propensities(target, few)
        for one in estimators:
            bare(one).terms(few, *both)

    def _pseudo(self, target: AnyPolicy, estimators: Sequence[AnyEstimator]) -> tuple[AnyPolicy, ...]:
        """Return the pseudo-targets for which every candidate can be had."""
        found = []
        for one in pseudo_targets(self.logging, target) if self.pseudo else ():
            try:
                self._tried(one, estimators)
                self.source.select(DistanceFold((one, target), self.logging).needs())
                found.append(one)
            except OffrankError:
                continue
        return tuple(found)

    def _plan(self, targets: Sequence[AnyPolicy], estimators: Family) -> Plan:
        families = {name: {name: one} for name, one in estimators.items()}
        return Plan({repr(one): one for one in targets}, self.logging, families, self.spec)

    def _read(self, target: AnyPolicy, others: Sequence[AnyPolicy], able: Family) -> tuple[Summary, Floats]:
        """Read the log once; return its summary, and the distance of each policy relative to the target's."""
        plan, alone = self._plan((target, *others), able), self._plan((target,), able)
        layout, needed, cache = plan.layout, plan.needs(), RunCache()
        design, needed = design_fold(alone.layout, self.logging, self.source, needed, cache)
        log, distance = plan.log_fold(self.source), DistanceFold((target, *others), self.logging)
        terms = TermsFold(layout, self.logging, inner_fold(self.spec, layout), self.spec.columns)
        folds: dict[str, Any] = {"terms": terms, "design": design, "log": log, "impressions": ImpressionsFold()}
        if others:
            folds["distance"] = distance
            needed |= distance.needs()
        found = run(self.source.select(needed | log.needs()), Tee(folds), self.executor, self.progress, cache)
        impressions = found["impressions"]
        if not impressions.n:
            raise EmptyLogError(f"{self.source.describe()} has no impressions", "give a log with some")
        known = {"slots": impressions.slots, "about_log": about_log(found["log"])}
        designs = (*found["design"], *(None for _ in range(len(others) * len(layout.estimators))))
        away = found.get("distance", np.ones(1))
        return plan.summary(found["terms"]["whole"], designs=designs, **known), away / max(float(away[0]), 1e-300)


def _candidate(
    summary: Summary,
    policies: Sequence[AnyPolicy],
    distances: Floats,
    name: str,
    one: AnyEstimator,
    every: Family,
    estimate: Estimate,
) -> EstimatorCandidate:
    """Return a candidate with its contrasts to all that assume less."""
    contrasts: dict[str, list[Contrast]] = {}
    for other, reference in every.items():
        if bare(reference).assumptions < bare(one).assumptions:
            contrasts[other] = [
                Contrast(repr(policy), away.value, away.standard_error, float(distance))
                for policy, distance in zip(policies, distances, strict=True)
                if (away := _contrast(summary, policy, one, reference)) is not None
            ]
    target = repr(policies[0])
    return EstimatorCandidate(
        name,
        bare(one).assumptions,
        estimate.value,
        estimate.standard_error,
        summary.knows_error(policies[0], one, estimate),
        {other: found[0] for other, found in contrasts.items() if found and found[0].policy == target},
        {other: [each for each in found if each.policy != target] for other, found in contrasts.items()},
    )


def _contrast(summary: Summary, policy: AnyPolicy, one: AnyEstimator, other: AnyEstimator) -> Any:
    """Return the paired difference of two estimates of a policy, or None where the error of either is unknown."""
    for each in (one, other):
        found = summary.estimate(policy, each)
        if not isinstance(found, Estimate) or not summary.knows_error(policy, each, found):
            return None
    return summary.spread.difference(summary.mean(policy, one), summary.mean(policy, other))


def picked(
    named: Sequence[AnyEstimator], targets: Mapping[str, AnyPolicy], chooser: Chooser
) -> tuple[dict[str, Family], Picks]:
    """Return the estimators of each spelling, and for `auto` the choice for every target."""
    families: dict[str, Family] = {}
    picks: dict[str, dict[str, Pick]] = {}
    for one in named:
        if not isinstance(one, Auto):
            families[repr(one)] = family(one, chooser.examination)
            continue
        choices = {name: chooser.choose(target) for name, target in targets.items()}
        picks[repr(one)] = {name: choice.pick() for name, choice in choices.items()}
        used = [(choice, name) for choice in choices.values() for name in (choice.pick().held_to, choice.chosen)]
        families[repr(one)] = {name: choice.given[name] for choice, name in used}
    return families, picks
