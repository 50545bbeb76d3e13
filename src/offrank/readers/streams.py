"""Logs that come as streams of record batches: read in order, as one part, and never held as a whole."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice
from typing import Any, ClassVar

import pyarrow as pa

from ..errors import ColumnError, EmptyLogError, LogError, OffrankError, UsageError, optional
from ..log.source import OnePart, read_once
from . import flat
from .files import SQL
from .parquet_orc_arrow import file_errors
from .tables import (
    MOST_ROWS,
    MemoryTable,
    OfSchema,
    Piece,
    Table,
    all_pieces,
    arrow_table,
    bounded,
    in_types,
    numbered,
    table_of_dicts,
    unified,
)

_DICTS = 1024
"""How many dicts make a record batch; the first such batch tells the columns."""
_BYTES = 1 << 24
"""Record batches smaller than this, and of fewer than `MOST_ROWS`, are joined."""

Batches = Generator[pa.RecordBatch, None, None]


class StreamTable(OfSchema, OnePart, ABC):
    """Record batches from elsewhere, in order. once: whether they can be read a single time only."""

    once: ClassVar[bool] = False

    @abstractmethod
    def describe(self) -> str:
        """Describe where the data is."""

    @abstractmethod
    def _batches(self, columns: tuple[str, ...]) -> Batches:
        """Yield record batches of any size that have these columns, and perhaps others."""

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        with closing(self._batches(columns)) as found:
            yield from numbered(_of_fair_size(found, columns), self.describe())


def _of_fair_size(found: Iterator[pa.RecordBatch], columns: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
    """Join small record batches and cut large ones."""
    waiting: list[pa.RecordBatch] = []
    rows = size = 0
    for data in found:
        chosen = data.select(list(columns))
        if waiting and chosen.schema != waiting[0].schema:
            yield from _joined(waiting)
        if not waiting:
            rows = size = 0
        waiting.append(chosen)
        rows, size = rows + len(data), size + flat.size(data)  # of all columns, since they may share their memory
        if rows >= MOST_ROWS or size >= _BYTES:  # before the next is made, which may be large
            yield from _joined(waiting)
    if waiting:
        yield from _joined(waiting)


def _joined(waiting: list[pa.RecordBatch]) -> list[pa.RecordBatch]:
    """Return the waiting record batches as some of fair size; none are waiting then."""
    found = bounded(pa.Table.from_batches(waiting).combine_chunks())
    waiting.clear()
    return found


@dataclass(frozen=True)
class LibraryTable(StreamTable):
    """A query of another library, which runs again for each reading."""

    what: ClassVar[str]
    query: Any

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(self.query.columns)

    def describe(self) -> str:
        return self.what


class LazyTable(LibraryTable):
    """A Polars LazyFrame."""

    what = "lazy frame"

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(self.query.collect_schema().names())

    def _batches(self, columns: tuple[str, ...]) -> Batches:
        for frame in self.query.select(columns).collect_batches(chunk_size=MOST_ROWS, maintain_order=True):
            yield from frame.to_arrow().to_batches()


class IbisTable(LibraryTable):
    """An Ibis table."""

    what = "Ibis table"

    def _batches(self, columns: tuple[str, ...]) -> Batches:
        yield from self.query.select(*columns).to_pyarrow_batches(chunk_size=MOST_ROWS)


class RelationTable(LibraryTable):
    """A DuckDB relation; its connection can do nothing else meanwhile."""

    what = "DuckDB relation"

    def _batches(self, columns: tuple[str, ...]) -> Batches:
        remedy = "keep its connection open, and read nothing else with it meanwhile"
        with duckdb_errors(f"the {self.what} cannot be read", remedy):
            yield from relation_batches(self.query, columns)

    def __getstate__(self) -> Any:
        raise _unsendable(self.what, f"give the query as text, '{SQL}select ...', or use threads")


@dataclass(frozen=True)
class QueryTable(StreamTable):
    """An SQL query that DuckDB runs again for each reading, in a connection of its own."""

    query: str

    @cached_property
    def names(self) -> tuple[str, ...]:
        with self._opened() as relation:
            return tuple(relation.columns)

    def describe(self) -> str:
        return SQL + " ".join(self.query.split())

    def _batches(self, columns: tuple[str, ...]) -> Batches:
        with self._opened() as relation:
            yield from relation_batches(relation, columns)

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        said = f"{self.describe()!r} cannot be read"
        with duckdb("a log that is an SQL query needs DuckDB", said, "correct the query") as connection:
            relation = connection.sql(self.query)
            if relation is None:
                raise UsageError(f"{self.describe()!r} returns no rows", "use a query that begins with select or from")
            yield relation


@contextmanager
def duckdb(needed: str, said: str, remedy: str, **how: Any) -> Iterator[Any]:
    """Open DuckDB. needed: the error if it is not installed. said, remedy: of its errors. how: of the connection."""
    library = optional("duckdb", needed, "duckdb")
    with duckdb_errors(said, remedy), closing(library.connect(**how)) as connection:
        connection.sql("set enable_progress_bar = false")  # it is printed among the results
        yield connection


@contextmanager
def duckdb_errors(said: str, remedy: str) -> Iterator[None]:
    """Convert the errors of DuckDB into one exception."""
    try:
        yield
    except (importlib.import_module("duckdb").Error, pa.ArrowException) as error:
        raise LogError(f"{said}: {str(error).partition(chr(10))[0]}", remedy) from error


def quoted(name: str) -> str:
    """Return a name as SQL writes it, whatever is in it."""
    return '"{}"'.format(name.replace('"', '""'))


def relation_batches(relation: Any, columns: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
    """Yield these columns of a DuckDB relation."""
    chosen = relation.project(", ".join(map(quoted, columns)))
    # The method's older name; the capsule of a relation would hold the whole result.
    reader = chosen.to_arrow_reader if hasattr(chosen, "to_arrow_reader") else chosen.fetch_arrow_reader
    with reader(MOST_ROWS) as found:
        yield from found


@dataclass(frozen=True, eq=False)
class OnceTable(StreamTable):
    """A stream that can be read once. schema: of its first record batch; batches: empty when reading has begun."""

    once: ClassVar[bool] = True

    schema: pa.Schema
    batches: list[Iterator[pa.RecordBatch]] = field(repr=False)

    @classmethod
    def of(cls, source: Any, *, empty: bool = False) -> Table:
        """Build a table from a reader, any object with `__arrow_c_stream__`, or an iterator of tables or dicts.

        empty: whether it is a reader that may have no rows.

        Raises:
            EmptyLogError: it has no rows.
            UsageError: it gives neither tables nor dicts.
        """
        found = _of_one_schema(_record_batches(source))
        first = next(found, None)
        if first is None:
            if empty:
                return MemoryTable(source.schema.empty_table(), "stream")
            raise EmptyLogError("the stream has no rows", "give a log with at least one impression")
        return cls(first.schema, [chain([first], found)])

    def describe(self) -> str:
        return "stream"

    def _batches(self, columns: tuple[str, ...]) -> Batches:
        if not self.batches:
            raise read_once(self.describe(), "it was read before")
        yield from self.batches.pop()

    def first(self, columns: tuple[str, ...], rows: int = 1) -> Iterator[Piece]:
        """Yield its first rows, at least so many if it has them, which are read again with the others."""
        if self.batches:
            seen: list[pa.RecordBatch] = []
            rest = self.batches[0]
            try:
                while sum(map(len, seen)) < rows and sum(map(flat.size, seen)) < _BYTES:
                    seen.append(next(rest))
            except StopIteration:
                pass
            except OffrankError as error:  # which is told when the rows are read
                rest = _raising(error)
            self.batches[0] = chain(seen, rest)
            yield from numbered([data.select(list(columns)) for data in seen], self.describe())

    def __getstate__(self) -> Any:
        raise _unsendable(self.describe(), "use threads, or save it as Parquet and read that")


def _raising(error: OffrankError) -> Iterator[pa.RecordBatch]:
    raise error
    yield


def _unsendable(where: str, remedy: str) -> UsageError:
    return UsageError(f"a {where} cannot be sent to other processes", remedy)


def _record_batches(source: Any) -> Iterator[pa.RecordBatch]:
    """Yield the record batches of a stream of any kind."""
    if hasattr(source, "__arrow_c_stream__"):
        with file_errors("the stream", "stream"):
            yield from pa.RecordBatchReader.from_stream(source)
        return
    first = next(source, None)
    every = chain([] if first is None else [first], source)
    if isinstance(first, Mapping):
        yield from _of_dicts(every)
        return
    for one in every:
        yield from arrow_table(one).to_batches()


def _of_dicts(every: Iterator[Mapping[str, Any]]) -> Iterator[pa.RecordBatch]:
    known: list[str] = []
    while rows := list(islice(every, _DICTS)):
        table = table_of_dicts(rows, known)
        known = known or table.schema.names
        if new := table.schema.names[len(known) :]:
            remedy = "give every key in the first row, with None where there is no value"
            raise ColumnError(
                f"the first {_DICTS:,} rows of the stream have no {new[0]!r}, but later ones have", remedy
            )
        yield from table.to_batches()


def _of_one_schema(found: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the record batches that have rows, of wider types perhaps; raise a `ColumnError` at others."""
    schema: pa.Schema | None = None
    for data in found:
        if not len(data):
            continue
        schema = data.schema if schema is None else schema
        if data.schema == schema:
            yield data
            continue
        try:
            if set(data.schema.names) != set(schema.names):
                raise pa.ArrowInvalid(f"{', '.join(data.schema.names)} come after {', '.join(schema.names)}")
            kinds = unified(schema.types, data.select(schema.names).schema)
            schema = pa.schema([*zip(schema.names, kinds, strict=True)])
            table = in_types(pa.Table.from_batches([data]).select(schema.names), schema)
        except (LogError, pa.ArrowException, TypeError, ValueError) as error:
            raise ColumnError(
                f"the tables of the stream differ: {error}", "give tables with the same columns"
            ) from error
        yield from table.to_batches()


@dataclass(frozen=True, eq=False)
class CallTable(OnePart):
    """What a function returns, called again for each reading: a stream, or anything else that is a log.

    opened: makes a table of that. held: the table of the first call, until it is read.
    """

    call: Callable[[], Any]
    opened: Callable[[Any], Table]
    held: list[Table] = field(default_factory=list, repr=False)

    @cached_property
    def names(self) -> tuple[str, ...]:
        self.held[:] = self.held or [self.opened(self.call())]
        return self.held[0].names

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        try:
            table = self.held.pop() if self.held else self.opened(self.call())
        except EmptyLogError as error:
            said = f"{self.describe()} has no rows when called again"
            raise UsageError(said, "open a new stream in each call") from error
        if missing := [name for name in columns if name not in table.names]:
            raise ColumnError(f"{self.describe()} has no {missing[0]!r} when called again", "return the same columns")
        yield from all_pieces(table, columns)

    def describe(self) -> str:
        return f"what {getattr(self.call, '__name__', type(self.call).__name__)}() returns"

    def __getstate__(self) -> dict[str, Any]:
        return {"call": self.call, "opened": self.opened, "held": []}
