"""`clicks evaluate`: how well click models predict clicks, rank documents, and stand another policy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...clicks.evaluate import evaluate
from ...clicks.evaluated import Evaluations
from ...clicks.fitted import Fitted
from ...folds.estimate import Caution
from ...log.source import Source
from ...report.sheet import Sheet
from ...running.executors import Executor, Progress
from .. import arguments, document
from ..pages.document import again, eyebrow
from . import pages
from .delivered import Delivered
from .graded import GradedFold
from .models import Models, models, query_column
from .ndcg import Ranked, ndcg_by_query


@dataclass(frozen=True)
class Judged(Delivered):
    """Click models on a log.

    - here: on the log itself. elsewhere: on another log, such as of another ranking policy; None if not given.
    - ranked: nDCG; None without labels. facts: what else `to_dict` holds.
    """

    models: Mapping[str, Fitted]
    here: Evaluations
    elsewhere: Evaluations | None = None
    ranked: Ranked | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def cautions(self) -> dict[str, tuple[Caution, ...]]:
        """What to know of each model: from learning, from this log, and from the other one."""
        found = {}
        for name, model in self.models.items():
            away = self.elsewhere[name].cautions if self.elsewhere else ()
            found[name] = tuple(dict.fromkeys((*model.cautions, *self.here[name].cautions, *away)))
        return found

    headings = Evaluations.headings

    def records(self) -> list[dict[str, Any]]:
        """Those of what was measured on the log."""
        return self.here.records()

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain lists, dicts and numbers (None for what is not finite)."""
        found = {**self.facts, **self.here.to_dict()}
        if self.elsewhere is not None:
            found["out_of_distribution"] = self.elsewhere.to_dict()
        if self.ranked is not None:
            found["ndcg"] = self.ranked.to_dict(list(self.models))
        return found

    def sheet(self) -> Sheet:
        first = next(iter(self.here.values()))
        away = next(iter(self.elsewhere.values())).tally if self.elsewhere else None
        parts = [
            pages.known(self.told(), first.tally, away),
            *pages.quantities(self.here, self.ranked, "On this log"),
        ]
        if self.elsewhere is not None:
            parts += pages.quantities(self.elsewhere, None, f"Out of distribution: {self.facts['other']}")
        parts += pages.curves(self.models, first.confidence)
        parts.append(again(self.facts, "log", "other", "labels", "cluster", "spelling"))
        read = f"{first.sessions:,} sessions, {100 * first.confidence:g} % intervals"
        answers, forests = (pages.answer(self.here, self.severity),), (pages.perplexities(self.here),)
        return Sheet(str(self.facts["title"]), read, tuple(parts), answers, forests, eyebrow(self.facts))


def evaluate_clicks(
    log: Any,
    model: Models,
    *,
    other: Any = None,
    labels: str | None = None,
    by: str | None = None,
    confidence: float = 0.95,
    cluster: str | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Judged:
    """Perplexity and likelihood of click models, on a log and on another one; nDCG where there are grades.

    - log: from `read_log`, or anything that it takes. other: a log of another policy, by the same users.
    - model: fitted models or files of such, in a list or by name; differences are to the first.
    - labels: a column of grades beside the candidates (or the slate). by: the column of the queries, for nDCG.
    - cluster: a column whose equal values mark dependent sessions.

    Raises:
        UsageError: arguments that cannot work. LogError: a log breaks a rule, or lacks a column.
    """
    found, source = models(model), arguments.source(log)
    away = None if other is None else arguments.source(other)
    column = None if labels is None else query_column(found, by)  # refused before anything is read
    options: dict[str, Any] = {"confidence": confidence, "cluster": cluster, "executor": executor, "progress": progress}
    here = evaluate(found, source, **options)
    elsewhere = None if away is None else evaluate(found, away, **options)
    ranked = None
    if labels is not None and column is not None:
        graded = GradedFold(found, labels, column).read(source, executor, progress)
        relevance = list(graded.relevance.T)
        ranked = ndcg_by_query(graded.query, graded.grade, relevance, confidence)
    facts = _facts(found, source, away) | {"labels": labels, "confidence": confidence, "cluster": cluster}
    return Judged(found, here, elsewhere, ranked, facts)


def _facts(found: Mapping[str, Fitted], source: Source, away: Source | None) -> dict[str, Any]:
    return {
        "schema": 1,
        "kind": "clicks",
        "title": f"Click models on {source.describe()}",
        "log": source.describe(),
        "other": None if away is None else away.describe(),
        "spelling": {name: repr(one.model) for name, one in found.items()},
        "versions": document.versions(),
        "created": document.now(),
    }
