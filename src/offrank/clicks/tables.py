"""How well click models did, in tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from rich.console import RenderableType

from ..folds.digits import with_half
from ..folds.estimate import Interval
from . import text
from .layout import QUANTITIES, Quantity

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
