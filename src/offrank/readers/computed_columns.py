"""Tables with columns that are computed from those of another table, batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from ..log.source import stamp_of
from .tables import Piece, Table, TableOver, rows_for

Computed = tuple[tuple[str, ...], Callable[[pa.RecordBatch], pa.Array]]
"""The columns that a new column needs, and how it is made of rows that have them."""


@dataclass(frozen=True)
class DerivedTable(TableOver):
    """A table whose columns are kept under other names, or computed.

    kept: name -> column. computed: name -> how. width: values per row, so that batches stay small.
    """

    table: Table
    kept: Mapping[str, str]
    computed: Mapping[str, Computed] = field(default_factory=dict)
    width: int = 1

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.computed, *self.kept)))

    def stamp(self) -> Mapping[str, Any] | None:
        return stamp_of(self.table)

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        needed = [name for one in columns for name in (self.computed[one][0] if one in self.computed else [one])]
        asked = tuple(dict.fromkeys(self.kept.get(name, name) for name in needed))
        most = rows_for(self.width)
        for whole in self.table.pieces(part, asked):
            for start in range(0, len(whole.data), most):
                piece = whole.between(start, min(start + most, len(whole.data)))
                with piece.telling():
                    data = pa.record_batch({name: self._column(piece, name) for name in columns})
                yield replace(piece, data=data)

    def _column(self, piece: Piece, name: str) -> pa.Array:
        if name not in self.computed:
            return piece.data.column(self.kept[name])
        columns, make = self.computed[name]
        return make(pa.record_batch({one: piece.data.column(self.kept.get(one, one)) for one in columns}))


def one_each(column: str) -> Computed:
    """Return the column whose lists hold one value each, that of another column."""
    return (column,), _lists_of_one


def always(values: pa.Array, beside: str) -> Computed:
    """Return the column that holds the same list in every row. beside: any column of the table."""
    return (beside,), partial(_same, values)


def in_lists(values: pa.Array, length: int) -> pa.Array:
    """Return lists of `length` values each."""
    return pa.LargeListArray.from_arrays(pa.array(np.arange(0, len(values) + 1, length), pa.int64()), values)


def _lists_of_one(rows: pa.RecordBatch) -> pa.Array:
    return in_lists(rows.column(0), 1)


def _same(values: pa.Array, rows: pa.RecordBatch) -> pa.Array:
    return in_lists(values.take(pa.array(np.tile(np.arange(len(values)), len(rows)))), len(values))
