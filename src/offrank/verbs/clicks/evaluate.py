"""`clicks evaluate`: how well click models predict clicks, rank documents, and transfer to another policy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..deferred import arguments, click_evaluation, click_pages, given_models, graded, metadata

if TYPE_CHECKING:
    from ...clicks.given_models import Models
    from ...metrics.click_pages import ClickEvaluation
    from ...metrics.graded import GradesBy
    from ...running.executors import Executor, Progress


def evaluate_clicks(
    log: Any,
    model: Models,
    *,
    columns: Mapping[str, str] | None = None,
    format: Any = None,  # noqa: A002  as in `read_log`
    other: Any = None,
    labels: str | None = None,
    by: str | None = None,
    grades_by: GradesBy = "error",
    confidence: float = 0.95,
    cluster: str | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> ClickEvaluation:
    """Measure perplexity and likelihood of click models on a log and on another one; nDCG if there are grades.

    Parameters:
        log: From `read_log`, or anything that it takes.
        model: A click model that `clicks fit` has written, or NAME=FILE. In Python fitted models, their files or
            simulated users: one, a list, or by name. Differences are to the first.
        columns: Role -> the log's own name of that column, as `read_log` takes them.
        format: parquet, arrow, csv, tsv, json or a reader: 'open_bandit(n_items=34)'; by default told by the contents.
        other: A log of another policy, by the same users.
        labels: Grades beside the candidates (or the slate): nDCG. A column.
        by: The queries of the grades; by default those of the models. A column.
        grades_by: The grade of a document that was given several. Weighed by rows it is the lower `median`, or the
            `majority`; by default several are an error.
        confidence: Level of the intervals. Between 0 and 1.
        cluster: Sessions with the same value depend on each other. A column.
        executor: What reads the log: any `concurrent.futures.Executor`; by default threads, one per core.
        progress: Called with (parts done, all parts) of the log, as they are read.

    Returns:
        Perplexity, log-likelihood (nats per session) and nDCG by model, each with its interval.

    Raises:
        UsageError: arguments that cannot work. LogError: a log breaks a rule, or lacks a column.

    Examples:
        >>> learnt = offrank.fit_clicks("offrank-demo/log.parquet", "pbm", "pbm.json")
        >>> judged = offrank.evaluate_clicks("offrank-demo/log.parquet", "pbm.json")
        >>> round(judged.records()[1]["value"], 2)
        1.45
    """
    found, source = given_models.predictors(model), arguments.source(log, columns, format)
    away = None if other is None else arguments.source(other)
    fold = None
    if labels is not None:
        fitted = given_models.models(found)
        fold = graded.GradedFold(fitted, labels, given_models.query_column(fitted, by), grades_by=grades_by)
    cluster = None if cluster == "none" else cluster
    how: dict[str, Any] = {"confidence": confidence, "cluster": cluster, "executor": executor, "progress": progress}
    here = click_evaluation.evaluate_models(found, source, **how)
    elsewhere = None if away is None else click_evaluation.evaluate_models(found, away, **how)
    read = None if fold is None else fold.read(source, executor, progress)
    ranked = None if read is None else read.ndcg(confidence)
    made = metadata.facts(
        "clicks",
        f"Click models on {source.describe()}",
        source,
        other=None if away is None else away.describe(),
        spelling={name: repr(one) for name, one in found.items()},
        labels=labels,
        **({} if read is None else read.counted(grades_by)),
        confidence=confidence,
        cluster=cluster,
    )
    return click_pages.ClickEvaluation(found, here, elsewhere, ranked, facts=made)
