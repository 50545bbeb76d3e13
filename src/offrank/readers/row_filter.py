"""Row filters: by `explored = true and week in (1, 2)` only rows for which that holds are read of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import ColumnError
from ..language.row_filter import SIGNS, ColumnTest, RowFilter
from ..log.hashing import distinct_codes
from ..log.source import engine_of, stamp_of
from . import flat
from .conversions import is_number, is_text
from .parquet_orc_arrow import ParquetTable
from .tables import Piece, Table, TableOver, all_pieces, first_pieces, refuse_lacking, schema_of
from .unfolding import unfolded
from .unfolding.table import Reshaped

_COMPARED: Mapping[str, Callable[[Any, Any], Any]] = dict(
    zip(SIGNS, (pc.equal, pc.not_equal, pc.less, pc.less_equal, pc.greater, pc.greater_equal), strict=True)
)
_ALIKE = "compare texts and days with '...' (a column's name with a space stands in \"...\"), numbers with numbers"


def holds(asked: ColumnTest, column: pa.Array) -> pa.Array:
    """Return for which values a comparison holds; it does for none that is null."""
    column = flat.plain_column(column)
    column = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    found = (_COMPARED[asked.sign](column, _typed(asked, one, column.type)) for one in asked.values)
    return pc.fill_null(reduce(pc.or_, found), False)


def may_hold(asked: ColumnTest, least: Any, largest: Any) -> bool:
    """Whether a comparison may hold of a value between these two."""
    ends = pa.array([least, largest])
    if asked.sign != "=":
        return asked.sign == "!=" or bool(pc.any(holds(asked, ends)).as_py())
    typed = (_typed(asked, one, ends.type) for one in asked.values)
    return any(pc.and_(pc.less_equal(ends[0], one), pc.greater_equal(ends[1], one)).as_py() for one in typed)


def _typed(asked: ColumnTest, value: Any, kind: pa.DataType) -> pa.Scalar:
    """Return a value as a column of a type can be compared with it; raise a `ColumnError` if it cannot."""
    try:
        if isinstance(value, str) and is_text(kind):
            return pa.scalar(value, kind)
        if isinstance(value, str) and pa.types.is_temporal(kind):
            return pa.scalar(value).cast(pa.timestamp("us")).cast(kind)
        if not isinstance(value, str) and (is_number(kind) or pa.types.is_decimal(kind)):
            return pa.scalar(int(value) if isinstance(value, bool) else value)
        if value in (0, 1) and pa.types.is_boolean(kind):
            return pa.scalar(bool(value))
    except pa.ArrowException:  # a text that is no time
        pass
    raise ColumnError(f"column {asked.column!r} holds {kind}, which does not compare with {value!r}", _ALIKE)


@dataclass(frozen=True)
class FilteredTable(Reshaped):
    """The rows of a table that a filter keeps, with their numbers in it. Row groups that hold none are not read."""

    table: Table
    where: RowFilter

    @property
    def num_rows(self) -> None:
        return None

    def describe(self) -> str:
        return f"{self.table.describe()} where {self.where.text}"

    def stamp(self) -> Mapping[str, Any] | None:
        found = stamp_of(self.table)
        return None if found is None else {**found, "the row filter": self.where.text}

    @cached_property
    def _parts(self) -> list[int]:
        """Return the parts of the table that may hold such rows, by what Parquet tells of row groups."""
        every, found = self.table, range(self.table.parts())
        if not isinstance(every, ParquetTable):
            return [*found]
        asked = self.where.conditions
        ends = ({one: every.ends_in(part, one.column) for one in asked} for part in found)
        return [part for part, each in enumerate(ends) if all(not e or may_hold(one, *e) for one, e in each.items())]

    def parts(self) -> int:
        return len(self._parts)

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        yield from self._kept(partial(self.table.pieces, self._parts[part]), columns)

    def first(self, columns: tuple[str, ...], rows: int = 1) -> Iterator[Piece]:
        """Yield the first rows that are kept; those of a stream are read again with the others."""
        yield from self._kept(partial(first_pieces, self.table, rows=rows), columns)

    def holds(self, piece: Piece) -> pa.Array:
        """Return which rows are kept."""
        return reduce(pc.and_, (holds(one, piece.data.column(one.column)) for one in self.where.conditions))

    def _kept(self, read: Callable[..., Iterator[Piece]], columns: tuple[str, ...]) -> Iterator[Piece]:
        """Yield the rows that are kept, with these columns."""
        for piece in read(columns=tuple(dict.fromkeys((*columns, *self.where.columns)))):
            keep, data = np.asarray(self.holds(piece)), piece.data.select(list(columns))
            if keep.all():
                yield replace(piece, data=data)
            elif keep.any() or piece.skipped:
                yield replace(piece, data=flat.kept_rows(data, keep), rows=piece.rows[keep])


def refuse_shortened(table: Table, impression: str) -> None:
    """Raise a `ColumnError` if a filter keeps some items of a list only: what is left was not what was shown."""
    while isinstance(table, TableOver) and not isinstance(table, FilteredTable):
        table = table.table
    if not isinstance(table, FilteredTable) or impression not in table.names:
        return
    kept, left = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for piece in all_pieces(table.table, (impression, *table.where.columns)):
        lists = flat.id_codes(flat.plain_column(piece.data.column(impression)), impression)
        keep = np.asarray(table.holds(piece))
        kept.append(distinct_codes(lists[keep]))
        left.append(distinct_codes(lists[~keep]))
    if len(cut := np.intersect1d(np.concatenate(kept), np.concatenate(left))):
        said = f"the filter {table.where.text!r} keeps some items of a list and drops others, in {len(cut):,} lists"
        raise ColumnError(said, "filter by what is the same for all items of a list")


def filtered(table: Table, where: str) -> Table:
    """Return the rows of a table that a filter keeps; a table of Spark filters them itself.

    Raises:
        UsageError: the text is no filter. ColumnError: a column of it is not there, or does not compare.
    """
    chosen = RowFilter.of(where)
    table = table if {*chosen.columns} <= {*table.names} else unfolded(table)
    refuse_lacking(table, chosen.columns)
    made: Any = table
    of_spark = None if engine_of(table) is None else made.spark.frame
    kinds: Any = schema_of(table) if of_spark is None else {one.name: one.dataType for one in of_spark.schema}
    for one in chosen.conditions if kinds else ():  # what does not compare is said at once
        kind = (
            kinds.field(one.column).type
            if of_spark is None
            else _OF_SPARK.get(kinds[one.column].typeName().partition("_")[0])
        )
        holds(one, pa.nulls(0, kind or pa.float64()))
    if of_spark is None:
        return FilteredTable(table, chosen)
    frame, said = of_spark.filter(_in_spark(chosen, kinds)), f"{made.describe()} where {where}"
    return replace(made, spark=replace(made.spark, frame=frame, where=said))


_OF_SPARK = {"string": pa.string(), "boolean": pa.bool_(), "date": pa.date32(), "timestamp": pa.timestamp("us", "UTC")}
"""Arrow's types of Spark's; others are numbers."""


def _in_spark(chosen: RowFilter, kinds: Mapping[str, Any]) -> str:
    """Return a filter in Spark's SQL, in which a text in double quotes is no column, and 1 is not true."""
    tests = []
    for one in chosen.conditions:
        flag, name = kinds[one.column].typeName() == "boolean", one.column.replace("`", "``")
        values = [bool(value) if flag else value for value in one.values]
        words = [f"'{_quoted(value)}'" if isinstance(value, str) else str(value) for value in values]
        tests.append(f"({' or '.join(f'`{name}` {one.sign} {word}' for word in words)})")
    return " and ".join(tests)


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'")
