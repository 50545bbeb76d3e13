"""How well click models did, in tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from rich.console import Group, RenderableType

from ..folds.digits import with_half
from ..folds.estimate import Interval
from . import text
from .layout import QUANTITIES, Quantity

_BESIDE = 4
"""Models beside each other where each has a column: as many as a terminal of 80 characters shows unbroken."""
HEADINGS = ("log-likelihood", "perplexity", "conditional perplexity")
"""Of `QUANTITIES`, in their order."""


class Numbers(Protocol):
    """What is told of a model; see `Evaluated`."""

    @property
    def sessions_at_rank(self) -> Sequence[float]: ...

    @property
    def perplexity_at_rank(self) -> Sequence[Interval]: ...

    @property
    def conditional_perplexity_at_rank(self) -> Sequence[Interval]: ...


class Compared(Protocol):
    """What is told of several models; see `Evaluations`."""

    def __iter__(self) -> Iterator[str]: ...

    def __getitem__(self, name: str, /) -> Numbers: ...

    def difference(self, left: str, right: str, quantity: Quantity = ...) -> Interval: ...


@dataclass(frozen=True)
class Column:
    """One more number of each model, and its differences to the first."""

    heading: str
    values: Sequence[Interval]
    differences: Sequence[Interval]


def whole(found: Compared, title: str = "", more: Sequence[Column] = ()) -> Iterator[RenderableType]:
    """Each quantity of each model, and the differences to the first."""
    headings = ["model", *HEADINGS, *(one.heading for one in more)]
    first, *others = found
    rows = []
    for index, name in enumerate(found):
        numbers = [getattr(found[name], quantity) for quantity in QUANTITIES] + [one.values[index] for one in more]
        rows.append([name, *map(with_half, numbers)])
    yield text.table(title, headings, rows)
    away = []
    for index, name in enumerate(others):
        numbers = [found.difference(name, first, quantity) for quantity in QUANTITIES]
        numbers += [one.differences[index] for one in more]
        away.append([name, *(with_half(number, signed=True) for number in numbers)])
    if away:
        yield text.table(f"Less {first}, on the same sessions", headings, away)


def ranks(found: Compared) -> Iterator[RenderableType]:
    """Perplexity of each model at each rank, both kinds."""
    each = {name: found[name] for name in found}
    sessions = next(iter(each.values())).sessions_at_rank
    before = [one.perplexity_at_rank for one in each.values()]
    given = [one.conditional_perplexity_at_rank for one in each.values()]
    yield _by_rank("Perplexity at each rank", list(each), sessions, before)
    yield _by_rank("Given the clicks above", list(each), sessions, given)


def alone(one: Numbers, headings: Iterable[str] = HEADINGS) -> Iterator[RenderableType]:
    """The numbers of a single model: a row for all ranks together, and one for each."""
    numbers = [with_half(getattr(one, quantity)) for quantity in QUANTITIES]
    rows = [["all", "", *numbers]]
    each = zip(one.sessions_at_rank, one.perplexity_at_rank, one.conditional_perplexity_at_rank, strict=True)
    for rank, (sessions, before, given) in enumerate(each, 1):
        if not sessions:  # empty in every session
            continue
        rows.append([str(rank), f"{sessions:,.0f}", "", with_half(before), with_half(given)])
    yield text.table("", ["rank", "sessions", *headings], rows)


def _by_rank(
    title: str, names: Sequence[str], sessions: Sequence[float], columns: Sequence[Sequence[Interval]]
) -> RenderableType:
    rows = [
        [str(rank), f"{count:,.0f}", *map(with_half, numbers)]
        for rank, (count, *numbers) in enumerate(zip(sessions, *columns, strict=True), 1)
        if count  # else empty in every session
    ]
    pieces = []
    for first in range(0, len(names), _BESIDE):
        piece = slice(2 + first, 2 + first + _BESIDE)
        heading = ["rank", "sessions", *names[first : first + _BESIDE]]
        pieces.append(text.table("" if first else title, heading, [[*row[:2], *row[piece]] for row in rows]))
    return Group(*pieces)
