"""The columns of a sample by their names."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Columns:
    """Names of columns in their order; `columns[name]` is the place of one."""

    names: tuple[Hashable, ...]

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, name: Hashable) -> int:
        return self._places[name]

    def of(self, *names: Hashable) -> tuple[int, ...]:
        """The places of several."""
        return tuple(self[name] for name in names)

    @cached_property
    def _places(self) -> dict[Hashable, int]:
        return {name: place for place, name in enumerate(self.names)}
