"""`learn`: learn a policy from a log, ready to be evaluated and used."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from ..language import Say, silent
from ..language.argument import seed_number
from ..language.outputs import refuse_outputs
from .deferred import arguments, clusters_and_level, fit, learnt_policy, policies, splits, training
from .evaluate import evaluate

if TYPE_CHECKING:
    from ..learning.learnt_policy import LearntPolicy
    from ..learning.search import Criterion
    from ..policies.base import Policy
    from ..policies.splits import By
    from ..running.executors import Executor, Progress


def learn(
    log: Any,
    method: str,
    path: str | os.PathLike[str],
    *,
    columns: Mapping[str, str] | None = None,
    logging: str | Policy = "logged",
    criterion: Criterion | None = None,
    split: By = "turn",
    interactions: bool = False,
    epochs: int | None = None,
    bits: int = 20,
    confidence: float = 0.95,
    seed: int = 0,
    test: bool = True,
    labels: str | None = None,
    overwrite: bool = False,
    executor: Executor | None = None,
    progress: Progress | None = None,
    say: Say = silent,
) -> LearntPolicy:
    """Learn a policy on one third of a log, select its settings on another, and test it on the last.

    Parameters:
        log: anything that `read_log` takes, with `features` beside the candidates.
        method: random, regression, ips, dro, poem, snpoem, dr-poem, plackett-luce or pl-rank, which are linear;
            pi-opt, sup or lambdamart, which boost trees; or a spelling such as `sup(target=relevance)`.
        path: the `.npz` file to write.
        columns: role -> the log's own name of that column, as `read_log` takes them.
        logging: the policy that drew the log, by default known by its propensities.
        criterion: what settings are chosen by: `ips` (the default), `snips`, `lower`, the lower end of the interval
            of IPS, `pi`, the pseudoinverse (default of pi-opt), or `ipm`, by items at their ranks (of pl-rank).
        split: by `turn` or `hash` of the rows.
        interactions: cross the features of the context with the candidates'.
        epochs: the most passes, or trees.
        bits: weights are a table of 2^bits.
        confidence: of intervals, and that a policy which is released is better.
        seed: the same one gives the same bits.
        test: another log to test on, instead of the last third.
        labels: the column of the candidates' grades, for sup and lambdamart.
        overwrite: replace a file that is there, also one that offrank did not write.
        executor: what reads the log: any `concurrent.futures.Executor`; by default threads, one per core.
        progress: called with (parts done, all parts) of the log, as they are read.
        say: called with a description of each step.

    Returns:
        The policy, the settings that were chosen, and the verdict of the test: `usable` says whether to ship it.

    Raises:
        UsageError: arguments that cannot work, or a method that cannot learn from this log.
        LogError: the log breaks a rule, or has no information.

    Examples:
        >>> offrank.learn(offrank.simulation.AdvertWorld(2000, slots=1).source(), "ips", "policy.npz", epochs=1).policy
        linear('policy.npz', greedy=True)
    """
    splits.check_split(split)
    seed = seed_number(seed)
    clusters_and_level.IntervalSpec("normal", confidence)
    if test and confidence <= 0.5:
        raise UsageError(f"confidence is {confidence!r}", "give more than 0.5, or skip the test: test=False")
    target = training.policy_file(path, bits)
    refuse_outputs(path, log=log, read=[logging], overwrite=overwrite)
    search = training.search_of(method, epochs, criterion, confidence, seed, labels)
    source = arguments.source(log, columns)
    drawn, tested = fit.fitted(policies.policy(logging), source, executor), None
    job = training.Training(search, split, bits, interactions, labels, overwrite)
    trained = job.run(source, drawn, target, executor, progress, say)
    if test:
        say("3. Testing on the held-out third")
        how: dict[str, Any] = {"confidence": confidence, "executor": executor, "progress": progress}
        tested = evaluate(splits.Split(source, "test", split), dict(trained.policies), *trained.tested_by(drawn), **how)
    return learnt_policy.learnt_policy(trained, tested)
