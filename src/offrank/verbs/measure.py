"""`measure`: which of several models agrees best with the users' clicks?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .deferred import clusters_and_level, measurements, page, reproducibility

if TYPE_CHECKING:
    from ..metrics.measurements import Models
    from ..metrics.page import MetricsReport
    from ..policies.base import Policy
    from ..running.executors import Executor, Progress


def measure(
    log: Any,
    score: Models,
    logging: str | Policy = "logged",
    metrics: Any = ("counterfactual_disagreement",),
    *,
    cluster: str | None = "auto",
    confidence: float = 0.95,
    interval: str = "studentised",
    replicates: int = 200,
    seed: int = 0,
    by: str | None = None,
    columns: Mapping[str, str] | None = None,
    format: Any = None,  # noqa: A002  as in `read_log`
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> MetricsReport:
    """Compute any number of metrics of any number of models, in one pass over the log.

    Parameters:
        log: The log: from `read_log`, or anything that it takes.
        score: A model's scores; differences are to the first.
        logging: The policy that drew the log. Metrics use its law of the order of the shown items given the set of
            these (`counterfactual_...`) or its probability of each candidate at each rank (`banner_...`).
        metrics: counterfactual_disagreement, pairwise_loss, banner_ndcg ... Spellings such as
            `counterfactual_loss(form=hinge)` or `counterfactual_disagreement(several=unclicked)`; see
            `offrank.metrics.Comparison`.
        cluster: Rows with the same value depend on each other; auto: query, user or session; none: independent rows.
            auto takes the one of them, with at least five values, that has the strongest dependence.
        confidence: Level of the intervals.
        interval: anytime, bernstein, bootstrap, normal or studentised. studentised is the delta method corrected for
            skewness (Hall 1992), anytime the same at a level that holds at every look at a growing log, normal the
            delta method, bootstrap draws Poisson replicates, bernstein is the empirical Bernstein bound.
        replicates: Replicates of the bootstrap.
        seed: Seed of the bootstrap.
        by: A table per value of this column.
        columns: Role -> the log's own name of that column, as `read_log` takes them.
        format: parquet, arrow, csv, tsv, json or a reader: 'open_bandit(n_items=34)'; by default told by the contents.
        executor: Where the log is read: any `concurrent.futures.Executor`; threads by default.
        progress: Called with (parts done, all parts) of the log, as they are read.

    Returns:
        The metrics by model, each with its interval, and their differences to the first model.

    Raises:
        UsageError: arguments that cannot work, or a logging policy that lacks what a metric requires.
        LogError: the log breaks a rule.
        NoOverlapError: no click can be compared with anything.

    Examples:
        >>> report = offrank.measure("offrank-demo/log.parquet", "new_score", "plackett_luce(old_score)")
        >>> round(report["new_score", "counterfactual_disagreement"].value, 2)
        0.35
    """
    found = measurements.measurements(
        log,
        score,
        logging,
        metrics,
        spec=clusters_and_level.IntervalSpec(interval, confidence, cluster, replicates, seed),
        by=by,
        columns=columns,
        format=format,
        executor=executor,
        progress=progress,
    )
    facts = {**found.facts, "versions": reproducibility.versions(), "created": reproducibility.now()}
    return page.MetricsReport(found.found, found.groups, facts)
