"""`evaluate`: what would new rankings have earned?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from ..errors import UsageError
from ..inference.registry import Method
from ..inference.spec import AUTO, IntervalSpec
from ..learning.splits import kept_apart
from ..policies.fit import fitted
from ..policies.propensities import AnyPolicy
from ..reward_models.fitting import fit_models
from ..running.executors import Executor, Progress
from . import arguments, document
from .choosing import Chooser, picked
from .plan import Plan
from .reading import Pass
from .result import Result, refuse_empty
from .stated import counted, refuse_learnt


def evaluate(
    log: Any,
    target: arguments.Target,
    logging: str | AnyPolicy = "logged",
    estimators: arguments.Estimators = ("ips", "snips"),
    *,
    examination: arguments.Examination | None = None,
    confidence: float = 0.95,
    interval: Method = "studentised",
    cluster: str | None = AUTO,
    by: str | None = None,
    held_out: str | PathLike[str] | None = None,
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
    - by: a column to group by. executor: any `concurrent.futures.Executor`; threads by default.
    - held_out: the file of a policy that `learn` learnt from this very log: only its test third is read.
    - state: a file to write what was counted to, before it is finished: `offrank.merge` makes one result of several.
      Rows are then numbered within their files, which the draws of the bootstrap and random samples depend on.
      Everything must be told by its spelling, and nothing may be learnt from this log itself.

    Raises:
        UsageError: arguments that cannot work, or a policy that lacks what an estimator requires.
        LogError: the log breaks a rule. NoOverlapError: no estimate can be given at all.

    Examples:
        >>> result = offrank.evaluate("offrank-demo/log.parquet", "top(new_score)", "plackett_luce(old_score)", "snips")
        >>> print(result.verdict)
        use: top(new_score) 0.8187 (0.7594 to 0.8777) by snips
    """
    source, drawn = arguments.source(log), arguments.policy(logging)
    spec = IntervalSpec(interval, confidence, cluster, replicates, seed).finding(source)
    wanted, named = arguments.targets(target), arguments.estimators(estimators)
    examined = arguments.examination(examination)
    curve, left_out = examined.curve, None
    if state is not None:
        refuse_learnt([*wanted.values(), drawn, *named])
    if held_out is not None and state is not None:
        raise UsageError("a state is of whole logs, not of the part that a policy left out", "leave one out")
    if held_out is not None:
        source, left_out = kept_apart(source, held_out, executor, progress)
    ready = {name: fitted(policy, source, executor) for name, policy in wanted.items()}
    drawn = fitted(drawn, source, executor)
    plain = IntervalSpec("normal", confidence, cluster).finding(source)  # the choice depends on errors only
    learnt = fit_models(named, source, executor, progress)
    families, picks = picked(learnt, ready, Chooser(source, drawn, curve, plain, executor=executor, progress=progress))
    plan = Plan(ready, drawn, families, spec, by, examined, picks=picks).referenced(source)
    kept = {name: None if one is None else fspath(one) for name, one in (("held_out", held_out), ("state", state))}
    command = _command(arguments.spelled_log(log), plan, curve, isinstance(target, Mapping | list), kept)
    if state is None:
        job = Pass.of(plan, source)
        reduced = job.finish(job.read(source, executor, progress), source.describe())
    else:
        reduced = counted(plan, named, source, Path(state), executor, progress)
    found = reduced.result().with_facts(command=command)
    if left_out is not None:
        found = found.with_facts(log=replace(found.background.log, learnt_from=left_out))
    return refuse_empty(found)


def _command(
    log: str, plan: Plan, examination: Sequence[float] | None, several: bool, kept: Mapping[str, str | None]
) -> str:
    """Return the call that repeats an evaluation."""
    spec = plan.spec
    said = {
        "target": document.spelled(plan.targets) if several else repr(plan.only_target),
        "logging": repr(plan.logging),
        "estimators": list(plan.estimators),
        "examination": None if examination is None else list(examination),
        "confidence": spec.confidence,
        "interval": spec.method,
        "cluster": spec.cluster,
        "by": plan.by,
        "held_out": kept["held_out"],
        "replicates": spec.replicates,
        "seed": spec.seed,
        "state": kept["state"],
    }
    return document.call("evaluate", log, said, evaluate.__kwdefaults__)
