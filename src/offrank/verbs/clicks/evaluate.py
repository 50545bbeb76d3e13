"""`clicks evaluate`: how well click models predict clicks, rank documents, and transfer to another policy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...clicks.evaluation import evaluate_models
from ...evaluation import arguments
from ...evaluation.reproducibility import facts
from ...metrics.click_pages import ClickEvaluation
from ...metrics.graded import GradedFold, GradesBy
from ...running.executors import Executor, Progress
from .base import Models, models, predictors, query_column


def evaluate_clicks(
    log: Any,
    model: Models,
    *,
    columns: Mapping[str, str] | None = None,
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
        log: from `read_log`, or anything that it takes.
        model: fitted models, their files or simulated users: one, a list, or by name; differences are to the first.
        columns: role -> the log's own name of that column, as `read_log` takes them.
        other: a log of another policy, by the same users.
        labels: a column of grades beside the candidates (or the slate).
        by: the column of the queries, for nDCG.
        grades_by: the grade of a document that was given several, weighed by rows: the lower `median`, or the
            `majority`.
        confidence: level of the intervals, between 0 and 1.
        cluster: a column whose equal values mark dependent sessions.
        executor: what reads the log: any `concurrent.futures.Executor`; by default threads, one per core.
        progress: called with (parts done, all parts) of the log, as they are read.

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
    found, source = predictors(model), arguments.source(log, columns)
    away = None if other is None else arguments.source(other)
    fold = None
    if labels is not None:
        fold = GradedFold(fitted := models(found), labels, query_column(fitted, by), grades_by=grades_by)
    cluster = None if cluster == "none" else cluster
    how: dict[str, Any] = {"confidence": confidence, "cluster": cluster, "executor": executor, "progress": progress}
    here = evaluate_models(found, source, **how)
    elsewhere = None if away is None else evaluate_models(found, away, **how)
    graded = None if fold is None else fold.read(source, executor, progress)
    ranked = None if graded is None else graded.ndcg(confidence)
    made = facts(
        "clicks",
        f"Click models on {source.describe()}",
        source,
        other=None if away is None else away.describe(),
        spelling={name: repr(one) for name, one in found.items()},
        labels=labels,
        **({} if graded is None else graded.counted(grades_by)),
        confidence=confidence,
        cluster=cluster,
    )
    return ClickEvaluation(found, here, elsewhere, ranked, facts=made)
