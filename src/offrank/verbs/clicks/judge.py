"""`clicks judge`: a table of what a click model makes of each document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from ...clicks.fitted import Fitted
from ...clicks.judgements import GRADES, Judgements
from ...clicks.summary import log_findings
from ...evaluation.reproducibility import Delivered, facts
from ...frames import check_table_path, plain, write_table
from ...language import formatting
from ...language.argument import seed_number
from ...language.formatting import with_ends
from ...language.outputs import refuse_outputs
from ...report.document import Answer, Cell, Document, Figures, Section
from ...report.facts import again
from ...sums.estimate import Caution, Interval
from .base import models

_SURE = 0.9
"""The certainty from which on a grade counts as sure."""
_BEST = 10
"""Rows of the table that is printed."""


@dataclass(frozen=True)
class ClickJudgements(Delivered):
    """The judgements of a click model, and the file that they were written to."""

    fitted: Fitted
    judgements: Judgements
    path: str | None = None

    headings = Judgements.headings

    @property
    def cautions(self) -> Mapping[str, tuple[Caution, ...]]:
        return {"": (*self.judgements.cautions, *self.fitted.cautions)}

    def to_arrow(self) -> Any:
        return self.judgements.to_arrow()

    def records(self) -> list[dict[str, Any]]:
        return self.judgements.records()

    def to_dict(self) -> dict[str, Any]:
        """Return the counts by grade, the best documents and the warnings; all documents are in the file."""
        found = self.judgements
        return {
            **self.facts,
            "path": self.path,
            "documents": len(found),
            "confidence": found.confidence,
            "cuts": plain(found.cuts),
            "by_grade": plain(self._by_grade()),
            "wide": found.wide,
            "best": self._best().records(),
            "cautions": plain(self.cautions[""]),
        }

    def to_document(self) -> Document:
        rows = tuple(self._row(row) for row in self._best().records())
        header = ("query", "item", f"relevance, {100 * self.judgements.confidence:g} % interval", "sessions", "grade")
        best = Section("The best documents", tables=(Figures("", (*header, "certainty"), rows),))
        counts = self._by_grade()
        starts = [0.0, *self.judgements.cuts.tolist()]
        grades = tuple(
            (str(grade), f"{starts[grade]:.3g}", f"{counts[grade]:,}") for grade in reversed(range(len(counts)))
        )
        parts = (
            best,
            Section("Grades", tables=(Figures("", ("grade", "from relevance", "documents"), grades),)),
            log_findings(self.findings_by_code()),
            again(self.facts, "log", "model", "seed"),
        )
        written = f", written to {self.path}" if self.path else ""
        return self._page(f"{self._documents()}{written}", parts, self._answer())

    def _answer(self) -> Answer:
        """Say how many documents were judged, and of how many the grade is sure."""
        found, name = self.judgements, formatting.quote(repr(self.fitted))
        said = f"{name} **judges {self._documents()}**"
        if np.isfinite(found.certainty).all():
            sure = formatting.percent(float((found.certainty >= _SURE).mean()))
            least = f"posterior probability of {formatting.percent(_SURE)} or more"
            said += f"; the grade of **{sure}** of them is certain ({least})"
        return Answer(f"{said}.", severity=self.severity)

    def _documents(self) -> str:
        queries, count = self.fitted.documents.queries, formatting.plural(len(self.judgements), "document", "documents")
        return f"{count} of {formatting.plural(queries, 'query', 'queries')}" if queries else count

    def _by_grade(self) -> np.ndarray:
        """[grades] documents of each grade."""
        return np.bincount(self.judgements.grade, minlength=len(self.judgements.cuts) + 1)

    def _best(self) -> Judgements:
        """The most relevant documents of the log, the highest first; of equals those that come first in the table."""
        return self.judgements.take(np.argsort(-self.judgements.relevance, kind="stable")[:_BEST])

    @staticmethod
    def _row(row: Mapping[str, Any]) -> tuple[Cell, ...]:
        low, high = (np.nan if row[end] is None else row[end] for end in ("low", "high"))
        shown = "" if row["sessions"] is None else f"{row['sessions']:,.0f}"
        certain = "" if row["certainty"] is None else formatting.percent(row["certainty"])
        query = "" if row["query"] is None else str(row["query"])
        relevance = with_ends(Interval(row["relevance"], low, high, np.nan))
        return query, str(row["item"]), relevance, shown, str(row["grade"]), certain


def judge_clicks(
    model: Any,
    path: str | PathLike[str] | None = None,
    *,
    grades: int | Sequence[float] = GRADES,
    confidence: float = 0.95,
    seed: int = 0,
    overwrite: bool = False,
) -> ClickJudgements:
    """Judge every document of a click model's log: query, item, relevance with its interval, sessions and a grade.

    Parameters:
        model: a fitted click model, or a file that `clicks fit` has written.
        path: where to write the table, `.parquet` or `.csv`; by default it is only returned.
        grades: how many, or the relevances from which on grades 1, 2 ... are given; see `Fitted.judgements`.
        confidence: level of the intervals, between 0 and 1.
        seed: of the draws for models whose relevance is made of several tables.
        overwrite: replace a file that is there.

    Returns:
        A row per query and item; see `offrank.clicks.Judgements`.

    Raises:
        UsageError: no such model, one without ids, or a path of another kind.

    Examples:
        >>> model = offrank.clicks.PBM().fit("offrank-demo/log.parquet")
        >>> judged = offrank.judge_clicks(model, "judgements.parquet")
        >>> judged.to_arrow().column_names
        ['query', 'item', 'relevance', 'low', 'high', 'sessions', 'grade', 'certainty']
    """
    seed = seed_number(seed)
    if path is not None:
        check_table_path(path)
        refuse_outputs(path, log=(), read=[model], overwrite=overwrite)
    ((name, fitted),) = models([model]).items()
    found = fitted.judgements(confidence, grades, seed=seed)
    if path is not None:
        write_table(path, found.to_arrow().combine_chunks().to_batches())
    title = f"Judgements by {fitted!r}, fitted to {fitted.source}"
    made = facts("click-judgements", title, fitted.source, model=name, seed=seed)
    return ClickJudgements(fitted, found, None if path is None else str(path), facts=made)
