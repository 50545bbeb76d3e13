"""`estimate`: numbers alone, for loops that judge a log once and ask for many numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .deferred import answer, choose_estimators, clusters_and_level, question

if TYPE_CHECKING:
    from ..evaluation.arguments import Estimators, Examination, Target
    from ..evaluation.estimates import Numbers
    from ..policies.base import Policy
    from ..running.executors import Executor, Progress


def estimate(
    log: Any,
    target: Target,
    logging: str | Policy = "logged",
    estimators: Estimators = ("ips", "snips"),
    *,
    examination: Examination | None = None,
    cluster: str | None = "auto",
    confidence: float = 0.95,
    interval: str = "studentised",
    replicates: int = 200,
    seed: int = 0,
    by: str | None = None,
    control: str | None = None,
    columns: Mapping[str, str] | None = None,
    format: Any = None,  # noqa: A002  as in `read_log`
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Numbers:
    """Estimate what target policies would have earned, with intervals and effective sizes alone.

    The numbers are those of `offrank.evaluate`, in a fraction of its time for short logs. The log is not checked, and
    no verdict follows: for simulations, sweeps and tests, or after `evaluate` has judged the log.

    Parameters:
        log: The log: from `read_log`, or anything that it takes.
        target: A new policy: top(new_score), or NAME=POLICY. In Python a policy, its spelling, or several by name in a
            dict.
        logging: The policy that drew the log. `logged` uses the propensities written in it.
        estimators: ips, snips, interpol(window=2), clip(ips, 10) ... One or several; for "auto" the one of least
            estimated error is chosen for each target, see `offrank.select_estimators`.
        examination: Probability that each rank is examined, or a click model's file. For pbm and interpol. In Python
            numbers, a fitted click model, the file that it was saved to, or what `offrank.harvest_clicks` found.
        cluster: Rows with the same value depend on each other; auto: query, user or session; none: independent rows.
            auto takes the one of them, with at least five values, that has the strongest dependence.
        confidence: Level of the intervals.
        interval: anytime, bernstein, bootstrap, normal or studentised. studentised is the delta method corrected for
            skewness (Hall 1992), anytime the same at a level that holds at every look at a growing log, normal the
            delta method, bootstrap draws Poisson replicates, bernstein is the empirical Bernstein bound.
        replicates: Replicates of the bootstrap.
        seed: Seed of the bootstrap.
        by: A table per value of this column.
        control: A column with a number per impression that was known before it: regression adjustment (CUPED). Such as
            the user's past rate. Takes from each estimate, and from the difference of means, what the column tells of
            the reward; not from estimators whose weights are cut off or come from a model.
        columns: Role -> the log's own name of that column, as `read_log` takes them.
        format: parquet, arrow, csv, tsv, json or a reader: 'open_bandit(n_items=34)'; by default told by the contents.
        executor: Where the log is read: any `concurrent.futures.Executor`; threads by default.
        progress: Called with (parts done, all parts) of the log, as they are read.

    Returns:
        The estimates by target and estimator, each with its interval in units of the reward. Nothing is checked.

    Raises:
        UsageError: arguments that cannot work, or a policy that lacks what an estimator requires.
        LogError: the log breaks a rule. NoOverlapError: no estimate can be given at all.

    Examples:
        >>> numbers = offrank.estimate("offrank-demo/log.parquet", "uniform", "plackett_luce(old_score)", "snips")
        >>> print(round(numbers["snips"].value, 2))
        0.55
    """
    asked = question.Question(
        log=log,
        spec=clusters_and_level.IntervalSpec(interval, confidence, cluster, replicates, seed),
        plan=question.planned(target, logging, estimators, examination),
        by=by,
        control=control,
        columns=columns,
        format=format,
        executor=executor,
        progress=progress,
        choose=choose_estimators,
    )
    return answer.numbers(asked)
