"""Predictions of a click model for each slot of a log, as a table, and its score on a log."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
import pyarrow as pa

from ..errors import EmptyLogError
from ..folds.base import MappedFold, TotalFold
from ..log.batch import Contexts, Floats, Integers, LogBatch
from ..log.source import Needs
from ..log.texts import Texts
from ..readers.log import opened
from ..running.engines import refuse_placed
from ..running.executors import Progress, run
from .laws import ClickLaw, log_probs
from .sessions import whole_clicks


class Predictive(Protocol):
    """What predicts clicks and relevance; see `Fitted`."""

    def needs(self) -> Needs: ...

    def law(self, contexts: Contexts, slates: Integers) -> ClickLaw: ...

    def relevance(self, contexts: Contexts) -> Floats: ...


def predicted(model: Predictive, log: Any, query: str | None) -> Any:
    """The table of all slots, in the order of the log: a frame of the log's kind, otherwise an Arrow table."""
    batches = list(slots(model, log, query))
    table = pa.Table.from_batches([batch.cast(_common(batches)) for batch in batches])
    order = np.argsort(table.column("row").to_numpy(), kind="stable")
    return _like(log, table.take(pa.array(order)))


def slots(model: Predictive, log: Any, query: str | None, progress: Progress | None = None) -> Iterator[pa.RecordBatch]:
    """Batches of the table; see `Fitted.predict`.

    Raises:
        EmptyLogError: there are no impressions.
    """
    needed = Needs(holes=True, texts=True) | model.needs()
    source, empty = opened(log).select(needed), True
    refuse_placed(source, "clicks are predicted")
    for part in range(source.parts()):
        for batch in source.batches(part):
            if len(batch):
                empty = False
                yield _slots_of(model, batch, query)
        if progress is not None:
            progress(part + 1, source.parts())
    if empty:
        raise EmptyLogError("the log has no impressions", "give a log with at least one impression")


def score(model: Predictive, log: Any) -> float:
    """The mean log-likelihood of a session's clicks; see `Fitted.score`."""
    source = opened(log).select(Needs(frozenset(["clicks"]), holes=True) | model.needs())
    total, weight = run(source, _ScoreFold(model))
    if not weight:
        raise EmptyLogError("the log has no impressions", "give a log with at least one impression")
    return float(total / weight)


@dataclass(frozen=True)
class _ScoreFold(MappedFold):
    """Reduces a log to the sums of log-likelihoods and of one, over inclusion."""

    model: Predictive

    reducer: ClassVar = TotalFold((2,))

    def mapped(self, batch: LogBatch) -> Floats:
        found = log_probs(self.model.law(batch.contexts, batch.slates), np.minimum(whole_clicks(batch), 1.0))
        return np.array([found, np.ones(len(batch))]) @ (1 / batch.inclusion)


def _slots_of(model: Predictive, batch: LogBatch, query: str | None) -> pa.RecordBatch:
    contexts, slates = batch.contexts, batch.slates
    row, rank = np.nonzero(slates >= 0)
    at, texts = slates[row, rank], batch.texts or Texts.none()
    columns: dict[str, Any] = {"row": batch.row[row].astype(np.int64)}
    if query is not None:
        columns["query"] = texts.ids(contexts.keys[query][row])
    columns |= {"item": texts.ids(contexts.candidates[row, at]), "rank": rank + 1}
    columns["click_probability"] = model.law(contexts, slates).marginal()[row, rank]
    columns["relevance"] = model.relevance(contexts)[row, at]
    return pa.record_batch(columns)


def _common(batches: list[pa.RecordBatch]) -> pa.Schema:
    """The schema that fits all batches: ids are text if they are in any."""
    wide = {field.name: field for batch in batches for field in batch.schema if pa.types.is_large_string(field.type)}
    return pa.schema([wide.get(field.name, field) for field in batches[0].schema])


def _like(log: Any, table: pa.Table) -> Any:
    """The table as a frame of the library that the log is of."""
    library = type(log).__module__.partition(".")[0]
    if library == "pandas":
        return table.to_pandas()
    return importlib.import_module("polars").from_arrow(table) if library == "polars" else table
