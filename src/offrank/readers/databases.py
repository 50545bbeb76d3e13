"""Tables that others hold: database files, data sets of Arrow, and Spark DataFrames, whose rows stay where they are.

A table of a file, DuckDB's or SQLite's, is named `file.duckdb:table`, and read only.
"""

from __future__ import annotations

import importlib
import sqlite3
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa

from ..errors import EmptyLogError, LogError, UsageError, optional
from ..log.source import OnePart, refuse_placed
from ..running.spark import PartitionRows, Spark
from .column_sets import LOOKED_AT, refuse_missing
from .file_kinds import stored
from .files import SPARK, Files, describe
from .parquet_orc_arrow import file_errors
from .streams import Batches, StreamTable, duckdb, quoted, relation_batches
from .tables import MOST_ROWS, Piece, bounded, numbered

_FETCHED = 8192
"""Rows that are fetched at a time from SQLite."""
_AFFINITIES = {
    "INT": pa.int64(),
    **dict.fromkeys(("CHAR", "CLOB", "TEXT"), pa.string()),
    "BLOB": pa.binary(),
    **dict.fromkeys(("REAL", "FLOA", "DOUB"), pa.float64()),
}
"""What a declared type must have in it for its column to be of a type, in this order: SQLite's own rules."""

_ALONE = {"enable_external_access": "false"}
"""How DuckDB opens a file that somebody else has made: its views reach no other file, and no network."""

_VALUES: Mapping[str, tuple[type, ...]] = {
    "int64": (int,),
    "double": (int, float),
    "string": (str,),
    "binary": (bytes,),
}


@dataclass(frozen=True)
class DatabaseTable(StreamTable):
    """A table or view of a database file, read in order. select: its name in SQL, quoted."""

    path: str
    table: str = ""
    select: str = ""

    @abstractmethod
    def tables(self) -> Mapping[str, str]:
        """Return the tables and views in the file: name -> name in SQL."""

    def describe(self) -> str:
        return f"{self.path}:{self.table}"

    def stamp(self) -> dict[str, Any]:
        return Files((self.path,)).stamp()


class DuckdbTable(DatabaseTable):
    """A table of a DuckDB file; `schema.table` outside the main schema."""

    @cached_property
    def names(self) -> tuple[str, ...]:
        with self._opened() as connection:
            return tuple(connection.sql(f"from {self.select}").columns)

    def tables(self) -> Mapping[str, str]:
        query = "select schema_name, table_name from duckdb_tables() where not internal union all "
        query += "select schema_name, view_name from duckdb_views() where not internal"
        with self._opened() as connection:
            found = connection.sql(query).fetchall()
        named = {f"{schema}.{name}" if schema != "main" else name: (schema, name) for schema, name in found}
        return {name: ".".join(map(quoted, parts)) for name, parts in sorted(named.items())}

    def _batches(self, columns: tuple[str, ...]) -> Batches:
        with self._opened() as connection:
            yield from relation_batches(connection.sql(f"from {self.select}"), columns)

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        remedy = "close programs that write to it. It may also have been written by a newer version of DuckDB; "
        remedy += "a view that reads other files is not followed: store it as a table"
        said, how = f"{self.path} cannot be read as a DuckDB file", {"read_only": True, "config": _ALONE}
        with duckdb("a DuckDB file needs DuckDB", said, remedy, database=self.path, **how) as connection:
            yield connection


class SqliteTable(DatabaseTable):
    """A table of a SQLite file. Types are those of its declaration; where that leaves them open, of the first rows."""

    @cached_property
    def schema(self) -> pa.Schema:
        """Return the columns and their types."""
        with self._opened() as connection:
            declared = connection.execute(f"pragma table_xinfo({self.select})").fetchall()
            kinds = {name: _declared(kind) for _, name, kind, *_, hidden in declared if hidden != 1}
            cursor = connection.execute(self._query(tuple(kinds)))
            columns = _columns(cursor.fetchmany(_FETCHED), kinds)
        return pa.schema([(name, kind or _shown(columns[name])) for name, kind in kinds.items()])

    def tables(self) -> Mapping[str, str]:
        with self._opened() as connection:
            found = sorted(connection.execute("select name from sqlite_master where type in ('table', 'view')"))
        return {name: quoted(name) for (name,) in found if not name.startswith("sqlite_")}

    def _batches(self, columns: tuple[str, ...]) -> Batches:
        first, wanted = 0, pa.schema([self.schema.field(name) for name in columns])
        with self._opened() as connection:
            cursor = connection.execute(self._query(columns))
            while rows := cursor.fetchmany(_FETCHED):
                values = _columns(rows, columns)
                arrays = [self._array(values[one.name], one, first) for one in wanted]
                yield pa.record_batch(arrays, schema=wanted)
                first += len(rows)

    def _query(self, columns: tuple[str, ...]) -> str:
        return f"select {', '.join(map(quoted, columns))} from {self.select}"  # noqa: S608  all names are quoted

    def _array(self, values: Sequence[Any], column: pa.Field, first: int) -> pa.Array:
        """Return values of a column, which SQLite lets be of any type. first: the row of the first."""
        fits = _VALUES[str(column.type)]
        for place, value in enumerate(values):
            if value is not None and not isinstance(value, fits):
                where = f"{self.describe()}, row {first + place} (the first is 0), column {column.name!r}"
                remedy = "store the same kind of value in every row, for example with `cast(... as text)` in a view"
                raise LogError(f"{where}: {value!r:.80} is not of the column's type, {column.type}", remedy)
        try:
            return pa.array(values, column.type)
        except (pa.ArrowException, OverflowError) as error:
            remedy = "store such numbers as text, for example with `cast(... as text)` in a view"
            raise LogError(f"{self.describe()}, column {column.name!r}: {error}", remedy) from error

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        address = f"file:{quote(str(Path(self.path).absolute()))}?mode=ro"
        try:
            with closing(sqlite3.connect(address, uri=True)) as connection:
                connection.execute("pragma trusted_schema = off")  # views call no function that does more than compute
                yield connection
        except sqlite3.Error as error:
            said = f"{self.path} cannot be read as a SQLite file: {error}"
            raise LogError(said, "close programs that write to it, and copy it again") from error


def _columns(rows: Sequence[tuple[Any, ...]], names: Sequence[str] | Mapping[str, Any]) -> dict[str, Sequence[Any]]:
    return dict(zip(names, zip(*rows, strict=True) if rows else [()] * len(names), strict=True))


def _declared(kind: str) -> pa.DataType | None:
    """Return the type that a declaration stands for, None if it leaves it open."""
    return next((one for word, one in _AFFINITIES.items() if word in kind.upper()), None)


def _shown(values: Sequence[Any]) -> pa.DataType:
    """Return the type of the first values; text if there are none."""
    found = {type(value) for value in values if value is not None}
    return {int: pa.int64(), float: pa.float64(), bytes: pa.binary()}.get(
        float if found == {int, float} else next(iter(found), str), pa.string()
    )


DATABASES: Mapping[str, type[DatabaseTable]] = {"duckdb": DuckdbTable, "sqlite": SqliteTable}


def database(source: str) -> DatabaseTable | None:
    """Return the table that a text names, `file:table`; None if there is no such database file."""
    for at in (place for place, letter in enumerate(source) if letter == ":" and place):
        if Path(source[:at]).is_file() and (kind := stored(Files((source[:at],)).head(source[:at]))) in DATABASES:
            return open_database(source[:at], str(kind), source[at + 1 :])
    return None


def tables_of_database(path: str, kind: str) -> list[DatabaseTable]:
    """Return the tables of a database file that holds several; none where it holds one, or very many."""
    names = [*DATABASES[kind](path).tables()]
    return [open_database(path, kind, name) for name in names] if 1 < len(names) <= LOOKED_AT else []


def open_database(path: str, kind: str, table: str = "") -> DatabaseTable:
    """Return a table of a database file. table: its name; by default the only one.

    Raises:
        UsageError: there is no such table, or there are several.
        EmptyLogError: there are none. LogError: the file cannot be read.
    """
    found = DATABASES[kind](path).tables()
    if not found:
        raise EmptyLogError(f"{path} has no tables", "give a database with a table of impressions")
    chosen = next(iter(found)) if len(found) == 1 and not table else table
    if chosen not in found:
        said = f"{path} has no table {table!r}" if table else f"{path} has {len(found)} tables"
        raise UsageError(
            said, f"name one, such as {path}:{next(iter(found))}; the tables are {', '.join(list(found)[:20])}"
        )
    return DATABASES[kind](path, chosen, found[chosen])


@dataclass(frozen=True)
class DatasetTable(OnePart):
    """A `pyarrow.dataset.Dataset`, read in order as one part, with its own partitions, filters and file system."""

    dataset: Any

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.dataset.schema.names)

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        path, base, first = self._paths[0], 0, 0  # rows are numbered after filtering
        near = {"batch_readahead": 2, "fragment_readahead": 1}  # prefetched data wait in memory
        found = self.dataset.scanner(list(columns), batch_size=MOST_ROWS, use_threads=False, **near).scan_batches()
        while True:
            with file_errors(path, "dataset"):
                tagged = next(found, None)
            if tagged is None:
                return
            fragment, data = tagged.fragment, tagged.record_batch
            here = getattr(fragment, "path", path)
            if here != path:
                path, base, first = here, base + first, 0
            if not first:
                self._refuse_missing(fragment, columns)
            yield from numbered([data] if len(data) else [], here, first, base)
            first += len(data)

    def describe(self) -> str:
        return describe(self._paths)

    @property
    def _paths(self) -> tuple[str, ...]:
        return tuple(getattr(self.dataset, "files", ())) or ("data set",)

    def _refuse_missing(self, fragment: Any, columns: tuple[str, ...]) -> None:
        """Raise if a file lacks a column of the first file, which pyarrow would fill with nulls."""
        # pyarrow.dataset imports pandas; whoever has a data set has imported it.
        told = importlib.import_module("pyarrow.dataset").get_partition_keys(fragment.partition_expression)
        here = getattr(fragment, "path", "data set")
        own = [*fragment.physical_schema.names, *told]
        refuse_missing(here, own, columns, self._paths[:1], lambda _: columns, self.names)


_FIRST = 256
"""Rows of Spark that are fetched to try a job on, before all are read where they are."""


@dataclass(frozen=True, eq=False)
class SparkTable(OnePart):
    """A Spark DataFrame, classic or Connect; on Spark's executors, the rows of one partition of it.

    Its rows are numbered in the order of its partitions.
    """

    names: tuple[str, ...]
    spark: Spark

    @classmethod
    def of(cls, frame: Any, where: str = "Spark DataFrame") -> SparkTable:
        """Build a table from a DataFrame; raise a `UsageError` if it is a stream."""
        if frame.isStreaming:
            raise UsageError(f"the {where} is a stream, which has no end", "give a table that can be read again")
        return cls(tuple(frame.columns), Spark(frame, where, PartitionRows()))

    @classmethod
    def named(cls, name: str) -> SparkTable:
        """Build a table from its name in Spark, in the session that is active or that Spark's own settings give.

        Raises:
            MissingExtraError: pyspark is not installed.
            LogError: Spark has no such table.
        """
        session = optional("pyspark.sql", "reading a Spark table needs pyspark", "spark").SparkSession
        try:
            return cls.of(session.builder.getOrCreate().table(name), f"{SPARK}{name}")
        except Exception as error:
            first = str(error).partition("\n")[0]
            raise LogError(f"{SPARK}{name} cannot be read: {first}", "name a table: spark:db.table") from error

    def engine(self) -> Spark | None:
        """Return what reduces it where its rows are."""
        return self.spark

    def grouped(self, column: str) -> SparkTable:
        """Return the same rows, with equal values of a column in one partition, side by side in their order."""
        return replace(self, spark=replace(self.spark, together=column))

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        if self.spark.rows.batches is None:
            yield from self._first(columns)
            return
        for data, rows in self.spark.rows.read(columns):
            start = 0
            for some in bounded(pa.Table.from_batches([data])):
                yield Piece(some, self.describe(), rows[start : start + len(some)])
                start += len(some)

    def _first(self, columns: tuple[str, ...]) -> Iterator[Piece]:
        """Yield the first rows, where only these are on this machine; there must be no need for more."""
        fetched = 0
        for data, rows in self.spark.head(columns, _FIRST):
            yield Piece(data, self.describe(), rows)
            fetched += len(rows)
        if fetched == _FIRST:
            refuse_placed(self, "this job reads all rows")

    def describe(self) -> str:
        return self.spark.where
