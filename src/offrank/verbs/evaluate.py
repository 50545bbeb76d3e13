"""`evaluate`: what would new rankings have earned?"""

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


def evaluate(
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
    outcomes: Outcomes | None = None,
    guardrails: str | Sequence[str] | None = None,
    totals: Mapping[str, float] | None = None,
    held_out: str | PathLike[str] | None = None,
    state: str | PathLike[str] | None = None,
    bounds: bool = False,
    reward_range: Sequence[float] | None = None,
    click_model: Any = None,
    columns: Mapping[str, str] | None = None,
    format: Any = None,  # noqa: A002  as in `read_log`
    executor: Executor | None = None,
    progress: Progress | None = None,
    overwrite: bool = False,
) -> Result:
    """Estimate what target policies would have earned per impression, in one pass over the log.

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
        columns: Role -> the log's own name of that column, as `read_log` takes them.
        format: parquet, arrow, csv, tsv, json or a reader: 'open_bandit(n_items=34)'; by default told by the contents.
        executor: Where the log is read: any `concurrent.futures.Executor`; threads by default.
        progress: Called with (parts done, all parts) of the log, as they are read.
        overwrite: Replace a file at `state` that offrank did not write.

    Returns:
        The estimates by target and estimator, each with its interval in units of the reward, and the verdict.

    Raises:
        UsageError: arguments that cannot work, or a policy that lacks what an estimator requires.
        LogError: the log breaks a rule. NoOverlapError: no estimate can be given at all.

    Examples:
        >>> result = offrank.evaluate("offrank-demo/log.parquet", "top(new_score)", "plackett_luce(old_score)", "snips")
        >>> print(result.verdict)
        better: top(new_score) +32 % (+24 % to +40 %), 0.82 (0.76 to 0.88) as logged, by snips; ...
    """
    asked = question.Question(
        log=log,
        spec=clusters_and_level.IntervalSpec(interval, confidence, cluster, replicates, seed),
        plan=question.planned(target, logging, estimators, examination, bounds=bounds),
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
    return answer.answered(asked).with_facts(command=asked.command(evaluate))
