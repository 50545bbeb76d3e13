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
    format: Any = None,  # noqa: A002  as in `read_log`
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
        log: Anything that `read_log` takes, with `features` beside the candidates.
        method: random, regression, ips, dro, poem, snpoem, dr-poem, plackett-luce or pl-rank (linear); pi-opt, sup or
            lambdamart (boosted trees). Or a spelling such as `sup(target=relevance)`.
        path: The file to write. Its suffix is `.npz`.
        columns: Role -> the log's own name of that column, as `read_log` takes them.
        format: parquet, arrow, csv, tsv, json or a reader: 'open_bandit(n_items=34)'; by default told by the contents.
        logging: The policy that drew the log. By default it is known by its propensities.
        criterion: Choose settings by ips, snips, lower, pi (default of pi-opt) or ipm (of pl-rank). By default by
            `ips`; `lower` is the lower end of its interval, `pi` the pseudoinverse, `ipm` is by items at their ranks.
        split: Thirds by rows in turn, or by hash. `turn` or `hash`.
        interactions: Cross the context's features with the candidates'.
        epochs: The most passes; by default the method's own. Or trees.
        bits: Weights are a table of 2^bits.
        confidence: Level of the intervals. Also that with which a policy that is released is better.
        seed: The same seed gives the same policy. To the last bit.
        test: Another log to test on, instead of the last third.
        labels: Grades beside the candidates, for sup and lambdamart. A column.
        overwrite: Replace a file that is there, also one that offrank did not write.
        executor: What reads the log: any `concurrent.futures.Executor`; by default threads, one per core.
        progress: Called with (parts done, all parts) of the log, as they are read.
        say: Called with a description of each step.

    Returns:
        The policy, the settings that were chosen, and the verdict of the test: `usable` says whether to ship it.

    Raises:
        UsageError: arguments that cannot work, or a method that cannot learn from this log.
        LogError: the log breaks a rule, or has no information.

    Examples:
        >>> shown = {"candidates": [0, 1], "features": [[0], [1]], "propensity": 0.5}
        >>> log = [{**shown, "slate": [row % 2], "clicks": [int(row % 5 < 1 + row % 2)]} for row in range(900)]
        >>> offrank.learn(log, "ips", "policy.npz", epochs=1).policy
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
    source = arguments.source(log, columns, format)
    drawn, tested = fit.fitted(policies.policy(logging), source, executor), None
    job = training.Training(search, split, bits, interactions, labels, overwrite)
    trained = job.run(source, drawn, target, executor, progress, say)
    if test:
        say("3. Testing on the held-out third")
        how: dict[str, Any] = {"confidence": confidence, "executor": executor, "progress": progress}
        tested = evaluate(splits.Split(source, "test", split), dict(trained.policies), *trained.tested_by(drawn), **how)
    return learnt_policy.learnt_policy(trained, tested)
