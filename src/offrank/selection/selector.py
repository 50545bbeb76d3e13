"""The choice of an estimator for one target: candidates, their estimates for it and for pseudo-targets, the ranking."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from statistics import NormalDist

import numpy as np

from ..checks.log_problems import log_evidence, log_quantities
from ..checks.rows import Impressions, ImpressionsFold
from ..errors import OffrankError, UsageError
from ..estimators.base import Estimator, terms_of
from ..estimators.design import design_fold
from ..estimators.family import Family, family
from ..evaluation.arguments import estimators
from ..evaluation.candidates import Pick
from ..evaluation.counts import Counts
from ..evaluation.log_pass import Pass
from ..evaluation.question import Question
from ..evaluation.refutation import judged_log
from ..findings import has_cause
from ..findings.assumptions import SelectorEvidence
from ..findings.row import Row
from ..inference.clusters_and_level import IntervalSpec
from ..language.from_text import CANDIDATE_ESTIMATORS
from ..log.batch import Floats, LogBatch, RunCache
from ..log.source import Needs, Source, refuse_once
from ..policies.base import Policy
from ..policies.fit import fitted
from ..reward_models.fitting import fit_models
from ..running.executors import Executor, Progress
from ..running.quantities import Quantities, Quantity
from ..sums.estimate import FEW_REWARDS, Estimate
from .estimators import COARSE, Contrast, EstimatorCandidate, EstimatorRanking, ranking
from .pseudo_targets import DistanceFold, pseudo_targets

_TRIED = 16
"""Number of rows on which everything is tried first."""
_SAME = 1e-9
"""Policies that are nearer to each other are the same, and no policy is in proportion as far away."""


@dataclass(frozen=True)
class SelectedEstimator:
    """The estimator selected for one target, and from what.

    - given: each candidate's estimator by its spelling; those that the log cannot give are in `refused`, with reasons.
    - estimates: of the target, by spelling. pseudo: the pseudo-targets that were used. ranking: the estimated errors.
    - reading: what they were made from.
    """

    given: Family
    refused: Mapping[str, str]
    estimates: Mapping[str, Estimate]
    pseudo: tuple[str, ...]
    ranking: EstimatorRanking
    reading: Reading

    @property
    def rows(self) -> int:
        """The number of impressions read."""
        return self.reading.summary.sums.n

    @property
    def chosen(self) -> str:
        """The spelling of the choice."""
        return self.ranking.chosen

    def evidence(self) -> SelectorEvidence:
        """Return what the finding about the choice says."""
        ranked = {one.candidate.name: one for one in self.ranking.ranked}
        trusted = ranked.get(self.ranking.trusted or "")
        return SelectorEvidence(
            chosen=self.chosen,
            error=ranked[self.chosen].error if self.chosen in ranked else None,
            among=len(self.given),
            trusted=self.ranking.trusted,
            trusted_error=trusted.error if trusted else 0.0,
            refuted=tuple((name, str(one.against)) for name, one in ranked.items() if one.refuted),
            unchecked=bool(trusted and trusted.candidate.assumes),
            choice_refuted=self.chosen in ranked and ranked[self.chosen].refuted,
        )

    def pick(self) -> Pick:
        """Return the choice, and the trusted estimator that its interval has to include."""
        spec, said = self.reading.summary.spec, self.evidence()
        quantile = NormalDist().inv_cdf((1 + spec.confidence) / 2)
        margin = quantile * said.error if said.trusted is None and said.error is not None else 0.0
        return Pick(self.chosen, self.ranking.trusted or self.chosen, said, margin)


@dataclass(frozen=True)
class EstimatorSelector:
    """What to select from, and by which log.

    candidates: estimators by spelling. examination: probability that each rank is examined, or None. pseudo: whether
    pseudo-targets are used besides the target. cache: of what depends on policies and contexts only, such as inverses
    of matrices; readings share it.
    """

    source: Source
    logging: Policy
    examination: Sequence[float] | None
    spec: IntervalSpec
    candidates: tuple[Estimator, ...]
    executor: Executor | None = None
    progress: Progress | None = None
    pseudo: bool = True
    cache: RunCache = field(default_factory=RunCache, compare=False, repr=False)

    def select(self, target: Policy) -> SelectedEstimator:
        """Return the estimator selected for a target.

        Raises:
            OffrankError: no candidate can be had; the reason of the first.
        """
        refuse_once(self.source, "estimators are selected by a separate pass over the log")
        able, refused = self._allowed(target)
        policies = (target, *self._pseudo(target, able))
        few = self._few(policies, able)
        able = {name: one for name, one in able.items() if self._tried(target, name, one, few, refused)}
        if not able:
            raise self._first(refused)
        others = [one for one in policies[1:] if all(self._tried(one, *each, few, {}) for each in able.items())]
        reading, able = self._readable((target, *others), able, refused)
        estimates, reasons = reading.estimates(able)
        refused |= reasons
        if not estimates:
            raise self._first(refused)
        kept = {name: able[name] for name in estimates}
        ranked = ranking([reading.candidate(name, one, kept) for name, one in kept.items()])
        pseudo, why = tuple(map(repr, reading.policies[1:])), {name: str(one.message) for name, one in refused.items()}
        return SelectedEstimator(kept, why, estimates, pseudo, ranked, reading)

    def _first(self, refused: Mapping[str, OffrankError]) -> OffrankError:
        """Return the reason of the first candidate in the order given."""
        for one in self.candidates:
            names = {repr(one)}
            with suppress(OffrankError):
                names |= set(family(one, self.examination))
            for name, why in refused.items():
                if name in names:
                    return why
        return next(iter(refused.values()))

    def _allowed(self, target: Policy) -> tuple[Family, dict[str, OffrankError]]:
        """Return the candidates that policies and columns allow, and why not the others."""
        able: Family = {}
        refused: dict[str, OffrankError] = {}
        for one in self.candidates:
            try:
                ready = family(one, self.examination)
                self.source.select(self._pass((target,), ready).needs())
                able |= ready
            except OffrankError as error:
                refused[repr(one)] = error
        return able, refused

    def _pseudo(self, target: Policy, able: Family) -> list[Policy]:
        """Return the pseudo-targets whose columns the log has."""
        found = []
        for one in pseudo_targets(self.logging, target) if self.pseudo else ():
            with suppress(OffrankError):
                self.source.select(self._pass((one,), able).needs() | self._distance((one,)).needs())
                found.append(one)
        return found

    def _few(self, policies: Sequence[Policy], able: Family) -> LogBatch | None:
        """Return some rows on which everything is tried first, so that what cannot be computed stops nothing else."""
        needed = self._pass(policies, able).needs() | (self._distance(policies).needs() if policies[1:] else Needs())
        for batch in self.source.select(needed).batches(0) if able else ():
            if len(batch):
                return replace(batch.take(np.arange(min(len(batch), _TRIED))), run=self.cache)
        return None

    def _tried(
        self, policy: Policy, name: str, one: Estimator, few: LogBatch | None, refused: dict[str, OffrankError]
    ) -> bool:
        """Whether an estimate can be computed; if not, the reason is put into `refused`."""
        try:
            if few is not None:
                terms_of(one.unnormalised, few, self.logging, policy)
        except OffrankError as error:
            refused[name] = error
        return name not in refused

    def _readable(
        self, policies: Sequence[Policy], able: Family, refused: dict[str, OffrankError]
    ) -> tuple[Reading, Family]:
        """Read the log with the candidates that can be computed on all rows; reasons of others are put into `refused`.

        Raises:
            OffrankError: none can; the reason of the first.
        """
        with suppress(OffrankError):
            return self._read(policies, able), able
        alone = replace(self, progress=None)
        for name, one in able.items():
            try:
                alone._read(policies[:1], {name: one})
            except OffrankError as error:
                refused[name] = error
        able = {name: one for name, one in able.items() if name not in refused}
        if not able:
            raise self._first(refused)
        with suppress(OffrankError):
            return self._read(policies, able), able
        return self._read(policies[:1], able), able

    def _distance(self, policies: Sequence[Policy]) -> DistanceFold:
        return DistanceFold(tuple(policies), self.logging)

    def _pass(self, targets: Sequence[Policy], estimators: Family) -> Pass:
        families = {name: {name: one} for name, one in estimators.items()}
        return Pass({repr(one): one for one in targets}, self.logging, families, self.spec)

    def _read(self, policies: Sequence[Policy], able: Family) -> Reading:
        """Read the log once. policies: the target and the pseudo-targets."""
        job, alone = self._pass(policies, able), self._pass(policies[:1], able)
        layout, asked = job.layout, Quantities(self.source, job.needs(), self.cache)
        design = design_fold(alone.layout, self.logging, self.source, asked.needs, self.cache)
        asked.add(
            Quantity("terms", job.terms()), Quantity("impressions", ImpressionsFold()), Quantity("design", design)
        )
        if policies[1:]:
            asked.add(Quantity("distance", self._distance(policies)))
        asked.add(*log_quantities(self.source, job.checked_logging, job.spec.columns))
        found = asked.reduce(self.executor, self.progress)
        impressions: Impressions = found["impressions"]
        impressions.refuse_none(self.source.describe())
        designs = (*found["design"], *(None for _ in range(len(policies[1:]) * len(layout.estimators))))
        plain = job.counts(found["terms"]["whole"], designs=designs, slots=impressions.slots)
        log = log_evidence(found, asked, job.checked_logging)
        summary = replace(plain, about_log=judged_log(log, [plain]))
        away = found.get("distance", np.ones(1))
        if away[0] <= _SAME:
            policies, away = policies[:1], np.ones(1)
        return Reading(summary, tuple(policies), away / float(away[0]))


def selected_for(
    source: Source,
    logging: Policy,
    target: Policy,
    candidates: Sequence[Estimator],
    curve: Sequence[float] | None,
    cluster: str | None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> SelectedEstimator:
    """Choose one of the candidates for a target, after what is to be learnt from the log was learnt."""
    spec = IntervalSpec("normal", cluster=cluster).with_clusters_of(source)
    told = spec.with_rows_of(source, logging).told
    learnt = tuple(fit_models(candidates, source, executor, progress, spec.columns, told))
    drawn, wanted = (fitted(one, source, executor) for one in (logging, target))
    return EstimatorSelector(source, drawn, curve, spec, learnt, executor, progress).select(wanted)


def chosen_estimators(
    question: Question, source: Source, spec: IntervalSpec, cache: RunCache
) -> tuple[Family, dict[str, Pick]]:
    """Return the choice for each target of a question, which depends on errors only, and the estimators chosen."""
    plan, plain = question.plan, IntervalSpec("normal", spec.confidence, spec.cluster, found=spec.found)
    usual = tuple(estimators(CANDIDATE_ESTIMATORS))
    run_by = question.executor, question.progress
    selector = EstimatorSelector(source, plan.logging, plan.trained.curve, plain, usual, *run_by, cache=cache)
    choices = {name: selector.select(target) for name, target in plan.targets.items()}
    picks = {name: choice.pick() for name, choice in choices.items()}
    given = {key: choices[name].given[key] for name, one in picks.items() for key in (one.anchor, choices[name].chosen)}
    return given, picks


@dataclass(frozen=True)
class Reading:
    """What one pass over a log tells of a target and its pseudo-targets.

    - policies: the target and the others; distances: of each from the logging policy, relative to the target's.
    """

    summary: Counts
    policies: tuple[Policy, ...]
    distances: Floats

    def estimates(self, able: Family) -> tuple[dict[str, Estimate], dict[str, OffrankError]]:
        """Return the estimates of the target, and why some are missing."""
        estimates: dict[str, Estimate] = {}
        reasons: dict[str, OffrankError] = {}
        for name, one in able.items():
            row = self.summary.row(self.policies[0], one)
            if row.refusal is not None:
                reasons[name] = row.refusal
            elif row.outcome == "clicks":
                message = "it estimates clicks, but the reward of this log differs from them"
                reasons[name] = UsageError(message, "give estimators of the reward, such as snips or wpi")
            else:
                estimates[name] = row.estimate
        return estimates, reasons

    def candidate(self, name: str, one: Estimator, every: Family) -> EstimatorCandidate:
        """Return a candidate with its contrasts to all that assume less."""
        target: dict[str, Contrast] = {}
        others: dict[str, list[Contrast]] = {}
        for other, reference in every.items():
            if reference.kind.assumes < one.kind.assumes:
                first, *more = (self._contrast(number, one, reference) for number in range(len(self.policies)))
                target |= {} if first is None else {other: first}
                others[other] = [each for each in more if each is not None]
        row = self.summary.row(self.policies[0], one)
        found, doubt = row.estimate, self._doubt(row)
        return EstimatorCandidate(name, row.kind.assumes, found.value, found.standard_error, doubt, target, others)

    def _doubt(self, row: Row) -> float:
        """Return 1 for a reliable standard error, more for one from few rows, infinity for other serious problems."""
        if self._sound(self.policies[0], row.estimator):
            return 1.0
        found, rows = row.estimate, self.summary.weighted_rows(self.policies[0], row.estimator)
        serious = [each for each in found.warnings if each.severity == "serious"]
        few = all(has_cause(each, "effective size") for each in serious)
        return COARSE if few and rows >= FEW_REWARDS and found.standard_error > 0 else math.inf

    def _contrast(self, number: int, one: Estimator, other: Estimator) -> Contrast | None:
        """Return the paired difference of two estimates of a policy, None where the error of either is not known."""
        policy, summary = self.policies[number], self.summary
        if not (self._sound(policy, one) and self._sound(policy, other)):
            return None
        away = summary.inference.difference(summary.mean(policy, one), summary.mean(policy, other))
        return Contrast(repr(policy), away.value, away.standard_error, float(self.distances[number]))

    def _sound(self, policy: Policy, one: Estimator) -> bool:
        row = self.summary.row(policy, one)
        return row.refusal is None and self.summary.error_is_reliable(policy, row)
