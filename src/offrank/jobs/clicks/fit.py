"""`clicks fit`: a click model learnt from a log, kept in a file, and told."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import RenderableType
from rich.table import Table

from ...clicks.counts import rank_of
from ...clicks.documents import grouping
from ...clicks.fitted import Fitted
from ...clicks.model import ClickModel
from ...clicks.named import click_model
from ...clicks.ubm import UBM
from ...folds.doubt import Doubt
from ...folds.estimate import Interval
from ...log.batch import Floats
from ...log.errors import UsageError
from ...running.executors import Executor, Progress
from .. import arguments
from . import text
from .text import with_ends

_LONGEST = 20
"""Tables are printed up to so many entries."""


@dataclass(frozen=True)
class Learnt:
    """A fitted click model, and the file that it was written to."""

    fitted: Fitted
    path: str
    confidence: float = 0.95

    def __str__(self) -> str:
        return text.rendered(self._parts())

    def _parts(self) -> Iterator[RenderableType | str]:
        fitted, learnt = self.fitted, self.fitted.learnt
        by = fitted.documents.by
        what = "items" if by is None else f"pairs of {by} and item"
        yield f"{fitted.model!r}, learnt from {fitted.source}, written to {self.path}"
        yield f"  {fitted.tally.impressions:,} sessions, {len(fitted.documents):,} documents ({what})"
        if learnt.rounds:
            end = "settled" if learnt.converged else "stopped before it settled"
            height = f", log-posterior {learnt.trace[-1]:,.2f}" if learnt.trace else ""
            yield f"  {learnt.rounds:,} rounds, {end}{height}"
        yield from (f"  {name.replace('_', ' ')}: {_spelled(value)}" for name, value in learnt.facts.items())
        yield from self._tables()
        yield from text.reading(fitted.tally)
        yield from text.told({"": fitted.cautions})

    def _tables(self) -> Iterator[RenderableType | str]:
        """What is expected of any document, and tables that are no documents'."""
        learnt, model = self.fitted.learnt, self.fitted.model
        for name, values in learnt.parameters.items():
            if name in learnt.facts:
                continue
            if name.endswith("prior"):
                yield f"  {name}: {_spelled(values.tolist())}"
            elif len(values) == len(self.fitted.documents) + 1 and values.ndim == 1:
                yield f"  {name} expected of an unseen document: {float(values[-1]):.4g}"
            elif values.size == 1:
                yield f"  {name}: {self._entries(name)[0]}"
            elif isinstance(model, UBM) and name == "examination":
                yield _browsed(values)
            elif values.ndim == 1 and len(values) <= _LONGEST:
                rows = [[str(place), entry] for place, entry in enumerate(self._entries(name), 1)]
                what = "rank" if len(values) == self.fitted.tally.ranks else ""
                yield text.table(name, [what, f"{self.confidence:.3g} interval"], rows)
            else:
                yield f"  {name}: {' x '.join(map(str, values.shape))} numbers"

    def _entries(self, name: str) -> list[str]:
        values = self.fitted.learnt.parameters[name].ravel()
        if name not in self.fitted.learnt.strength:
            return [f"{value:.4g}" for value in values]
        low, high = (end.ravel() for end in self.fitted.interval(name, self.confidence))
        return [with_ends(_interval(*ends)) for ends in zip(values, low, high, strict=True)]


def _browsed(examination: Floats) -> Table:
    """The examination of the user browsing model: a row per rank, a column per last click above it."""
    rank = rank_of(np.arange(len(examination)))
    rows = [[str(one + 1), *(f"{value:.3f}" for value in examination[rank == one])] for one in range(rank[-1] + 1)]
    above = [str(one) for one in range(1, rank[-1] + 1)]
    return text.table("examination, by the rank of the last click above", ["rank", "none", *above], rows)


def fit_clicks(
    log: Any,
    model: str | ClickModel,
    path: str | PathLike[str],
    *,
    by: str | None = "auto",
    confidence: float = 0.95,
    executor: Executor | None = None,
    progress: Progress | None = None,
    say: Callable[[str], object] = len,
) -> Learnt:
    """Learn a click model from a log, and write it to a file.

    - log: from `read_log`, or anything that it takes, with slates and clicks. model: `dbn`, `mixture(pbm, dbn)` ...
    - by: the column of the queries: a document is a pair of query and item. "auto": `query` where there is one; None:
      items are known by themselves.

    Raises:
        UsageError: arguments that cannot work, or clicks that are no whole numbers.
        LogError: the log breaks a rule, has no clicks, or is empty.
    """
    kind, source = click_model(model), arguments.source(log)
    Doubt("normal", confidence)  # refuses levels that are none
    if not os.access(Path(path).parent, os.W_OK):
        raise UsageError(f"there is no folder {str(Path(path).parent)!r} to write to", "make it first")
    grouping(source, by)  # columns that are not there are told before anything is read
    fitted = kind.fit(source, by=by, executor=executor, progress=progress, say=say)
    fitted.save(path)
    return Learnt(fitted, str(path), confidence)


def _interval(value: float, low: float, high: float) -> Interval:
    return Interval(float(value), float(low), float(high), np.nan)


def _spelled(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list | tuple):
        return ", ".join(map(_spelled, value))
    return str(value)
