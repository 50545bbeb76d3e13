"""What a click model has learnt, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from rich.console import RenderableType

from ..folds.digits import with_ends
from ..folds.estimate import Caution, Interval
from ..log.batch import Floats
from . import text
from .counts import rank_of
from .storage import Kept

_LONGEST = 20
"""Tables are told up to so many entries, or ranks."""


class Known(Kept, Protocol):
    """What is told of a fitted model; see `Fitted`."""

    @property
    def cautions(self) -> Sequence[Caution]: ...

    def interval(self, parameter: str, confidence: float = ...) -> tuple[Floats, Floats]: ...


def summary(fitted: Known, confidence: float = 0.95, path: str | None = None) -> str:
    """What it has learnt from, how that ended, tables that are no documents', and what is doubtful.

    path: the file that it was written to.
    """
    return text.rendered(_Summary(fitted, confidence).parts(path))


@dataclass(frozen=True)
class _Summary:
    fitted: Known
    confidence: float

    def parts(self, path: str | None) -> Iterator[RenderableType | str]:
        fitted, learnt, by = self.fitted, self.fitted.learnt, self.fitted.documents.by
        what = "items" if by is None else f"pairs of {by} and item"
        yield f"{fitted.model!r}, learnt from {fitted.source}" + ("" if path is None else f", written to {path}")
        yield f"  {_many(fitted.tally.impressions, 'session')}, {_many(len(fitted.documents), 'document')} ({what})"
        if learnt.rounds:
            end = "settled" if learnt.converged else "stopped before it settled"
            height = f", log-posterior {learnt.trace[-1]:,.2f}" if learnt.trace else ""
            yield f"  {_many(learnt.rounds, 'round')}, {end}{height}"
        yield from (f"  {name.replace('_', ' ')}: {_spelled(value)}" for name, value in learnt.facts.items())
        yield from self._lines()
        yield from self._tables()
        yield from text.reading(fitted.tally)
        yield from text.told({"": fitted.cautions})

    def _lines(self) -> Iterator[str]:
        """What is expected of any document, single numbers, and tables that are too long."""
        others = []
        for name, values in self.fitted.learnt.parameters.items():
            if name in self.fitted.learnt.facts or self._rows(name):
                continue
            if name.endswith("prior"):
                yield f"  {name.replace('_', ' ')}: {_spelled(values.tolist())}"
            elif values.ndim == 1 and self._of_documents(values) and not name.endswith("_of"):
                yield f"  {name} expected of an unseen document: {float(values[-1]):.4g}"
            elif values.size == 1:
                yield f"  {name}: {self._entries(name)[0]}"
            else:
                others.append(f"{name} ({' x '.join(map(str, values.shape))})")
        if others:
            yield f"  other tables: {', '.join(others)}"

    def _tables(self) -> Iterator[RenderableType]:
        for name, values in self.fitted.learnt.parameters.items():
            rows = self._rows(name)
            if name in self.fitted.learnt.facts or not rows:
                continue
            if len(rows) < len(values):
                above = [str(one) for one in range(1, len(rows))]
                yield text.table(f"{name}, by the rank of the last click above", ["rank", "none", *above], rows)
            else:
                what = "rank" if len(values) == self.fitted.tally.ranks else ""
                doubt = f"{100 * self.confidence:g} % interval" if name in self.fitted.learnt.strength else "value"
                yield text.table(name.replace("_", " "), [what, doubt], rows)

    def _rows(self, name: str) -> list[list[str]]:
        """Of a short table; a row per rank and a column per last click above it, where a table has both."""
        values, ranks = self.fitted.learnt.parameters[name], self.fitted.tally.ranks
        if values.ndim != 1 or len(values) < 2 or self._of_documents(values) or "prior" in name:
            return []
        if len(values) == ranks * (ranks + 1) // 2 != ranks and ranks <= _LONGEST // 2:
            rank = rank_of(np.arange(len(values)))
            return [[str(one + 1), *(f"{value:.3f}" for value in values[rank == one])] for one in range(ranks)]
        if len(values) > _LONGEST:
            return []
        return [[str(place), entry] for place, entry in enumerate(self._entries(name), 1)]

    def _of_documents(self, values: Floats) -> bool:
        return len(values) == len(self.fitted.documents) + 1

    def _entries(self, name: str) -> list[str]:
        values = self.fitted.learnt.parameters[name]
        if name not in self.fitted.learnt.strength:
            return [f"{value:.4g}" for value in values.ravel()]
        ends = (end.ravel().tolist() for end in self.fitted.interval(name, self.confidence))
        each = zip(values.ravel().tolist(), *ends, strict=True)
        return [with_ends(Interval(value, low, high, np.nan)) for value, low, high in each]


def _many(count: int, what: str) -> str:
    return f"{count:,} {what if count == 1 else what + 's'}"


def _spelled(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list | tuple):
        return ", ".join(map(_spelled, value))
    return str(value)
