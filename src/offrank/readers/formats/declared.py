"""Public data sets whose tables hold plain columns: what each declares of its own, read by the general readers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...errors import LogError
from ...log.rules import NOT_DRAWN
from .. import flat
from ..beginning import Beginning
from ..decode import Duplicates
from ..description import Description, Layout
from ..impressions import lists_of
from ..joining import OUTSIDE, ClicksBeside, ItemKeys, KeptRows
from ..long import LongLog
from ..opening import open_table
from ..tables import Piece, Table, TableOver, all_pieces, once_only, refuse_lacking
from ..unfolding import unfolded
from ..wide import Gaps, Invalid, WideLog
from .registry import Reader


@dataclass(frozen=True)
class Only:
    """The rows that are read: those whose `column` has one of some values, as texts.

    others: the rule by which the other rows are counted; empty where they are no impressions. without: what is said of
    a table `{}` without such rows, and what to do with it.
    """

    column: str
    values: tuple[str, ...]
    others: str = ""
    without: tuple[str, Any] | None = None


@dataclass(frozen=True)
class Declared:
    """What the publishers of a data set say of its table.

    - own: columns by which it is known. source: where they are, which an error names. roles: role -> column.
    - kept: the rows that are read. clicked: the column of the item of each list that was clicked; nothing: items that
      fill up a list, or stand for no click. clicks: the columns that name the list and the item in a table of clicks;
      the list's own is that of the same name, or `impression`.
    - gaps, duplicates: how positions, and items that stand in a list twice, are read.
    - logging: the policy that drew the lists. lacks: why they can judge no other ranking.
    """

    layout: Layout
    own: tuple[str, ...]
    source: str
    roles: Mapping[str, str] = field(default_factory=dict)
    kept: Only | None = None
    clicked: str = ""
    nothing: tuple[int, ...] = ()
    clicks: ItemKeys | None = None
    gaps: Gaps = "raise"
    duplicates: Duplicates = "raise"
    logging: str = ""
    lacks: str = ""

    def reader(self, read: Callable[..., WideLog | LongLog]) -> Reader:
        """Return the reader that a function is, which knows a table by its columns; as a decorator."""
        made = Reader.of(self.layout, of_tables=True)(read)
        made.recognised(self.recognised)
        return made

    def recognised(self, beginning: Beginning) -> Mapping[str, Any] | None:
        """Recognise a table by its columns."""
        return {} if {*self.own} <= {*beginning.names} else None

    def long_log(self, source: Any, invalid: Invalid) -> LongLog:
        """Open a table with a row per item as a log; see `rows`."""
        return LongLog(self.rows(source), self.roles, invalid, gaps=self.gaps, description=self._description())

    def log(self, source: Any, invalid: Invalid, clicks: Table | None = None) -> WideLog:
        """Open a table with a row per list as a log; see `rows`. clicks: the other table, of those on it."""
        table, slate = self.rows(source), self.roles["slate"]
        if self.clicked:
            table = ListClicks(table, slate, self.clicked, self.nothing)
        if clicks is not None and self.clicks is not None:
            shown = ItemKeys(self.clicks.impression, slate, listed=True)
            table = ClicksBeside(table, clicks, shown, self.clicks, "clicks")
        told = self._description() if self.lacks or self.logging else None
        return WideLog(table, self.roles, invalid, duplicates=self.duplicates, description=told)

    def _description(self) -> Description:
        return Description(self.layout, logging=self.logging, lacks=self.lacks)

    def rows(self, source: Any) -> Table:
        """Return the rows that are read.

        Raises:
            ColumnError: a column is missing. LogError: none of its rows is read.
        """
        table = unfolded(open_table(source), {role: name for role, name in self.roles.items() if role == "slate"})
        refuse_lacking(table, self.own, f"use {self.source}")
        if self.kept is None:
            return table
        kept = KeptRows(table, self.kept.column, self.kept.values, self.kept.others)
        if self.kept.without is not None and not once_only(table):
            pieces = all_pieces(kept, (self.kept.column,))
            if not any(len(piece.data) for piece in pieces):
                why, remedy = self.kept.without
                raise LogError(why.format(table.describe()), remedy)
        return kept


def drawn(column: str, why: str, remedy: Any) -> Only:
    """Return the rows that were drawn, where a column is 1; the others are counted."""
    return Only(column, ("1",), NOT_DRAWN.code, (why, remedy))


@dataclass(frozen=True)
class ListClicks(TableOver):
    """A table of lists with a column `clicks`: 1 for the first place of the item that the row calls clicked.

    What is clicked outside of its list is counted. nothing: items that are none: they are taken out of the lists, those
    that hold nothing else are left out, and who clicked them clicked nothing.
    """

    table: Table
    slate: str
    clicked: str
    nothing: Sequence[int] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return ("clicks", *self.table.names)

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        asked = [name for name in columns if name != "clicks"]
        if len(asked) == len(columns) and not self.nothing:
            yield from self.table.pieces(part, columns)
            return
        for piece in self.table.pieces(part, tuple(dict.fromkeys((*asked, self.clicked, self.slate)))):
            slate, clicks, outside = self._clicks(piece.data)
            held = {**dict(zip(piece.data.schema.names, piece.data.columns, strict=True)), self.slate: slate}
            data = pa.record_batch({name: held.get(name, clicks) for name in columns})
            skipped = {**piece.skipped, OUTSIDE: outside} if outside else piece.skipped
            full = np.asarray(pc.list_value_length(slate)) > 0 if self.nothing else np.ones(len(data), np.bool_)
            yield replace(piece, data=flat.kept_rows(data, pa.array(full)), rows=piece.rows[full], skipped=skipped)

    def _clicks(self, data: pa.RecordBatch) -> tuple[pa.Array, pa.Array, int]:
        """Return the lists, the clicks beside them, and how many of those are on nothing in their list."""
        found = flat.lists(data.column(self.slate), self.slate)
        items, nothing = _texts(found.values), pa.array(map(str, self.nothing), pa.large_string())
        row = np.repeat(np.arange(len(data)), found.lengths)
        shown = ~np.asarray(pc.is_in(items, nothing))
        clicked = pc.utf8_trim_whitespace(_texts(flat.plain_column(data.column(self.clicked))))
        clicked = pc.if_else(pc.is_in(clicked, nothing), None, clicked)
        same = np.asarray(pc.fill_null(pc.equal(items, clicked.take(pa.array(row))), False)) & shown
        at = np.flatnonzero(same)
        first, again = np.unique(row[at], return_index=True)
        marks = np.zeros(len(row), np.int8)
        marks[at[again]] = 1
        lengths = np.bincount(row[shown], minlength=len(data))
        slate = lists_of(found.values.filter(pa.array(shown)), lengths) if self.nothing else data.column(self.slate)
        outside = len(data) - clicked.null_count - len(first)
        return slate, lists_of(pa.array(marks[shown]), lengths), outside


def _texts(values: pa.Array) -> pa.Array:
    """Return ids as texts: whole numbers, also where another library has made fractions of them, as such."""
    if pa.types.is_floating(values.type):
        values = values.cast(pa.int64(), safe=False)
    return values.cast(pa.large_string())
