"""What a click model has learnt, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from rich.console import RenderableType

from ..folds.estimate import Caution, Interval
from ..formatting import with_ends
from ..log.batch import Floats
from . import text
from .counts import rank_of
from .parameters import Role, Roles, ranks_of
from .storage import Kept

_LONGEST = 20
"""Tables are told up to so many entries, or ranks."""
_CURVES = (Role.RANK, Role.RANK_AND_LAST_CLICK, Role.SHARED)
"""What is told entry by entry."""


class Kind(Protocol):
    """What is asked of its model; see `ClickModel`."""

    def roles(self) -> Roles: ...


class Known(Kept, Protocol):
    """What is told of a fitted model; see `Fitted`."""

    @property
    def model(self) -> Kind: ...

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
        for name, values, role in self._each():
            if role is Role.PRIOR:
                yield f"  {name.replace('_', ' ')}: {_spelled(values.tolist())}"
            elif role is Role.DOCUMENT:
                yield f"  {name} expected of an unseen document: {float(values[-1]):.4g}"
            elif role in _CURVES and values.size == 1:
                yield f"  {name}: {self._entries(name)[0]}"
            elif not _is_short(values, role):
                others.append(f"{name} ({' x '.join(map(str, values.shape))})")
        if others:
            yield f"  other tables: {', '.join(others)}"

    def _tables(self) -> Iterator[RenderableType]:
        for name, values, role in self._each():
            if values.size == 1 or not _is_short(values, role):
                continue
            if role is Role.RANK_AND_LAST_CLICK:
                above = [str(one) for one in range(1, ranks_of(values))]
                yield text.table(
                    f"{name}, by the rank of the last click above", ["rank", "none", *above], _cells(values)
                )
            else:
                what = "rank" if role is Role.RANK else ""
                doubt = f"{100 * self.confidence:g} % interval" if name in self.fitted.learnt.strength else "value"
                rows = ([str(place), entry] for place, entry in enumerate(self._entries(name), 1))
                yield text.table(name.replace("_", " "), [what, doubt], rows)

    def _each(self) -> Iterator[tuple[str, Floats, Role]]:
        """Every table that is not told among the facts, and what it is about."""
        roles = self.fitted.model.roles()
        for name, values in self.fitted.learnt.parameters.items():
            if name not in self.fitted.learnt.facts:
                yield name, values, roles[name]

    def _entries(self, name: str) -> list[str]:
        values = self.fitted.learnt.parameters[name]
        if name not in self.fitted.learnt.strength:
            return [f"{value:.4g}" for value in values.ravel()]
        ends = (end.ravel().tolist() for end in self.fitted.interval(name, self.confidence))
        each = zip(values.ravel().tolist(), *ends, strict=True)
        return [with_ends(Interval(value, low, high, np.nan)) for value, low, high in each]


def _is_short(values: Floats, role: Role) -> bool:
    """Whether a table is told entry by entry."""
    if role is Role.RANK_AND_LAST_CLICK:
        return ranks_of(values) <= _LONGEST // 2
    return role in _CURVES and len(values) <= _LONGEST


def _cells(values: Floats) -> Iterator[list[str]]:
    """A row per rank, a column per last click above it."""
    ranks = rank_of(np.arange(len(values)))
    for rank in range(ranks_of(values)):
        yield [str(rank + 1), *(f"{value:.3f}" for value in values[ranks == rank])]


def _many(count: int, what: str) -> str:
    return f"{count:,} {what if count == 1 else what + 's'}"


def _spelled(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list | tuple):
        return ", ".join(map(_spelled, value))
    return str(value)
