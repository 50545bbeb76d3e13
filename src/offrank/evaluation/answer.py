"""The answer to a question: what is to be learnt is learnt, the log is read once, and the result is made."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from ..errors import NoOverlapError
from ..estimators.family import Family, family
from ..inference.clusters_and_level import IntervalSpec
from ..language.outputs import inputs_in, refuse_outputs
from ..language.registry import Later
from ..log.batch import RunCache
from ..log.source import Source, has_clicks
from ..policies.balanced import refuse_arm_targets
from ..policies.base import Fits
from ..policies.by import By
from ..policies.fit import counts, fitted, parts_of
from ..readers.log import opened, period_of
from ..readers.wide import per_item
from ..running.executors import run
from ..sums.base import Tee
from .ab_test import OF_STATE
from .candidates import Pick, selected
from .counts import Counts
from .estimates import Estimates, Found, Key, Numbers, refuse_empty
from .log_counts import LogCounts
from .log_pass import Pass
from .question import BoundsAsked, Plan, Question
from .result import Result

if TYPE_CHECKING:
    from ..bounds import job as bounds_job
    from ..estimators import history
    from ..policies import splits
    from ..reward_models import fitting
    from . import state_file
else:  # each is needed by some questions alone: bounds, A/B tests, `held_out`, models that are learnt, `state`
    bounds_job = Later("..bounds.job", __package__)
    history = Later("..estimators.history", __package__)
    splits = Later("..policies.splits", __package__)
    fitting = Later("..reward_models.fitting", __package__)
    state_file = Later(".state_file", __package__)


def answered(question: Question) -> Result:
    """Return the result of a question.

    Raises:
        OffrankError: see `offrank.evaluate`.
    """
    source, left_out = opened(question.log, question.columns, question.format), None
    bounds = None if question.bounded_by is None else _bounds_of(question, question.bounded_by, source)
    period = period_of(source)
    given = [*question.plan.inputs, question.held_out]
    if question.state is not None:
        refuse_outputs(question.state, log=[question.log, source], read=given, overwrite=question.overwrite)
        state_file.refuse_learnt(question)
    read = tuple(inputs_in(question.log, source, *given, question.state))
    executor, progress = question.executor, question.progress
    if question.held_out is not None:
        source, left_out = splits.kept_apart(source, question.held_out, executor, progress)
    if question.plan.usual and not has_clicks(source):
        of_rewards = [one for one in question.plan.estimators if one.kind.outcome == "reward"]
        question = replace(question, plan=replace(question.plan, estimators=of_rewards))
    cache = RunCache()  # of what follows from policies and contexts alone, for every reading
    job = pass_of(question, source, cache)
    if question.state is None:
        asked = job.quantities(source, cache)
        log_counts = LogCounts.of(job, asked, asked.state(executor, progress), source.describe())
    else:
        log_counts = state_file.counted(job, question, source, question.state, cache)
    found = log_counts.result()
    log = replace(found.metadata.log, learnt_from=left_out, period=period or found.metadata.log.period)
    result = refuse_empty(replace(found.with_facts(log=log), read=read))
    return result if bounds is None else result.with_bounds(*bounds.found())


def _bounds_of(question: Question, known: BoundsAsked, source: Source) -> bounds_job.BoundsJob:
    """Return what finds the bounds that are asked for; what cannot be bounded is refused before the log is read."""
    plan = question.plan
    asked = question.spec, plan.baseline, question.by, known.limits, known.users, plan.trained.curve
    bounds = bounds_job.BoundsJob(source, plan.targets, *asked, question.executor, question.progress)
    bounds.refuse_impossible()
    return bounds


def numbers(question: Question) -> Numbers:
    """Return the numbers that are asked for, from one pass that counts nothing else.

    Raises:
        OffrankError: see `offrank.estimate`.
    """
    source, cache = opened(question.log, question.columns, question.format), RunCache()
    job = pass_of_numbers(question, source, cache)
    needed = job.needs()
    folds = job.number_folds(source, needed, cache)
    some = source.select(folds["design"].wanted)  # needed, and more
    found = run(some, Tee(folds), question.executor, question.progress, cache)
    if not found["impressions"].n:
        found["impressions"].refuse_none(source.describe())
    known = {"slots": found["impressions"].slots}
    whole, groups = found["terms"]["whole"], found["terms"]["groups"].by_name if job.by else {}
    summary = job.counts(whole, **known, designs=found["design"])
    estimates = _estimates(job, summary)
    known |= {"group": len(groups), "losses": not summary.nonnegative} if groups else {}
    by_group = {name: _estimates(job, job.counts(part, **known)) for name, part in groups.items()}
    return refuse_empty(Numbers(estimates, by_group))


def _estimates(job: Pass, summary: Counts) -> Estimates:
    """Return the numbers; one that the data choose is chosen as `evaluate` does, by estimates that are checked."""
    made: dict[Key, Found] = {}
    for name, target in job.targets.items():
        for spelling, members in job.estimators.items():
            if spelling not in job.picks and len(members) == 1:
                made[name, spelling] = summary.number(target, next(iter(members.values())))
                continue
            pick = job.picks[spelling][name] if spelling in job.picks else None
            found = selected(summary, target, spelling, members, pick).found
            alone = found if isinstance(found, NoOverlapError) else replace(found, warnings=(), checked=False)
            made[name, spelling] = alone
    return Estimates(made)


def pass_of(question: Question, source: Source, cache: RunCache) -> Pass:
    """Return the pass of a question, after what is to be learnt from the log was learnt. cache: of batches."""
    job = replace(pass_of_numbers(question, source, cache), compares=question.plan.baseline is not None)
    if question.totals is not None:
        job = replace(job, totals=question.totals)
    if job.compares and job.layout.arms is not None:
        job = _with_history(question, job, job.layout.arms, source)
    if job.compares and job.logging.confirmed.merges:
        if question.state is not None:
            return replace(job, no_history=OF_STATE).referenced(source)
        rankers = history.MergedRankers.of(job.logging.confirmed.merges, [*job.targets.values()], source)
        learnt = history.learnt_history(rankers, source, question.executor, question.progress)
        job = replace(job, history=learnt.found, no_history=learnt.left_out)
    return job.referenced(source)


def pass_of_numbers(question: Question, source: Source, cache: RunCache) -> Pass:
    """Return the pass of the numbers that are asked for, after what is to be learnt from the log was learnt."""
    plan, spec = question.plan, question.spec.with_clusters_of(source)
    spec = spec.with_rows_of(source, plan.logging) if spec.draws_rows else spec
    if plan.logging.rankers is not None:
        refuse_arm_targets(plan.logging, plan.targets.values())
    if any(parts_of((*plan.targets.values(), plan.logging, *plan.estimators), Fits)):
        plan = _learnt(plan, question, source, spec)
    families: dict[str, Family] = {}
    picks: dict[str, dict[str, Pick]] = {}
    for one in plan.estimators:
        if one.kind.preselected:
            assert question.choose is not None
            learnt = replace(question, plan=plan)
            families[repr(one)], picks[repr(one)] = question.choose(learnt, source, spec, cache)
        else:
            families[repr(one)] = family(one, plan.trained.curve)
    known = question.by, plan.trained
    job = Pass(plan.targets, plan.logging, families, spec, *known, picks=picks, control=question.control)
    if question.scorecard is None:
        return job
    return replace(job, scorecard=question.scorecard.of_log(partial(per_item, source)))


def _learnt(plan: Plan, question: Question, source: Source, spec: IntervalSpec) -> Plan:
    """Return the plan with the policies and models that are learnt from the log."""
    executor, progress, trained = question.executor, question.progress, plan.trained
    targets = {name: fitted(policy, source, executor) for name, policy in plan.targets.items()}
    logging = fitted(plan.logging, source, executor)
    if not counts(logging):  # else they are counted alike
        shown = frozenset(one for name, one in targets.items() if counts(one) and one is not plan.targets[name])
        trained = replace(trained, shown=shown)
    told = spec.with_rows_of(source, plan.logging).told
    models = fitting.fit_models(plan.estimators, source, executor, progress, spec.columns, told)
    models = [one.learnt_for(targets.values(), logging, source, executor, progress) for one in models]
    return replace(plan, targets=targets, logging=logging, estimators=models, trained=trained)


def _with_history(question: Question, job: Pass, arms: By, source: Source) -> Pass:
    """Add how clicks depend on those above, learnt from an A/B test of rankers that sort, or why it is not."""
    targets = job.targets.values()
    if not job.layout.tells_lists or sum(one in targets for one in arms.policies.values()) < 2:
        return job  # no two arms are compared
    if question.state is not None:
        return replace(job, no_history=OF_STATE)
    found, left_out = history.learnt_history(arms, source, question.executor, question.progress)
    return replace(job, history=found, no_history=left_out)
