"""Names of the columns of sums: nothing outside this package knows where a column stands."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from ..log.batch import Floats

Name = Hashable
Products = tuple[tuple[Name, Name], ...]
"""Pairs of columns whose products are summed too: second moments, for what is refitted in each replicate."""


@dataclass(frozen=True)
class Columns:
    """The names of columns that occur once, and of those that occur in each block, such as a rank.

    Blocks come last, so that a longer list adds columns at the end.
    """

    once: tuple[Name, ...]
    in_blocks: tuple[Name, ...] = ()

    def width(self, blocks: int = 0) -> int:
        """How many columns there are with so many blocks."""
        return len(self.once) + blocks * len(self.in_blocks)

    @cached_property
    def places(self) -> dict[Name, int | slice]:
        """Where each column stands; a slice of one in blocks."""
        once: dict[Name, int | slice] = {name: place for place, name in enumerate(self.once)}
        stride = len(self.in_blocks)
        return once | {name: slice(len(once) + at, None, stride) for at, name in enumerate(self.in_blocks)}

    def numbers(self, names: Iterable[Name], width: int | None = None) -> list[int]:
        """The numbers of columns, those of every block among them, in an array of so many columns, by default once."""
        every = np.arange(len(self.once) if width is None else width)
        found: list[int] = np.hstack([every[:0], *(every[self.places[name]] for name in names)]).tolist()
        return found

    def name(self, number: int) -> Name:
        """The name of the column with this number."""
        more = number - len(self.once)
        return self.once[number] if more < 0 else self.in_blocks[more % len(self.in_blocks)]


class Readable(Protocol):
    """What has sums by name."""

    def __getitem__(self, name: Name, /) -> Any:
        """The sums [...] of a column, or [..., b] of one in blocks."""


@dataclass(frozen=True, eq=False)
class Named:
    """An array [..., d] by name: [...] each, and [..., b] of a column in b blocks. Assignments write to the array.

    products: the same of products of columns.
    """

    columns: Columns
    array: Floats
    products: Mapping[Name, Floats] = field(default_factory=dict)

    def __getitem__(self, name: Name) -> Floats:
        found: Floats = self.products[name] if name in self.products else self.array[..., self.columns.places[name]]
        return found

    def __setitem__(self, name: Name, found: Any) -> None:
        self.array[..., self.columns.places[name]] = found
