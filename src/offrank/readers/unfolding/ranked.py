"""Wide tables whose items have a position beside them: their lists in the order of the positions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa

from ...log import rules
from ...log.rules import Faults
from ...log.schema import Columns
from ...log.source import Needs
from .. import flat
from ..conversions import positions
from ..flat import Lists
from ..impressions import Rows
from ..json_text import BadCell
from ..tables import Piece, Table, few_rows
from .table import Reshaped

_ROW = "\0row"
_BESIDE = ("clicks", "slot_propensity", "rank_propensity")
"""Roles whose lists stand beside the slate, so that they are ordered with it."""


@dataclass(frozen=True)
class RankedTable(Reshaped):
    """A wide table with its slates in the order of a list of positions, from 1, or from 0 in most of the first rows.

    An item without a position is a candidate that was not shown; the column `candidates` holds all items in the order
    in which they are written, unless the table has one. beside: columns that are ordered with the slate, but for those
    that a job adds; squares: those that hold lists of lists. skip: whether rows that break a rule are left out; close:
    positions give the order only. gaps: whether ranks without an item stay, as null.
    """

    table: Table
    slate: str
    position: str
    beside: frozenset[str]
    squares: frozenset[str]
    skip: bool = False
    close: bool = False
    gaps: bool = False

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*self.table.names, "candidates"]))

    def needing(self, needed: Needs) -> RankedTable:
        """Return the table as a job reads it."""
        written = (name.partition(":") for name in needed.written)
        own = [(role, column) for role, _, column in written if role != "propensity"]
        squares = self.squares.union(column for role, column in own if role == "rank_propensity")
        beside = self.beside.union(column for _, column in own)
        return replace(self, beside=beside, squares=squares, gaps=needed.holes)

    @cached_property
    def top(self) -> int:
        """Return the position at the top, 0 or 1."""
        first = few_rows(self.table, (self.position,)).column(0)
        try:
            found = [_positions(chunk, self.position) for chunk in first.chunks]
        except BadCell:
            return 1
        from_0 = sum(int(one.rows_where(one.values == 0).sum()) for one in found)
        return 0 if 2 * from_0 > len(first) else 1

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        own = tuple(name for name in columns if name in self.table.names)
        for read in self.table.pieces(part, tuple(dict.fromkeys((self.slate, self.position, *own)))):
            try:
                yield self._ordered(read, columns)
            except BadCell as error:
                raise read.fault(error) from None

    def _ordered(self, piece: Piece, columns: tuple[str, ...]) -> Piece:
        """Return a piece with these columns, without rows that break a rule if those are to be skipped.

        Raises:
            RowError: a row breaks a rule, unless such rows are to be skipped.
        """
        names = piece.data.schema.names
        moved = {name: flat.lists(piece.data.column(name), name, self._held(name)) for name in self._moved(names)}
        faults = self._faults(piece, moved)
        rows = None if faults.which.any() else self._rows(piece, moved, faults)
        error = faults.first(piece.file, piece.rows, lambda name, row: flat.show_value(piece.data.column(name), row))
        if error is None:
            data = {name: piece.data.column(name if name in names else self.slate) for name in columns}
            if rows is not None:
                data |= {name: rows.ordered(name, self.position) for name in columns if name in moved}
            return replace(piece, data=pa.record_batch(data))
        if not self.skip:
            raise error
        keep, skipped = faults.which == 0, dict(Counter(piece.skipped) + Counter(faults.counts()))
        kept = replace(piece, data=flat.kept_rows(piece.data, keep), rows=piece.rows[keep], skipped=skipped)
        return self._ordered(kept, columns)

    def _moved(self, names: Sequence[str]) -> list[str]:
        return [name for name in names if name in self.beside or name == self.slate]

    def _held(self, name: str) -> pa.DataType | None:
        """Return what a list holds that is written as text."""
        if name == self.slate:
            return None
        return pa.list_(pa.float64()) if name in self.squares else pa.float64()

    def _faults(self, piece: Piece, moved: Mapping[str, Lists]) -> Faults:
        """Return the rows whose lists cannot be ordered."""
        faults, slate = Faults(np.zeros(len(piece.data), np.int16)), moved[self.slate]
        faults.mark(slate.null | slate.rows_where(flat.nulls(slate.values)), rules.NULL, self.slate)
        faults.mark(slate.lengths == 0, rules.EMPTY_SLATE, self.slate)
        ranks = {self.position: _positions(piece.data.column(self.position), self.position)}
        for name, found in (ranks | {name: one for name, one in moved.items() if name != self.slate}).items():
            faults.mark(found.null, rules.NULL, name)
            faults.mark(found.lengths != slate.lengths, rules.RAGGED, name)
        return faults

    def _rows(self, piece: Piece, moved: Mapping[str, Lists], faults: Faults) -> Rows | None:
        """Return the items of a piece as rows with their order, or None if they are in order already."""
        slate = moved[self.slate]
        ranks = _positions(piece.data.column(self.position), self.position).values
        if (ranks == slate.place + self.top).all():
            return None
        of_row = slate.row
        columns = {name: one.values for name, one in moved.items()} | {self.position: ranks, _ROW: of_row}
        found = Rows(Piece(flat.plain_columns(pa.record_batch(columns)), piece.file, of_row), _ROW)
        wrong = found.count(self.position, self.top, kept=self.gaps and not self.close, closed=self.close)
        rule = rules.BAD_RANK if self.gaps and not self.close else rules.BAD_POSITION
        faults.mark(np.bincount(of_row, wrong, len(slate.lengths)) > 0, rule, self.position)
        return found


def _positions(column: pa.Array, name: str) -> Lists:
    """Read lists of positions; of texts too, such as `1st`."""
    found = flat.lists(column, name, pa.float64())
    return replace(found, values=flat.numbers(positions(found.values), name))


def in_order(table: Table, renamed: Mapping[str, str], clicks_as: str, *, skip: bool, close: bool) -> Table:
    """Return a wide table with its slates in the order of a column of positions, which was named."""
    known = Columns(table.names, renamed, table.describe())
    slate, position = known.of("slate"), known.of("position")
    roles = (role for role in _BESIDE if known.has(role) and (role != "clicks" or clicks_as != "items"))
    beside = frozenset(map(known.of, roles))
    squares = frozenset([renamed.get("rank_propensity", "rank_propensity")])
    return RankedTable(table, slate, position, beside, squares, skip=skip, close=close)
