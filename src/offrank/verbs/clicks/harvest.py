"""`clicks harvest`: the examination probability of each rank, without a click model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...clicks.harvesting import Harvested, Method, Weigh, harvest
from ...clicks.summary import log_findings
from ...errors import UsageError
from ...evaluation import arguments
from ...evaluation.reproducibility import Delivered, facts
from ...frames import plain
from ...language.argument import seed_number
from ...language.formatting import Span
from ...log.batch import Floats
from ...metrics import click_pages as pages
from ...report.document import Answer, Cell, Document, Figures, Section
from ...report.facts import again
from ...running.executors import Executor, Progress
from ...sums.estimate import Caution

_HEADER = ("rank", "examination", "interval", "documents", "clicks")


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
        found, curve = self.found, pages.numbers(self.found.curve, self.found.low, self.found.high)
        table = Figures("", _HEADER, tuple(self._rows(curve)))
        how = "In `offrank evaluate`, with `-e pbm` or `-e 'interpol(window=1)'`:"
        how = how if self.option else "The curve has gaps, so pbm and interpol cannot use it."
        parts = (
            Section("Examination", charts=(pages.examination({found.method: curve}),), tables=(table,)),
            log_findings(self.findings_by_code(), found.tally),
            Section("How to use it", (how,), code=self.option),
            again(self.facts, "log", "by", "weigh", "seed"),
        )
        answer = Answer("**This log does not determine** the examination of its ranks.", severity="serious")
        if np.isfinite(found.curve).sum() > 1:
            answer = Answer(pages.looked_at(curve), severity=self.severity)
        return self._page(
            f"{found.impressions:,} sessions, {100 * self.facts['confidence']:g} % intervals", parts, answer
        )

    def _rows(self, curve: pages.Numbers) -> Iterator[tuple[Cell, ...]]:
        """Return per rank: number, examination, interval, documents (at it and the best-linked rank), and clicks."""
        for rank, one in enumerate(curve):
            shown = (Span.of(one).number(), pages.ends(one)) if np.isfinite(one.value) else ("-", "-")
            compared, clicks = f"{self.found.documents[rank].max(initial=0):,}", f"{self.found.clicks[rank]:,.0f}"
            yield str(rank + 1), *shown, compared, clicks


def harvest_clicks(
    log: Any,
    method: Method = "all_pairs",
    *,
    columns: Mapping[str, str] | None = None,
    by: str | None = "auto",
    weigh: Weigh = "views",
    confidence: float = 0.95,
    replicates: int = 200,
    seed: int = 0,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Curve:
    """Estimate the examination curve of a log: anything that `read_log` takes, with slates and clicks.

    Parameters:
        log: anything that `read_log` takes, with slates and clicks.
        method: `all_pairs` compares every two ranks, by maximum likelihood; `adjacent_chain` each rank with the
            next, `pivot_one` each with the first. The last two use less of the log.
        columns: role -> the log's own name of that column, as `read_log` takes them.
        by: the column of the queries, as for click models; a document is a pair of query and item.
        weigh: the weight of a document shown n and n' times at two ranks: n n' / (n + n') for `views`, or 1 as
            published (`equal`). Both are unbiased; the first has less variance.
        confidence: of the intervals, a bootstrap of the documents.
        replicates: of the bootstrap.
        seed: of the bootstrap.
        executor: what reads the log: any `concurrent.futures.Executor`; by default threads, one per core.
        progress: called with (parts done, all parts) of the log, as they are read.

    Returns:
        Examination by rank, relative to the first, each with its interval.

    Raises:
        UsageError: an unknown method, or clicks that are not whole numbers.
        SupportError: no document was shown at the first and at another rank.
        LogError: the log breaks a rule, or is empty.

    Examples:
        >>> curve = offrank.harvest_clicks("offrank-demo/log.parquet")
        >>> [round(row["value"], 1) for row in curve.records()]
        [1.0, 0.5, 0.3, 0.2]
    """
    seed, source = seed_number(seed), arguments.source(log, columns)
    given: dict[str, Any] = {"by": by, "weigh": weigh, "confidence": confidence, "seed": seed}
    how: dict[str, Any] = {**given, "replicates": replicates, "executor": executor, "progress": progress}
    found = harvest(source, method, **how)
    title = f"Examination of each rank of {source.describe()}"
    return Curve(found, facts=facts("examination", title, source, **given))
