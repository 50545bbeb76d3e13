"""What the verbs of click models return: a fitted model, an examination curve, judgements, predicted clicks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..clicks.base import Role
from ..clicks.evaluation import Fit
from ..clicks.fitted import Fitted
from ..clicks.harvesting import Harvested
from ..clicks.judgements import Judgements
from ..clicks.summary import log_findings
from ..errors import UsageError
from ..frames import plain
from ..language import formatting
from ..language.formatting import Span
from ..log.batch import Floats
from ..report.document import Answer, Cell, Document, Figures, Section
from ..report.facts import again
from ..report.printable import Delivered
from ..sums.estimate import Caution
from . import click_pages

_CURVE_HEADER = ("rank", "examination", "interval", "documents", "clicks")
_SURE = 0.9
"""The certainty from which on a grade counts as sure."""
_BEST = 10
"""Rows of the table of judgements that is printed."""


@dataclass(frozen=True)
class ClickFit(Delivered):
    """A fitted click model, and the file that it was written to."""

    fitted: Fitted
    path: str
    confidence: float = 0.95
    fit: Fit | None = None

    headings = ("quantity", "rank", "value")

    @property
    def cautions(self) -> Mapping[str, tuple[Caution, ...]]:
        return {"": self.fitted.cautions}

    def records(self) -> list[dict[str, Any]]:
        """Return a row per entry of each table by rank, and per parameter that all sessions share."""
        learnt, rows = self.fitted.learnt, list[dict[str, Any]]()
        for name, role in self.fitted.model.roles().items():
            if role in (Role.SHARED, Role.NUMBERS) or role.by_rank:
                table = learnt.parameters[name]
                none = np.full(table.shape, np.nan)
                ends = self.fitted.interval(name, self.confidence) if name in learnt.strength else (none, none)
                for at, numbers in enumerate(zip(*(plain(one.ravel()) for one in (table, *ends)), strict=True), 1):
                    place = {"quantity": name, "rank": at if role.by_rank else None}
                    rows.append(place | dict(zip(("value", "low", "high"), numbers, strict=True)))
        return rows

    def to_dict(self) -> dict[str, Any]:
        """Return the data that the model was learnt from, its convergence, and the tables by rank."""
        fitted = self.fitted
        return {
            **self.facts,
            "path": self.path,
            "sessions": fitted.tally.impressions,
            "documents": len(fitted.documents),
            "rounds": fitted.learnt.rounds,
            "converged": fitted.learnt.converged,
            "fit": plain(self.fit),
            "learnt": self.records(),
            "tally": plain(fitted.tally),
            "cautions": plain(fitted.cautions),
        }

    def to_document(self) -> Document:
        found = self.fitted.to_document(self.confidence)
        fit = click_pages.fit_section(self.fitted, self.fit, self.confidence)
        parts = (fit, *found.sections, again(self.facts, "log", "spelling"))
        return self._page(f"{found.lead}, written to {self.path}", parts, self._answer())

    def _answer(self) -> Answer:
        """Say whether the fit has converged, and the examination probability of the last rank."""
        curve = click_pages.curve_of(self.fitted, self.confidence)
        known = formatting.plural(len(self.fitted.documents), "document", "documents")
        said = f"**was fitted** to {known}" if self.fitted.learnt.converged else "**did not converge**"
        seen = "" if curve is None or len(curve) < 2 else f" {click_pages.looked_at(curve)}"
        return Answer(f"{formatting.quote(repr(self.fitted))} {said}.{seen}", severity=self.severity)


@dataclass(frozen=True)
class Curve(Delivered):
    """An examination curve, and how to use it."""

    found: Harvested

    @property
    def cautions(self) -> Mapping[str, tuple[Caution, ...]]:
        return {"": self.found.cautions}

    def examination(self) -> Floats:
        """Return the curve as `pbm`, `interpol` and `evaluate(examination=...)` take it.

        Returns:
            [k] the probability that each rank is examined, relative to the first.

        Raises:
            UsageError: a rank is not linked to the first.

        Examples:
            >>> float(offrank.harvest_clicks("offrank-demo/log.parquet").examination()[0])
            1.0
        """
        if np.isnan(self.found.curve).any():
            (caution,) = (one for one in self.found.cautions if one.code == "unlinked-ranks")
            raise UsageError(f"the harvested curve has gaps: {caution.message}", caution.remedy)
        return self.found.curve

    @property
    def option(self) -> str:
        """Return the option of `offrank evaluate` that passes the curve; empty if the curve has gaps."""
        if not np.isfinite(self.found.curve).all():
            return ""
        return "--examination " + ",".join(f"{value:.4g}" for value in self.found.curve.tolist())

    headings = ("rank", "value", "clicks")

    def records(self) -> list[dict[str, Any]]:
        """Return a row per rank: its examination relative to the first rank, and the clicks behind it."""
        found = self.found
        columns = (plain(one) for one in (found.curve, found.low, found.high, found.clicks))
        names = ("rank", "value", "low", "high", "clicks")
        return [dict(zip(names, (rank, *row), strict=True)) for rank, row in enumerate(zip(*columns, strict=True), 1)]

    def to_dict(self) -> dict[str, Any]:
        names = ("curve", "low", "high", "documents", "clicks", "impressions", "method", "tally", "cautions")
        numbers = {name: plain(getattr(self.found, name)) for name in names}
        return {**self.facts, **numbers, "option": self.option or None}

    def to_document(self) -> Document:
        found, curve = self.found, click_pages.numbers(self.found.curve, self.found.low, self.found.high)
        table = Figures("", _CURVE_HEADER, tuple(self._rows(curve)))
        how = "In `offrank evaluate`, with `-e pbm` or `-e 'interpol(window=1)'`:"
        how = how if self.option else "The curve has gaps, so pbm and interpol cannot use it."
        parts = (
            Section("Examination", charts=(click_pages.examination_chart({found.method: curve}),), tables=(table,)),
            log_findings(self.findings_by_code(), found.tally),
            Section("How to use it", (how,), code=self.option),
            again(self.facts, "log", "by", "weigh", "seed"),
        )
        answer = Answer("**This log does not determine** the examination of its ranks.", severity="serious")
        if np.isfinite(found.curve).sum() > 1:
            answer = Answer(click_pages.looked_at(curve), severity=self.severity)
        return self._page(
            f"{found.impressions:,} sessions, {100 * self.facts['confidence']:g} % intervals", parts, answer
        )

    def _rows(self, curve: click_pages.Numbers) -> Iterator[tuple[Cell, ...]]:
        """Return per rank: number, examination, interval, documents (at it and the best-linked rank), and clicks."""
        for rank, one in enumerate(curve):
            shown = (Span.of(one).number(), click_pages.ends(one)) if np.isfinite(one.value) else ("-", "-")
            compared, clicks = f"{self.found.documents[rank].max(initial=0):,}", f"{self.found.clicks[rank]:,.0f}"
            yield str(rank + 1), *shown, compared, clicks


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
        shown = "" if row["sessions"] is None else f"{row['sessions']:,.0f}"
        certain = "" if row["certainty"] is None else formatting.percent(row["certainty"])
        query = "" if row["query"] is None else str(row["query"])
        relevance = Span(row["relevance"], row["low"], row["high"]).text()
        return query, str(row["item"]), relevance, shown, str(row["grade"]), certain


@dataclass(frozen=True)
class PredictedClicks(Delivered):
    """The table of predictions that was written: rows, and the mean click probability."""

    fitted: Fitted
    path: str
    rows: int
    clicked: float

    headings = ("path", "rows", "click_probability")

    @property
    def cautions(self) -> Mapping[str, tuple[Caution, ...]]:
        return {"": self.fitted.cautions}

    def records(self) -> list[dict[str, Any]]:
        """Return one row: the file, its rows, and the mean click probability."""
        return [{"path": self.path, "rows": self.rows, "click_probability": self.clicked}]

    def to_dict(self) -> dict[str, Any]:
        return {**self.facts, **self.records()[0], "cautions": plain(self.fitted.cautions)}

    def to_document(self) -> Document:
        slots = formatting.plural(self.rows, "slot", "slots")
        said = f"{formatting.quote(repr(self.fitted))} **predicts {slots}**"
        said += f": {formatting.percent(self.clicked)} of them clicked."
        parts = (log_findings(self.findings_by_code()), again(self.facts, "log", "model"))
        return self._page(f"{slots}, written to {self.path}", parts, Answer(said, severity=self.severity))
