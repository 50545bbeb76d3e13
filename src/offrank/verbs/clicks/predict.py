"""`clicks predict`: the click probability and the relevance of every slot of a log, written to a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any

import pyarrow as pa

from ...clicks.fitted import Fitted
from ...clicks.summary import log_findings
from ...evaluation import arguments
from ...evaluation.reproducibility import Delivered, facts
from ...frames import check_table_path, plain, write_table
from ...language import formatting
from ...language.outputs import refuse_outputs
from ...report.document import Answer, Document
from ...report.facts import again
from ...running.executors import Progress
from ...sums.estimate import Caution
from .base import models


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


def predict_clicks(
    log: Any,
    model: Any,
    path: str | PathLike[str],
    *,
    columns: Mapping[str, str] | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> PredictedClicks:
    """Write a table with a row per slot of a log: row, query, item, rank, click_probability, relevance.

    It is read and written batch by batch, so that memory does not grow with the log; rows of slates of very different
    length may stand in another order than in the log. See `Fitted.predict`.

    Parameters:
        log: from `read_log`, or anything that it takes.
        model: a fitted click model, or a file of one.
        path: `.parquet` or `.csv`.
        columns: role -> the log's own name of that column, as `read_log` takes them.
        overwrite: replace a file that is there.
        progress: called with (parts done, all parts) of the log, as they are read.

    Returns:
        The path of the table, its rows, and cautions.

    Raises:
        UsageError: no such model, or a path of another kind. LogError: the log breaks a rule, or is empty.

    Examples:
        >>> model = offrank.clicks.DCTR().fit("offrank-demo/log.parquet")
        >>> offrank.predict_clicks("offrank-demo/log.parquet", model, "predicted.parquet").rows
        800000
    """
    check_table_path(path)
    ((name, fitted),) = models([model]).items()
    refuse_outputs(path, log=log, read=[model], overwrite=overwrite)
    source, total = arguments.source(log, columns), [0.0]

    def summed() -> Iterator[pa.RecordBatch]:
        for batch in fitted.predictions(source, progress):
            total[0] += float(batch.column("click_probability").to_numpy().sum())
            yield batch

    rows = write_table(path, summed())
    made = facts("click-predictions", f"Predictions of {fitted!r} for {source.describe()}", source, model=name)
    return PredictedClicks(fitted, str(path), rows, total[0] / rows, facts=made)
