"""A long table seen as a wide one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..errors import RowError
from ..log import rules
from ..log.batch import Floats, Integers
from ..log.rules import Faults, Rule
from ..log.schema import Columns
from ..log.source import Needs
from . import arrow
from .tables import Piece, Table
from .wide import Gaps, Invalid

_LOWEST = 1000
"""The lowest rank, where ranks may be missing: slates are as long as their lowest rank."""


@dataclass(frozen=True)
class LongTable:
    """A long table seen as a wide one. Its rows stand together by impression.

    Needed scores have a value per row; needed rankings hold an item's 1-based rank, null where it
    is not ranked. Every other column belongs to the impression. An impression may go on in the
    next part, so all parts are read as one. gaps: "close" takes positions for an order. top: the position at the top.
    """

    table: Table
    renamed: Mapping[str, str]
    needed: Needs
    invalid: Invalid = "raise"
    gaps: Gaps = "raise"
    top: int = 1

    @property
    def names(self) -> tuple[str, ...]:
        own = {self._of(role) for role in ("impression", "item", "position", "click")}
        known = Columns(self.table.names, self.renamed, self.describe())
        made = ["slate", "candidates"] + (["clicks"] if known.has("click") else [])
        return (*made, *(name for name in self.table.names if name not in own))

    def parts(self) -> int:
        return min(self.table.parts(), 1)

    def describe(self) -> str:
        return self.table.describe()

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        known = Columns(self.table.names, self.renamed, self.describe())
        wanted = [known.of(role) for role in ("impression", "item", "position")]
        wanted += [known.of("click")] if "clicks" in columns else []
        wanted += [name for name in columns if name in self.table.names]
        for piece in self._whole_impressions(tuple(dict.fromkeys(wanted))):
            rows = _Rows(piece, self._of("impression"))
            yield self._widen(self._without_faults(rows, columns), columns)

    def _of(self, role: str) -> str:
        return self.renamed.get(role, role)

    def _whole_impressions(self, columns: tuple[str, ...]) -> Iterator[Piece]:
        """Pieces cut between impressions; what is left of the last one waits for the next piece."""
        rest: Piece | None = None
        for part in range(self.table.parts()):
            for read in self.table.pieces(part, columns):
                piece = replace(read, data=arrow.plain_columns(read.data))
                if rest is not None and rest.file != piece.file:
                    yield rest
                    rest = None
                whole = piece if rest is None else _joined(rest, piece)
                starts = _Rows(whole, self._of("impression")).starts
                cut = int(starts[-1]) if len(starts) else 0
                if cut:
                    yield _between(whole, 0, cut)
                rest = _between(whole, cut, len(whole.data))
        if rest is not None and len(rest.data):
            yield rest

    def _without_faults(self, rows: _Rows, columns: tuple[str, ...]) -> _Rows:
        """The rows, without impressions that break a rule of this layout where those are to be skipped.

        Raises:
            RowError: one does, unless such rows are to be skipped.
        """
        faults = Faults(len(rows.of_row))
        beside = {*self.needed.scores, *self._by_position, "slate", "candidates", "clicks"}
        position = self._of("position")
        for name in (position, *self.needed.rankings):
            shown = name == position
            kept = shown and self.needed.holes and self.gaps != "close"
            wrong = rows.misplaced(name, self.top if shown else 1, kept, shown and self.gaps == "close")
            faults.mark(wrong, rules.BAD_RANK if kept else rules.BAD_POSITION, name)
        if self.needed.holes:  # in a slate, null is a rank without an item
            faults.mark(rows.nameless(self._of("item"), position), rules.NULL, self._of("item"))
        for name in columns:
            if name not in beside and name not in self.needed.rankings:
                faults.mark(rows.differing(name), rules.NOT_CONSTANT, name)
        error = faults.first(rows.piece.file, rows.piece.rows, rows.show)
        if error is None:
            return rows
        if self.invalid == "raise":
            raise error
        return rows.without(faults)

    def _widen(self, rows: _Rows, columns: tuple[str, ...]) -> Piece:
        piece = rows.piece
        data = pa.record_batch({name: self._column(rows, name) for name in columns})
        return Piece(data, piece.file, piece.rows[rows.starts], piece.base, piece.skipped)

    def _column(self, rows: _Rows, name: str) -> pa.Array:
        """A column of the wide layout."""
        data, item, position = rows.piece.data, self._of("item"), self._of("position")
        by_position = {"slate": item, "clicks": self._of("click")}
        if name == "candidates" or name in self.needed.scores:
            return _listed(data.column(item if name == "candidates" else name), rows.ends)
        if name in by_position or name in self._by_position:
            return rows.ordered(by_position.get(name, name), position)
        if name in self.needed.rankings:
            return rows.ordered(item, name)
        return data.column(name).take(pa.array(rows.starts))

    @property
    def _by_position(self) -> set[str]:
        """Columns that hold, for each shown item, probabilities that were written down."""
        others = (name.partition(":") for name in self.needed.written)
        own = {self._of("slot_propensity"), self._of("rank_propensity")}
        return own | {column for role, _, column in others if role != "propensity"}


class _Rows:
    """The rows of a piece by impression: `starts` of each, `ends` with the end of the last, `of_row` [n]."""

    def __init__(self, piece: Piece, impression: str) -> None:
        column = piece.data.column(impression)
        if column.null_count:
            raise _error(piece, int(np.asarray(column.is_null()).argmax()), impression, rules.NULL)
        self.piece, self.impression = piece, impression
        self.codes = arrow.codes(column, impression)
        begins = np.append(True, self.codes[1:] != self.codes[:-1])[: len(self.codes)]
        self.starts: Integers = np.flatnonzero(begins)
        self.ends = np.append(self.starts, len(self.codes))
        self.of_row: Integers = np.cumsum(begins) - 1
        self._orders: dict[str, tuple[Integers, Integers]] = {}
        self._counted: dict[str, tuple[int, bool, bool]] = {}

    def misplaced(self, column: str, top: int, kept: bool, closed: bool) -> NDArray[np.bool_]:
        """[n] rows whose rank is not the next one of its impression, counted from `top`.

        kept: gaps stay, so that a rank must only be one of its own. closed: ranks tell the order and no more.
        """
        self._counted[column] = top, kept, closed
        rank = arrow.numbers(self.piece.data.column(column), column) - (top - 1)
        rows = np.flatnonzero(~np.isnan(rank))
        order = rows[np.lexsort((rank[rows], self.of_row[rows]))]
        counts = np.bincount(self.of_row[order], minlength=len(self.starts))
        offsets = np.concatenate([[0], np.cumsum(counts)])
        if kept:
            return self._gapped(column, rank, order)
        self._orders[column] = order, offsets
        if closed:
            fine = np.append(True, (np.diff(rank[order]) > 0) | (np.diff(self.of_row[order]) > 0))[: len(order)]
        else:
            fine = rank[order] == np.arange(len(order)) - offsets[self.of_row[order]] + 1
        wrong = np.zeros(len(rank), dtype=np.bool_)
        wrong[order[~fine]] = True
        return wrong

    def _gapped(self, column: str, rank: Floats, order: Integers) -> NDArray[np.bool_]:
        """As `misplaced`, where ranks may be missing: in the order that is kept, -1 stands for a missing one."""
        of_row, place = self.of_row[order], rank[order]
        wrong = np.zeros(len(rank), dtype=np.bool_)
        fine = (place >= 1) & (place <= _LOWEST) & (place % 1 == 0)
        fine[1:] &= (of_row[1:] != of_row[:-1]) | (place[1:] != place[:-1])
        wrong[order[~fine]] = True
        of_row, place = of_row[fine], place[fine].astype(np.int64)
        lengths = np.zeros(len(self.starts), np.int64)
        np.maximum.at(lengths, of_row, place)
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        spread = np.full(offsets[-1], -1)
        spread[offsets[of_row] + place - 1] = order[fine]
        self._orders[column] = spread, offsets
        return wrong

    def ordered(self, name: str, rank: str) -> pa.Array:
        """The values of a column as a list per impression, in the order of a column of ranks; null at a missing one."""
        order, offsets = self._orders[rank]
        missing = order < 0
        places = pa.array(order, mask=missing) if missing.any() else pa.array(order)
        return _listed(self.piece.data.column(name).take(places), offsets)

    def nameless(self, item: str, rank: str) -> NDArray[np.bool_]:
        """[n] rows that have a rank and no item."""
        data = self.piece.data
        return np.asarray(data.column(item).is_null()) & np.asarray(data.column(rank).is_valid())

    def differing(self, name: str) -> NDArray[np.bool_]:
        """[n] rows whose value is not that of their impression's first row."""
        column = self.piece.data.column(name)
        if pa.types.is_floating(column.type):
            values = arrow.numbers(column, name)
            first = values[self.starts][self.of_row]
            return np.asarray((values != first) & ~(np.isnan(values) & np.isnan(first)))
        codes = arrow.codes(column, name)
        return np.asarray(codes != codes[self.starts][self.of_row])

    def show(self, column: str, row: int) -> str:
        """A value for an error message."""
        return arrow.show(self.piece.data.column(column), row)

    def without(self, faults: Faults) -> _Rows:
        """The impressions without a faulty row; each other one counts once, for its first such row."""
        bad = np.flatnonzero(faults.which)
        impressions, first = np.unique(self.of_row[bad], return_index=True)
        left_out = Counter(faults.rules[which - 1][0].code for which in faults.which[bad[first]])
        keep = ~np.isin(self.of_row, impressions)
        data = self.piece.data.filter(pa.array(keep))
        piece = Piece(data, self.piece.file, self.piece.rows[keep], self.piece.base, dict(left_out))
        kept = _Rows(piece, self.impression)
        for column, counted in self._counted.items():
            kept.misplaced(column, *counted)
        return kept


def _joined(left: Piece, right: Piece) -> Piece:
    """Two pieces of a file that follow each other, as one."""
    data = pa.concat_batches([left.data, right.data])
    return Piece(data, left.file, np.concatenate([left.rows, right.rows]), left.base)


def _between(piece: Piece, start: int, end: int) -> Piece:
    """The rows from start to end of a piece."""
    return Piece(piece.data.slice(start, end - start), piece.file, piece.rows[start:end], piece.base)


def _listed(values: pa.Array, offsets: Integers) -> pa.Array:
    return pa.LargeListArray.from_arrays(pa.array(offsets, pa.int64()), values)


def _error(piece: Piece, index: int, column: str, rule: Rule) -> RowError:
    shown = arrow.show(piece.data.column(column), index)
    return RowError(piece.file, int(piece.rows[index]), column, rule.code, f"{shown} {rule.broken}", rule.remedy)
