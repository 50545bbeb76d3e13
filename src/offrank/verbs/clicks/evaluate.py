"""`clicks evaluate`: how well click models predict clicks, rank documents, and transfer to another policy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...clicks.evaluation import Evaluations, Predictor, evaluate_models
from ...clicks.fitted import Fitted
from ...clicks.summary import log_findings
from ...evaluation import arguments
from ...evaluation.reproducibility import Delivered, facts
from ...report.document import Document
from ...report.facts import again
from ...running.executors import Executor, Progress
from ...sums.estimate import Caution
from . import pages
from .base import Models, models, predictors, query_column
from .graded import GradedFold, GradesBy, Ranked


@dataclass(frozen=True)
class ClickEvaluation(Delivered):
    """Results of click models on a log.

    - here: on the log itself. elsewhere: on another log, such as of another ranking policy; None if not given.
    - ranked: nDCG; None without labels.
    """

    models: Mapping[str, Predictor]
    here: Evaluations
    elsewhere: Evaluations | None = None
    ranked: Ranked | None = None

    @property
    def cautions(self) -> dict[str, tuple[Caution, ...]]:
        """Return the warnings about each model: from its fit, from this log, and from the other log."""
        found = {}
        for name, model in self.models.items():
            away = self.elsewhere[name].cautions if self.elsewhere else ()
            learnt = model.cautions if isinstance(model, Fitted) else ()
            found[name] = tuple(dict.fromkeys((*learnt, *self.here[name].cautions, *away)))
        return found

    headings = ("model", "quantity", "rank", "value", "difference")

    def records(self) -> list[dict[str, Any]]:
        return self.here.records()

    def to_dict(self) -> dict[str, Any]:
        found = {**self.facts, **self.here.to_dict()}
        if self.elsewhere is not None:
            found["out_of_distribution"] = self.elsewhere.to_dict()
        if self.ranked is not None:
            found["ndcg"] = self.ranked.to_dict(list(self.models))
        return found

    def to_document(self) -> Document:
        first = next(iter(self.here.values()))
        away = next(iter(self.elsewhere.values())).tally if self.elsewhere else None
        parts = [
            log_findings(self.findings_by_code(), first.tally, away, self.facts.get("grades")),
            *pages.quantities(self.here, self.ranked, "On this log"),
        ]
        if self.elsewhere is not None:
            parts += pages.quantities(self.elsewhere, None, f"Out of distribution: {self.facts['other']}")
        fitted = {name: model for name, model in self.models.items() if isinstance(model, Fitted)}
        parts += pages.curves(fitted, first.confidence)
        parts.append(again(self.facts, "log", "other", "labels", "cluster", "spelling"))
        read = f"{first.sessions:,} sessions, {100 * first.confidence:g} % intervals"
        return self._page(read, parts, pages.answer(self.here, self.severity), pages.forests(self.here)[0])


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
