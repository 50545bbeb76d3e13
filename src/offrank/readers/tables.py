"""Lazily read sources of Arrow record batches, in parts; and tables in memory."""

from __future__ import annotations

from bisect import bisect
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from ..errors import ColumnError, LogError, OffrankError, RowError, UsageError
from ..log import rules
from ..log.batch import Floats, Integers
from ..log.python_values import common_kind, in_kind
from . import flat
from .conversions import expanded, in_utf8
from .json_text import BadCell

Pieces = Iterator["Piece"]
MOST_ROWS = 131_072
_MOST_VALUES = 1_500_000
FIRST_ROWS, FEW_ROWS, FIRST_BYTES = 50_000, 1000, 1 << 25
"""Rows that are looked at; those that tell how texts are written; and the bytes of either at most: rows may be long."""
_MIXED = "use the same kind of value in every row"
_IN_UTF8 = "write texts in UTF-8, or ids of other bytes as a column of binary"
_OWN_NAME = "give each column its own name"


@dataclass(frozen=True)
class Piece:
    """Some rows of a table. rows: [n] their numbers in `file`; base: rows in the files before it.

    skipped: rule -> rows left out. dropped: as in `LogBatch`. line_of: the line of a row of a text.
    """

    data: pa.RecordBatch
    file: str
    rows: Integers
    base: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)
    dropped: Floats = field(default_factory=lambda: np.zeros(5))
    line_of: Callable[[int], int] | None = None

    def between(self, start: int, end: int) -> Piece:
        """Return the rows from start to end. What was left out is told with the first."""
        piece = replace(self, data=self.data.slice(start, end - start), rows=self.rows[start:end])
        return replace(piece, skipped={}, dropped=np.zeros(5)) if start else piece

    def around(self, column: str | None, outcome: Container[str | None]) -> Iterator[Piece]:
        """Yield both halves of rows with a value in a column that cannot be read; a single such row is left out."""
        half, told = len(self.data) // 2, Counter(self.skipped) + Counter([rules.BAD_LIST])
        dropped = self.dropped + np.array([0, 0, 0, 0, column is not None and column in outcome])
        yield self.between(0, half) if half else replace(self.between(0, 0), skipped=told, dropped=dropped)
        if half:
            yield self.between(half, len(self.data))

    def fault(self, cell: BadCell) -> RowError:
        """Return the error of a value that cannot be read."""
        detail = f"{flat.show_value(self.data.column(cell.name), cell.index)} {cell.wrong}"
        row = int(self.rows[cell.index])
        return self.located(RowError(self.file, row, cell.name, rules.BAD_LIST, detail, cell.remedy))

    @contextmanager
    def telling(self) -> Iterator[None]:
        """Raise the error of a value that cannot be read with its file and row."""
        try:
            yield
        except BadCell as cell:
            raise self.fault(cell) from None

    def located(self, error: RowError) -> RowError:
        """Return the error of a row with its line."""
        if self.line_of is None:
            return error
        told = error.column, error.rule, error.detail, error.remedy
        return RowError(error.file, error.row, *told, self.line_of(error.row))


def numbered(found: Iterable[pa.RecordBatch], file: str, first: int = 0, base: int = 0, lines: Any = None) -> Pieces:
    """Number the record batches of a file, from row `first` on."""
    for data in found:
        piece = Piece(data, file, np.arange(first, first + len(data)), base, line_of=lines)
        if not all(map(in_utf8, data.columns)):
            raise not_utf8(piece)
        yield piece
        first += len(data)


def not_utf8(piece: Piece) -> RowError:
    """Return the error of the first column that has a text that is not UTF-8."""
    columns = dict(zip(piece.data.schema.names, piece.data.columns, strict=True))
    name = next(name for name, column in columns.items() if not in_utf8(column))
    row = bisect(range(len(piece.data)), False, key=lambda row: not in_utf8(columns[name].slice(0, row + 1)))
    return piece.fault(BadCell(row, name, "has bytes that are not UTF-8", _IN_UTF8))


class Table(Protocol):
    """A picklable description of tabular data."""

    @property
    def names(self) -> tuple[str, ...]:
        """Return the column names."""

    def parts(self) -> int:
        """Return how many pieces can be read in parallel."""

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        """Yield the rows of one part, with these columns only."""

    def describe(self) -> str:
        """Describe where the data is."""


class OfSchema:
    """A table with the columns of its schema."""

    @property
    def names(self: Any) -> tuple[str, ...]:
        return tuple(self.schema.names)


def all_pieces(table: Table, columns: tuple[str, ...]) -> Iterator[Piece]:
    """Yield the rows of all parts of a table, in order, with these columns only."""
    for part in range(table.parts()):
        yield from table.pieces(part, columns)


def first_piece(table: Table, columns: tuple[str, ...]) -> Piece | None:
    """Return the first rows of a table, as they come; None if it has none."""
    return next((piece for piece in all_pieces(table, columns) if len(piece.data)), None)


class TableOver:
    """A table that makes its rows of those of another: with its columns, parts and name, where nothing else is said."""

    table: Table

    @property
    def names(self) -> tuple[str, ...]:
        return self.table.names

    def parts(self) -> int:
        return self.table.parts()

    def describe(self) -> str:
        return self.table.describe()


def schema_of(table: Table) -> pa.Schema | None:
    """Return the columns of a table and their types, if they are known without reading rows."""
    made = getattr(table, "computed", None)  # its columns are not those of the table that it is made of
    return None if made else getattr(holder(table), "schema", None)


def row_count(table: Table) -> int | None:
    """Return the number of rows of a table, if it is known without reading them."""
    return getattr(table, "num_rows", getattr(holder(table), "num_rows", None))


def may_be_null(table: Table, name: str) -> bool:
    """Whether values of a column, or in its lists, may be null: a table that can tell without reading rows says so."""
    read: Any = table
    told = getattr(read.table if hasattr(table, "taken") else table, "may_be_null", None)
    return told is None or bool(told(name))


def holder(table: Table) -> Any:
    """Return what knows the types: a table in memory, a data set, or else the table itself."""
    held = None if hasattr(type(table), "schema") else getattr(table, "table", None)
    return getattr(table, "dataset", table) if held is None else held


def once_only(table: Table) -> bool:
    """Whether the rows of a table can be read a single time only."""
    return bool(getattr(table, "once", False))


def refuse_twice(names: Sequence[str], where: str) -> None:
    """Raise a `LogError` if two columns have the same name."""
    if len({*names}) < len(names):
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise LogError(f"{where} has two columns called {twice!r}", _OWN_NAME)


def refuse_lacking(table: Table, needed: Iterable[str], remedy: str = "") -> None:
    """Raise a `ColumnError` if a table lacks one of these columns. remedy: by default, the columns that it has."""
    for name in needed:
        if name not in table.names:
            remedy = remedy or f"it has {', '.join(table.names)}"
            raise ColumnError(f"{table.describe()} has no column {name!r}", remedy)


@dataclass(frozen=True)
class MemoryTable:
    """An Arrow table in memory; a part is a slice of it."""

    table: pa.Table
    where: str = "table"
    part_rows: int = 131_072

    @classmethod
    def of(cls, source: Any) -> MemoryTable:
        """Build a table from one of any library, as `arrow_table` does."""
        return cls(arrow_table(source))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.table.schema.names)

    def parts(self) -> int:
        return -(-self.table.num_rows // self.part_rows)

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        first = part * self.part_rows
        part_of_it = self.table.select(list(columns)).slice(first, self.part_rows)
        yield from numbered(bounded(part_of_it), self.where, first)

    def describe(self) -> str:
        return f"{self.where} in memory"


def first_rows(table: Table, columns: Sequence[str] | None = None) -> pa.Table:
    """The first rows of a table, in plain types. columns: all if None."""
    names = table.names if columns is None else tuple(columns)
    return _looked_at(all_pieces(table, names), names, FIRST_ROWS, lambda data: flat.usual_columns(expanded(data)))


def few_rows(table: Table, columns: tuple[str, ...], rows: int = FEW_ROWS) -> pa.Table:
    """Return fewer of the first rows, those of a stream that can be read once too; none after what cannot be read."""
    pieces = first_pieces(table, columns) if columns else ()
    return _looked_at(pieces, columns, rows, untold=(OffrankError,))  # which is told when the rows are read


def _looked_at(
    pieces: Iterable[Piece],
    names: Sequence[str],
    rows: int,
    plain: Callable[[pa.RecordBatch], pa.RecordBatch] | None = None,
    untold: tuple[type[Exception], ...] = (),
) -> pa.Table:
    """Return so many rows, within the bytes; of the first piece alone where no type holds the texts or numbers of all.

    untold: errors that end them.
    """
    found, size, left = list[pa.Table](), 0, rows
    with suppress(*untold):
        for piece in pieces:
            data = piece.data.slice(0, left)
            found.append(pa.Table.from_batches([data if plain is None else plain(data)]))
            left -= len(data)
            if left <= 0 or (size := size + flat.size(data)) >= FIRST_BYTES:
                break
    try:
        return pa.concat_tables(found or [pa.table({name: [] for name in names})], promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return found[0]


def first_pieces(table: Table, columns: tuple[str, ...], rows: int = 1) -> Iterator[Piece]:
    """Yield the first pieces of a table; of a stream that keeps its first rows for who reads it, so many rows."""
    if held := getattr(table, "held", None):  # of what is called for each reading
        yield from first_pieces(held[0], columns, FEW_ROWS)
    elif (first := getattr(table, "first", None)) is not None:
        yield from first(columns, rows)
    else:
        for part in range(table.parts()):
            yield from table.pieces(part, columns)


def bounded(table: pa.Table) -> list[pa.RecordBatch]:
    """Yield a table in batches of bounded size."""
    batches: list[pa.RecordBatch] = table.to_batches(
        max_chunksize=rows_for(flat.size(table) // (8 * max(table.num_rows, 1)))
    )
    return batches


def rows_for(values_per_row: int) -> int:
    """Return rows per batch, so that wide lists do not fill the memory."""
    return int(np.clip(_MOST_VALUES // max(values_per_row, 1), 64, MOST_ROWS))


def arrow_table(source: Any) -> pa.Table:
    """Return a table of any library as an Arrow table.

    Raises:
        UsageError: it is no table.
        ColumnError: a column holds values that no table holds.
        LogError: two columns have the same name.
    """
    try:
        return pa.table(source)
    except (pa.ArrowException, OverflowError) as error:  # pandas columns of mixed objects
        if not hasattr(source, "columns"):
            raise ColumnError(f"the table cannot be read: {'; '.join(map(str, error.args))}", _MIXED) from error
        names = [str(name) for name in source.columns]
        refuse_twice(names, f"the {type(source).__name__}")
        columns = dict(zip(names, (source[name] for name in source.columns), strict=True))
        return _table_of(columns, "conversion failed for column {}: {}")
    except TypeError as error:
        raise UsageError(f"cannot read a table from {type(source).__name__}", "give tables or dicts") from error
    except ValueError as error:  # of pandas with two columns of one name
        refuse_twice([str(name) for name in getattr(source, "columns", ())], f"the {type(source).__name__}")
        raise UsageError(f"the table cannot be read: {error}", "give tables or dicts") from error


def table_of_dicts(rows: Sequence[Mapping[str, Any]], known: Sequence[str] = ()) -> pa.Table:
    """Make a table with every key of any row; pyarrow alone would drop keys missing from the first row.

    known: columns that come first, even where no row has them.
    """
    names = dict.fromkeys([*known, *(name for row in rows for name in row)])
    columns = {str(name): [row.get(name) for row in rows] for name in names}
    return _table_of(columns, "column {!r} of the list cannot be read: {}")


def _table_of(columns: Mapping[str, Any], words: str) -> pa.Table:
    """Make a table of values of Python. A column of several kinds is text, which the metadata say in these words."""
    made, told = dict[str, pa.Array](), dict[str, str]()
    for name, values in columns.items():
        try:
            made[name.encode().decode()] = pa.array(values)  # a name may be no text either
        except UnicodeEncodeError as error:
            said = words.format(name.encode(errors="replace").decode(), error)
            raise LogError(said, "write texts in UTF-8") from error
        except (pa.ArrowException, OverflowError) as error:
            kind = common_kind([*values])
            made[name] = pa.array([in_kind(one, kind) for one in values], kind)
            if isinstance(error, pa.ArrowException) and "string" in str(kind):  # no whole numbers of many digits
                told[name] = words.format(name, error)
    table = pa.table(made)
    return table.replace_schema_metadata(told) if told else table


def refuse_mixed(table: Table, names: Iterable[str]) -> None:
    """Raise a `ColumnError` if a column holds values of several kinds, which are no ids."""
    told = (table.table.schema.metadata or {}) if isinstance(table, MemoryTable) else {}
    for name in names:
        if (said := told.get(name.encode())) is not None:
            raise ColumnError(said.decode(), _MIXED)


def unified_table(batches: Sequence[pa.RecordBatch]) -> pa.Table:
    """Return record batches as one table; raise a `LogError` if a column has types that no type holds."""
    kinds = batches[0].schema.types
    for batch in batches[1:]:
        kinds = unified(kinds, batch.schema)
    schema = pa.schema(list(zip(batches[0].schema.names, kinds, strict=True)))
    return pa.concat_tables([in_types(pa.Table.from_batches([one]), schema) for one in batches])


def in_types(data: pa.Table, wanted: pa.Schema) -> pa.Table:
    """Return rows in types that hold theirs; raise a `LogError` at a whole number beyond 2^53 among fractions."""
    columns = []
    for one, column in zip(wanted, data.columns, strict=True):
        try:
            columns.append(column if column.type == one.type else column.cast(one.type))
        except pa.ArrowException as error:
            raise _other_types(one.name, one.type, column.type) from error
    return pa.Table.from_arrays(columns, schema=wanted)


def unified(kinds: Sequence[pa.DataType], later: pa.Schema) -> list[pa.DataType]:
    """Return the types that hold those of columns and of later rows; raise a `LogError` if there is none."""
    return [_unified(kind, field) for kind, field in zip(kinds, later, strict=True)]


def _unified(kind: pa.DataType, later: pa.Field) -> pa.DataType:
    if kind == later.type:
        return kind
    expanded = [
        flat.retyped(
            one, lambda leaf: leaf.value_type if pa.types.is_dictionary(leaf) else flat.PLAIN_KINDS.get(leaf, leaf)
        )
        for one in (kind, later.type)
    ]
    try:
        return pa.unify_schemas([pa.schema({"": one}) for one in expanded], promote_options="permissive").types[0]
    except pa.ArrowException as error:
        raise _other_types(later.name, kind, later.type) from error


def _other_types(name: str, kind: pa.DataType, later: pa.DataType) -> LogError:
    said = f"column {name!r} holds {kind} in the first rows and {later} later"
    return LogError(f"the files have other types: {said}", "write one type in all files")
