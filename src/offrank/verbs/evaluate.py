"""`evaluate`: what would new rankings have earned?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike, fspath
from typing import Any

from ..evaluation import arguments, reproducibility
from ..evaluation.counts import AnyEstimator
from ..evaluation.plan import Plan
from ..evaluation.provenance import Provenance
from ..evaluation.result import Result, refuse_empty
from ..evaluation.selection import Chooser, picked
from ..evaluation.state_file import counted, refuse_learnt
from ..inference.spec import AUTO, IntervalSpec
from ..learning.splits import kept_apart
from ..policies.fit import counts, fitted
from ..policies.propensities import AnyPolicy
from ..reward_models.fitting import fit_models
from ..running.executors import Executor, Progress


def evaluate(
    log: Any,
    target: arguments.Target,
    logging: str | AnyPolicy = "logged",
    estimators: arguments.Estimators = ("ips", "snips"),
    *,
    examination: arguments.Examination | None = None,
    confidence: float = 0.95,
    interval: str = "studentised",
    cluster: str | None = AUTO,
    by: str | None = None,
    held_out: str | PathLike[str] | None = None,
    totals: Mapping[str, float] | None = None,
    replicates: int = 200,
    seed: int = 0,
    state: str | PathLike[str] | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Result:
    """Estimate what target policies would have earned per impression, in one pass over the log.

    - log: from `read_log`, or anything that it takes. target: a policy or its spelling, or a dict of several by name.
    - logging: the policy that drew the log; `logged` uses the propensities written in it.
    - estimators: one or several, such as `"snips"`, `"interpol(window=2)"`, `"clip(ips, 100)"`; for `"auto"` the one of
      least estimated error is chosen for each target, see `offrank.select_estimators`.
    - examination: probability that each rank is examined, top first, for pbm and interpol; or an object with it: a
      fitted click model, the file that it was saved to, or what `offrank.harvest_clicks` found.
    - interval: `studentised` (delta method, corrected for skewness: Hall 1992), `normal` (delta method),
      `bootstrap` (Poisson, `replicates` of them, `seed`) or `bernstein` (empirical Bernstein), at level `confidence`.
    - cluster: a column whose equal values mark dependent rows, such as `query`; None for independent rows. The default
      is that of `query`, `user` and `session`, with at least five values, which has the strongest dependence.
    - by: a column to group by. executor: any `concurrent.futures.Executor`; threads by default. held_out: the file of
      a policy that `learn` learnt from this very log: only its test third is read.
    - totals: how many impressions there really were, `{"clicked": 1200, "all": 50000}`, to test `inclusion` by.
    - state: a file to write what was counted to, before it is finished: `offrank.merge` makes one result of several.
      Rows are then numbered within files (random draws depend on that), and nothing may be learnt from this log.

    Raises:
        UsageError: arguments that cannot work, or a policy that lacks what an estimator requires.
        LogError: the log breaks a rule. NoOverlapError: no estimate can be given at all.

    Examples:
        >>> result = offrank.evaluate("offrank-demo/log.parquet", "top(new_score)", "plackett_luce(old_score)", "snips")
        >>> print(result.verdict)
        better: top(new_score) 0.8187 (0.7594 to 0.8777) by snips; trust: sound
    """
    source, drawn = arguments.source(log), arguments.policy(logging)
    spec = IntervalSpec(interval, confidence, cluster, replicates, seed).finding(source)
    plain = IntervalSpec("normal", confidence, cluster).finding(source)  # the choice depends on errors only
    wanted, named = arguments.targets(target), arguments.estimators(estimators)
    examined, true, left_out = arguments.examination(examination), arguments.totals(totals), None
    refuse_learnt(state, held_out, [*wanted.values(), drawn, *named])
    if held_out is not None:
        source, left_out = kept_apart(source, held_out, executor, progress)
    chooser = Chooser(source, drawn, examined.curve, plain, executor=executor, progress=progress)
    plan = _planned(chooser, wanted, named, examined, spec, by, true)
    command = _command(arguments.spelled_log(log), plan, isinstance(target, Mapping | list), held_out, state)
    found = counted(plan, named, source, state, executor, progress).result().with_facts(command=command)
    log_read = found.background.log if left_out is None else replace(found.background.log, learnt_from=left_out)
    return refuse_empty(found.with_facts(log=log_read))


def _planned(
    chooser: Chooser,
    wanted: Mapping[str, AnyPolicy],
    named: Sequence[AnyEstimator],
    examined: Provenance,
    spec: IntervalSpec,
    by: str | None,
    totals: Mapping[str, float] | None,
) -> Plan:
    """Return the plan, after what is to be learnt from the log was learnt. chooser: has the log, and who drew it."""
    source, executor, progress = chooser.source, chooser.executor, chooser.progress
    ready = {name: fitted(policy, source, executor) for name, policy in wanted.items()}
    chooser = replace(chooser, logging=fitted(chooser.logging, source, executor))
    if not counts(chooser.logging):  # else they are counted alike
        shown = frozenset(one for name, one in ready.items() if counts(one) and one is not wanted[name])
        examined = replace(examined, shown=shown)
    families, picks = picked(fit_models(named, source, executor, progress), ready, chooser)
    return Plan(ready, chooser.logging, families, spec, by, examined, picks=picks, totals=totals).referenced(source)


def _command(
    log: str, plan: Plan, several: bool, held_out: str | PathLike[str] | None, state: str | PathLike[str] | None
) -> str:
    """Return the call that repeats an evaluation."""
    spec, curve = plan.spec, plan.trained.curve
    said = {
        "target": reproducibility.spelled(plan.targets) if several else repr(plan.only_target),
        "logging": repr(plan.logging),
        "estimators": list(plan.estimators),
        "examination": None if curve is None else list(curve),
        "confidence": spec.confidence,
        "interval": spec.method,
        "cluster": spec.cluster,
        "by": plan.by,
        "held_out": None if held_out is None else fspath(held_out),
        "totals": plan.totals,
        "replicates": spec.replicates,
        "seed": spec.seed,
        "state": None if state is None else fspath(state),
    }
    return reproducibility.call("evaluate", log, said, evaluate.__kwdefaults__)
