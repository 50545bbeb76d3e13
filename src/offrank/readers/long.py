"""The long layout: a row per item, turned into the wide layout while it streams by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from ..log import rules
from ..log.batch import Integers, LogBatch
from ..log.errors import LogError, RowError
from ..log.rules import Rule
from ..log.schema import LONG_ROLES, ROLES, Columns
from ..log.source import Needs
from . import arrow
from .tables import CsvTable, Piece, Table
from .wide import Invalid, WideLog


@dataclass(frozen=True)
class LongLog:
    """A table with a row per item, as a source of log batches."""

    table: Table
    renamed: Mapping[str, str]
    invalid: Invalid = "raise"
    needed: Needs = field(default_factory=Needs)

    def parts(self) -> int:
        return self._wide.parts()

    def describe(self) -> str:
        return self.table.describe()

    def batches(self, part: int) -> Iterator[LogBatch]:
        return self._wide.batches(part)

    def select(self, needed: Needs) -> LongLog:
        known = Columns(self.table.names, self.renamed, self.describe())
        if "clicks" in needed.roles or ("reward" in needed.roles and not known.has("reward")):
            known.of("click")
        self._wide.select(needed)
        return replace(self, needed=needed)

    @property
    def _wide(self) -> WideLog:
        table = LongTable(_typed(self.table, self.renamed, self.needed), self.renamed, self.needed)
        kept = {role: name for role, name in self.renamed.items() if role in ROLES and role in LONG_ROLES}
        return WideLog(table, kept, self.invalid, self.needed)


def _typed(table: Table, renamed: Mapping[str, str], needed: Needs) -> Table:
    """A CSV table with the kinds of its columns said, since they cannot be read off a first block."""
    if not isinstance(table, CsvTable):
        return table
    text = [renamed.get(role, role) for role in ("impression", "item", "query")] + list(needed.keys | needed.labels)
    numbers = [renamed.get(role, role) for role in ("position", "click", "reward", "propensity", "inclusion")]
    return replace(table, text=tuple(text), numeric=(*numbers, *needed.scores, *needed.rankings))


@dataclass(frozen=True)
class LongTable:
    """A long table seen as a wide one. Its rows must stand together by impression.

    Needed scores have a value per row; needed rankings hold an item's 1-based rank, null where it
    is not ranked. Every other column belongs to the impression. An impression may go on in the
    next part, so all parts are read as one.
    """

    table: Table
    renamed: Mapping[str, str]
    needed: Needs

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
        seen = _Seen()
        for piece in self._whole_impressions(tuple(dict.fromkeys(wanted)), seen):
            yield self._widen(piece, columns)
        seen.refuse_scattered(self.describe(), self._of("impression"))

    def _of(self, role: str) -> str:
        return self.renamed.get(role, role)

    def _whole_impressions(self, columns: tuple[str, ...], seen: _Seen) -> Iterator[Piece]:
        """Pieces cut between impressions; what is left of the last one waits for the next piece."""
        rest: Piece | None = None
        for part in range(self.table.parts()):
            for seen_as in self.table.pieces(part, columns):
                piece = replace(seen_as, data=arrow.without_views(seen_as.data))
                if rest is not None and rest.file != piece.file:
                    yield seen.note(rest, self._of("impression"))
                    rest = None
                whole = piece if rest is None else _joined(rest, piece)
                starts = _starts(whole.data.column(self._of("impression")), self._of("impression"))
                cut = int(starts[-1]) if len(starts) else 0
                if cut:
                    yield seen.note(_between(whole, 0, cut), self._of("impression"))
                rest = _between(whole, cut, len(whole.data))
        if rest is not None and len(rest.data):
            yield seen.note(rest, self._of("impression"))

    def _widen(self, piece: Piece, columns: tuple[str, ...]) -> Piece:
        data, impression = piece.data, self._of("impression")
        starts = _starts(data.column(impression), impression)
        of_row = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(data))))
        order, offsets = self._order(piece, self._of("position"), of_row, len(starts))
        item = data.column(self._of("item"))
        everyone = np.append(starts, len(data))
        made: dict[str, pa.Array] = {}
        for name in columns:
            if name == "candidates":
                made[name] = _listed(item, everyone)
            elif name == "slate":
                made[name] = _listed(item.take(pa.array(order)), offsets)
            elif name == "clicks":
                made[name] = _listed(data.column(self._of("click")).take(pa.array(order)), offsets)
            elif name == self._of("rank_propensity"):
                made[name] = _listed(data.column(name).take(pa.array(order)), offsets)
            elif name in self.needed.rankings:
                ranked, ends = self._order(piece, name, of_row, len(starts))
                made[name] = _listed(item.take(pa.array(ranked)), ends)
            elif name in self.needed.scores:
                made[name] = _listed(data.column(name), everyone)
            else:
                made[name] = self._once(piece, name, starts, of_row)
        return Piece(pa.record_batch(made), piece.file, piece.rows[starts], piece.base)

    def _order(self, piece: Piece, column: str, of_row: Integers, n: int) -> tuple[Integers, Integers]:
        """Rows in order of a 1-based rank within each impression, and where each impression's begin."""
        rank = arrow.numbers(piece.data.column(column), column)
        rows = np.flatnonzero(~np.isnan(rank))
        order = rows[np.lexsort((rank[rows], of_row[rows]))]
        offsets = np.concatenate([[0], np.cumsum(np.bincount(of_row[order], minlength=n))])
        expected = np.arange(len(order)) - offsets[of_row[order]] + 1
        wrong = order[rank[order] != expected]
        if len(wrong):
            raise _error(piece, int(wrong[0]), column, rules.BAD_POSITION)
        return order, offsets

    def _once(self, piece: Piece, name: str, starts: Integers, of_row: Integers) -> pa.Array:
        """An impression's own value, the same on each of its rows."""
        column = piece.data.column(name)
        if pa.types.is_floating(column.type):
            values = arrow.numbers(column, name)
            differs = (values != values[starts][of_row]) & ~(np.isnan(values) & np.isnan(values[starts][of_row]))
        else:
            codes = arrow.codes(column, name)
            differs = codes != codes[starts][of_row]
        if differs.any():
            raise _error(piece, int(differs.argmax()), name, rules.NOT_CONSTANT)
        return column.take(pa.array(starts))


class _Seen:
    """Impressions that went by, to find one that comes back. Costs 8 bytes each."""

    def __init__(self) -> None:
        self.codes: list[Integers] = []

    def note(self, piece: Piece, impression: str) -> Piece:
        """Remember the impressions of a piece, and pass it on."""
        column = piece.data.column(impression)
        self.codes.append(arrow.codes(column, impression)[_starts(column, impression)])
        return piece

    def refuse_scattered(self, file: str, impression: str) -> None:
        """Raise if any impression came back after others."""
        codes = np.sort(np.concatenate(self.codes)) if self.codes else np.empty(0, np.int64)
        if (codes[1:] == codes[:-1]).any():
            rule = rules.SCATTERED
            raise LogError(f"{file}, column {impression!r}: an impression {rule.broken} [{rule.code}]", rule.remedy)


def _joined(left: Piece, right: Piece) -> Piece:
    """Two pieces of a file that follow each other, as one."""
    data = pa.concat_batches([left.data, right.data])
    return Piece(data, left.file, np.concatenate([left.rows, right.rows]), left.base)


def _between(piece: Piece, start: int, end: int) -> Piece:
    """The rows from start to end of a piece."""
    return Piece(piece.data.slice(start, end - start), piece.file, piece.rows[start:end], piece.base)


def _starts(column: pa.Array, name: str) -> Integers:
    """Rows where another impression begins."""
    if column.null_count:
        raise LogError(f"column {name!r} holds null", rules.NULL.remedy)
    codes = arrow.codes(column, name)
    return np.flatnonzero(np.append(True, codes[1:] != codes[:-1])) if len(codes) else np.empty(0, np.int64)


def _listed(values: pa.Array, offsets: Integers) -> pa.Array:
    return pa.LargeListArray.from_arrays(pa.array(offsets, pa.int64()), values)


def _error(piece: Piece, index: int, column: str, rule: Rule) -> RowError:
    value = piece.data.column(column)[index].as_py()
    return RowError(piece.file, int(piece.rows[index]), column, rule.code, f"{value!r} {rule.broken}", rule.remedy)
