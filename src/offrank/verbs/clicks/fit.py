"""`clicks fit`: learn a click model from a log, save it to a file, and describe it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ...clicks.base import Role
from ...clicks.documents import grouping
from ...clicks.fitted import Fitted
from ...clicks.model import ClickModel, click_model
from ...errors import UsageError
from ...evaluation import arguments
from ...evaluation.reproducibility import Delivered, facts
from ...frames import plain
from ...language import Say, formatting, silent
from ...language.argument import interval_level
from ...language.outputs import refuse_outputs
from ...metrics import click_pages as pages
from ...report.document import Answer, Document
from ...report.facts import again
from ...running.executors import Executor, Progress
from ...sums.estimate import Caution


@dataclass(frozen=True)
class ClickFit(Delivered):
    """A fitted click model, and the file that it was written to."""

    fitted: Fitted
    path: str
    confidence: float = 0.95

    headings = ("quantity", "rank", "value")

    @property
    def cautions(self) -> Mapping[str, tuple[Caution, ...]]:
        return {"": self.fitted.cautions}

    def records(self) -> list[dict[str, Any]]:
        """Return a row per entry of each table by rank, and per parameter that all sessions share."""
        learnt, rows = self.fitted.learnt, list[dict[str, Any]]()
        for name, role in self.fitted.model.roles().items():
            if role is Role.SHARED or role.by_rank:
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
            "learnt": self.records(),
            "tally": plain(fitted.tally),
            "cautions": plain(fitted.cautions),
        }

    def to_document(self) -> Document:
        found, drawn = self.fitted.to_document(self.confidence), pages.curves({"": self.fitted}, self.confidence)
        curve = (replace(one, tables=(), printed=False) for one in drawn)
        parts = (*curve, *found.sections, again(self.facts, "log", "spelling"))
        return self._page(f"{found.lead}, written to {self.path}", parts, self._answer())

    def _answer(self) -> Answer:
        """Say whether the fit has converged, and the examination probability of the last rank."""
        curve = pages.curve_of(self.fitted, self.confidence)
        known = formatting.plural(len(self.fitted.documents), "document", "documents")
        said = f"**was fitted** to {known}" if self.fitted.learnt.converged else "**did not converge**"
        seen = "" if curve is None or len(curve) < 2 else f" {pages.looked_at(curve)}"
        return Answer(f"{formatting.quote(repr(self.fitted))} {said}.{seen}", severity=self.severity)


def fit_clicks(
    log: Any,
    model: str | ClickModel,
    path: str | PathLike[str],
    *,
    columns: Mapping[str, str] | None = None,
    by: str | None = "auto",
    confidence: float = 0.95,
    overwrite: bool = False,
    executor: Executor | None = None,
    progress: Progress | None = None,
    say: Say = silent,
) -> ClickFit:
    """Fit a click model to a log, and write it to a file.

    Parameters:
        log: from `read_log`, or anything that it takes, with slates and clicks.
        model: `dbn`, `mixture(pbm, dbn)` ...
        path: the JSON file to write.
        columns: role -> the log's own name of that column, as `read_log` takes them.
        by: the column of the queries: a document is a pair of query and item. "auto": `query` where there is one;
            None: items are identified by their id alone.
        confidence: level of the intervals, between 0 and 1.
        overwrite: replace a file that is there, also one that offrank did not write.
        executor: what reads the log: any `concurrent.futures.Executor`; by default threads, one per core.
        progress: called with (parts done, all parts) of the log, as they are read.
        say: called with a description of each step.

    Returns:
        The fitted model, how it was fitted, and cautions.

    Raises:
        UsageError: arguments that cannot work, or clicks that are not whole numbers.
        LogError: the log breaks a rule, has no clicks, or is empty.

    Examples:
        >>> learnt = offrank.fit_clicks("offrank-demo/log.parquet", "pbm", "pbm.json")
        >>> [round(float(rank), 1) for rank in learnt.fitted.examination()]
        [1.0, 0.5, 0.3, 0.2]
    """
    kind, source = click_model(model), arguments.source(log, columns)
    interval_level(confidence)
    if not os.access(Path(path).parent, os.W_OK):
        raise UsageError(f"there is no folder {str(Path(path).parent)!r} to write to", "create it first")
    refuse_outputs(path, log=[log, source], read=(), overwrite=overwrite)
    grouping(source, by)  # report missing columns before reading anything
    fitted = kind.fit(source, by=by, executor=executor, progress=progress, say=say)
    fitted.save(path, overwrite)
    made = facts("click-model", f"{kind!r}, fitted to {source.describe()}", source, spelling=repr(kind))
    return ClickFit(fitted, str(path), confidence, facts=made)
