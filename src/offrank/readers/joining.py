"""Tables of events joined: the rows of some kinds, and the clicks of one table beside the impressions of another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..errors import LogError
from ..log.batch import Integers
from ..log.hashing import hashed
from ..running.checkpoint import stamp_of
from . import arrow
from .tables import Piece, Table

OUTSIDE, REPEATED = "click-outside-slate", "click-repeated"
"""Rules of clicks that are left out: on what no impression showed, and again on what was clicked before."""
_SHOWN = 3
"""Ids of each table that an error shows."""


@dataclass(frozen=True)
class KeptRows:
    """The rows of a table whose `column` has one of some values, as texts."""

    table: Table
    column: str
    values: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return self.table.names

    def parts(self) -> int:
        return self.table.parts()

    def describe(self) -> str:
        return self.table.describe()

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        for piece in self.table.pieces(part, tuple(dict.fromkeys((*columns, self.column)))):
            kind = arrow.plain(piece.data.column(self.column)).cast(pa.large_string())
            kept = pc.fill_null(pc.is_in(kind, pa.array(self.values, pa.large_string())), False)
            yield replace(piece, data=piece.data.filter(kept).select(list(columns)), rows=piece.rows[np.asarray(kept)])


@dataclass(frozen=True)
class ItemKeys:
    """The columns of a table that name an impression and an item of it, or the list of its items."""

    impression: str
    item: str


@dataclass(frozen=True)
class ClicksBeside:
    """A table of impressions with a column `made`: whether the rows of another table say that an item was clicked.

    The clicks are held in memory, 16 bytes each; impressions are read in order, as one part. Clicks on what no
    impression showed and repeated clicks are counted with the last rows.
    """

    shown: Table
    clicks: Table
    shown_by: ItemKeys
    clicked_by: ItemKeys
    made: str

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.shown.names, self.made)

    def parts(self) -> int:
        return min(self.shown.parts(), 1)

    def describe(self) -> str:
        return f"{self.shown.describe()} with the clicks of {self.clicks.describe()}"

    def stamp(self) -> Mapping[str, Any] | None:
        both = [stamp_of(table) for table in (self.shown, self.clicks)]
        return None if None in both else {**(both[0] or {}), **(both[1] or {})}

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        if self.made not in columns:
            for number in range(self.shown.parts()):
                yield from self.shown.pieces(number, columns)
            return
        wanted = [name for name in columns if name != self.made]
        asked = tuple(dict.fromkeys([*wanted, self.shown_by.impression, self.shown_by.item]))
        found, held = np.zeros(len(self._clicked[0]), np.bool_), None
        for number in range(self.shown.parts()):
            for piece in self.shown.pieces(number, asked):
                if held is not None:
                    yield held
                clicked = self._marked(piece.data, found)
                data = piece.data.select(wanted).append_column(self.made, clicked).select(list(columns))
                held = replace(piece, data=data)
        if held is not None:
            yield replace(held, skipped={**held.skipped, **self._left_out(found)})

    @cached_property
    def _texts(self) -> bool:
        """Whether ids are compared as texts: those of one table are whole numbers and those of the other are not."""
        kinds = {
            arrow.id_kind(_values(first.data.column(name)).type)
            for table, keys in ((self.shown, self.shown_by), (self.clicks, self.clicked_by))
            for first in [next(table.pieces(0, (keys.impression, keys.item)), None)]
            if first is not None
            for name in (keys.impression, keys.item)
        }
        return "text" in kinds

    @cached_property
    def _clicked(self) -> tuple[NDArray[np.uint64], Integers]:
        """The keys of the clicks, ascending, and how often each comes."""
        keys = [
            self._keys(piece.data.column(self.clicked_by.impression), piece.data.column(self.clicked_by.item))
            for part in range(self.clicks.parts())
            for piece in self.clicks.pieces(part, (self.clicked_by.impression, self.clicked_by.item))
        ]
        unique, counts = np.unique(np.concatenate([np.zeros(0, np.uint64), *keys]), return_counts=True)
        return unique, counts

    def _keys(self, impression: pa.Array, item: pa.Array) -> NDArray[np.uint64]:
        both = [self._codes(impression, self.shown_by.impression), self._codes(item, self.shown_by.item)]
        return hashed(hashed(both[0]) ^ both[1])

    def _codes(self, column: pa.Array, name: str) -> NDArray[np.uint64]:
        column = arrow.plain(column)
        return arrow.codes(column.cast(pa.large_string()) if self._texts else column, name).view(np.uint64)

    def _marked(self, data: pa.RecordBatch, found: NDArray[np.bool_]) -> pa.Array:
        """Return the clicks beside the items of some rows, and note which clicks were found."""
        impression, item = data.column(self.shown_by.impression), data.column(self.shown_by.item)
        listed = pa.types.is_nested(item.type)
        if listed:
            lists = arrow.lists(item, self.shown_by.item)
            row = np.repeat(np.arange(len(data)), lists.lengths)
            impression, item = impression.take(pa.array(row)), lists.values
        keys, (known, _) = self._keys(impression, item), self._clicked
        place = np.minimum(np.searchsorted(known, keys), max(len(known) - 1, 0))
        clicked = known[place] == keys if len(known) else np.zeros(len(keys), np.bool_)
        found[place[clicked]] = True
        marks = pa.array(clicked.astype(np.int8))
        if not listed:
            return marks
        return pa.LargeListArray.from_arrays(pa.array(np.append(0, np.cumsum(lists.lengths)), pa.int64()), marks)

    def _left_out(self, found: NDArray[np.bool_]) -> dict[str, int]:
        """Return the clicks that were left out, by rule.

        Raises:
            LogError: there are clicks, and none is on what was shown.
        """
        known, counts = self._clicked
        if len(known) and not found.any():
            raise self._unjoined()
        outside, again = int(counts[~found].sum()), int((counts[found] - 1).sum())
        return {rule: count for rule, count in ((OUTSIDE, outside), (REPEATED, again)) if count}

    def _unjoined(self) -> LogError:
        said = []
        for table, keys in ((self.shown, self.shown_by), (self.clicks, self.clicked_by)):
            first = next(table.pieces(0, (keys.impression, keys.item))).data
            rows = range(min(_SHOWN, len(first)))
            ids = ", ".join(
                f"({arrow.show(first.column(keys.impression), row)}, {arrow.show(first.column(keys.item), row)})"
                for row in rows
            )
            said.append(f"{table.describe()} has {keys.impression!r}, {keys.item!r} such as {ids}")
        return LogError(
            f"no click is on an item that was shown: {'; '.join(said)}",
            "name the columns that hold the same ids in both",
        )


def _values(column: pa.Array) -> pa.Array:
    """Return the ids of a column, or of its lists."""
    column = arrow.plain(column)
    return arrow.lists(column, "").values if pa.types.is_nested(column.type) else column
