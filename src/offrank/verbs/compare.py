"""`compare`: which of several rankings earns more?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from .deferred import answer, choose_estimators, clusters_and_level, question, scorecards

if TYPE_CHECKING:
    from ..estimators.outcomes import Outcomes
    from ..evaluation.arguments import Estimators, Examination, Target
    from ..evaluation.result import Result
    from ..policies.base import Policy
    from ..running.executors import Executor, Progress


def compare(
    log: Any,
    target: Target | None = None,
    logging: str | Policy = "logged",
    estimators: Estimators | None = None,
    *,
    examination: Examination | None = None,
    cluster: str | None = "auto",
    confidence: float = 0.95,
    interval: str = "studentised",
    replicates: int = 200,
    seed: int = 0,
    by: str | None = None,
    control: str | None = None,
    outcomes: Outcomes | None = None,
    guardrails: str | Sequence[str] | None = None,
    totals: Mapping[str, float] | None = None,
    held_out: str | PathLike[str] | None = None,
    state: str | PathLike[str] | None = None,
    bounds: bool = False,
    reward_range: Sequence[float] | None = None,
    click_model: Any = None,
    baseline: str | Policy | None = None,
    columns: Mapping[str, str] | None = None,
    format: Any = None,  # noqa: A002  as in `read_log`
    executor: Executor | None = None,
    progress: Progress | None = None,
    overwrite: bool = False,
) -> Result:
    """Compare what target policies would have earned, on the same rows, in one pass over the log.

    Similar rankings have similar rewards in each row, so their paired difference is far more precise than two
    separate intervals suggest. `result.comparisons` has one for each target and the baseline, with its verdict and its
    interval, absolute and relative; all of them hold together at level `confidence` (Bonferroni: of k comparisons each
    interval is at level 1 - (1 - confidence) / k). `result.difference("b", "a")` gives that of any two.

    Parameters:
        log: The log: from `read_log`, or anything that it takes.
        target: A new policy: top(new_score), or NAME=POLICY. In Python a policy, its spelling, or several by name in a
            dict. By default the rankers of an A/B test, which `logging` names: by(arm, {A: top(a_score), B:
            top(b_score)}).
        logging: The policy that drew the log. `logged` uses the propensities written in it.
        estimators: ips, snips, interpol(window=2), clip(ips, 10) ... By default ips and snips; for an A/B test of
            rankers that sort, snips, snrips and snipm.
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
        outcomes: Decide another outcome too: revenue, NAME=COLUMN, or a ratio of means, 'orders / clicks'. Columns
            with a number per impression or per item, `clicks` or `reward`; in Python one, several, or a dict. What has
            no number per item is weighed by estimators of whole slates; a ratio, by those that divide by their weights.
        guardrails: Veto a ranking whose outcome may change by more than this: 'revenue > -1%', 'refunds < 2%'. Of the
            mean that is compared with, or in its own units: 'revenue > -0.1 units'. All of them hold together at the
            level of the intervals.
        totals: How many impressions there were: tests the rates in `inclusion`. In Python `{"clicked": 1200, "all":
            50000}`.
        held_out: Read only the third of LOG that `learn` kept apart. The file of a policy that was learnt from this
            very log.
        state: Write what was counted, for `offrank merge`. Rows are then numbered within files (random draws depend on
            that), and nothing may be learnt from this log.
        bounds: Say between what values each target lies, for logs without randomness. Rows of one query (or of the
            `cluster` column) count as alike. Then `estimators` are `logged` unless named.
        reward_range: The smallest and the largest possible reward of a slate, for `bounds`. Then bounds that assume
            nothing about users come first; a log of rewards without clicks needs it.
        click_model: A fitted click model, or its file, for `bounds`: what it has not seen may be anything. pbm, trust,
            cascade, dcm, dbn or sdbn; one that was learnt from another log.
        baseline: What TARGETs are compared with: one of them, by default the first; logged. "logged" is the default if
            there is only one.
        columns: Role -> the log's own name of that column, as `read_log` takes them.
        format: parquet, arrow, csv, tsv, json or a reader: 'open_bandit(n_items=34)'; by default told by the contents.
        executor: Where the log is read: any `concurrent.futures.Executor`; threads by default.
        progress: Called with (parts done, all parts) of the log, as they are read.
        overwrite: Replace a file at `state` that offrank did not write.

    Returns:
        The estimates, and in `comparisons` the paired differences to the baseline, each with its verdict.

    Raises:
        UsageError: arguments that cannot work, such as a baseline that is not a target.
        LogError: the log breaks a rule.
        NoOverlapError: no estimate can be given at all.

    Examples:
        >>> rankers = {"new": "top(new_score)", "naive": "top(naive_score)"}
        >>> result = offrank.compare("offrank-demo/log.parquet", rankers, "plackett_luce(old_score)", "ipm")
        >>> result.difference("new", "naive").low > 0
        True
    """
    plan = question.planned_comparison(target, logging, estimators, examination, baseline, bounds=bounds)
    asked = question.Question(
        log=log,
        spec=clusters_and_level.IntervalSpec(interval, confidence, cluster, replicates, seed),
        plan=plan,
        by=by,
        control=control,
        scorecard=scorecards.Scorecard.of(outcomes, guardrails) if outcomes or guardrails else None,
        totals=totals,
        held_out=held_out,
        state=state,
        overwrite=overwrite,
        bounded_by=question.BoundsAsked.of(bounds, reward_range, click_model),
        columns=columns,
        format=format,
        executor=executor,
        progress=progress,
        choose=choose_estimators,
    )
    result = answer.answered(asked)
    command = asked.command(compare, baseline=None if baseline is None else plan.baseline)
    return result.comparing(plan.baseline).with_facts(command=command)
