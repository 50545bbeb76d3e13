"""Where Arrow record batches come from: Parquet, Arrow IPC, CSV, memory. Read lazily, in parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq

from ..errors import ColumnError, LogError
from ..log.batch import Integers
from .files import Files, describe, partition

MOST_ROWS = 32_768
_MOST_VALUES = 2_000_000


_WANTED = {
    "parquet": ("a Parquet file", "give a Parquet file"),
    "arrow": ("an Arrow IPC file", "give an Arrow IPC (Feather) file"),
    "csv": ("CSV", "write CSV with a header line in UTF-8, and the same kind of value in every row of a column"),
    "tsv": ("TSV", "write TSV with a header line in UTF-8, and the same kind of value in every row of a column"),
    "json": ("JSON lines", "write an object a line in UTF-8, and the same kind of value in every row of a column"),
    "dataset": ("a log", "mend the data set that was given"),
}
"""What each kind of files is called, and the remedy where one cannot be read."""


@contextmanager
def reading(where: str, kind: str) -> Iterator[None]:
    """What a file that is not what it should be raises, as one error.

    Raises:
        LogError: it cannot be read.
    """
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError, OverflowError) as error:
        what, remedy = _WANTED[kind]
        # Without where it was found, which `where` says.
        said = str(error).split("': ")[-1].partition("\n")[0].removeprefix("Invalid: ")
        said = "".join(letter if letter.isprintable() else "?" for letter in said[:200])
        raise LogError(f"{where} cannot be read as {what}: {said}", remedy) from error


@dataclass(frozen=True)
class Piece:
    """Some rows of a table. rows: [n] their numbers in `file`; base: rows in the files before it.

    skipped: what was left out of these rows, by rule.
    """

    data: pa.RecordBatch
    file: str
    rows: Integers
    base: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)

    def between(self, start: int, end: int) -> Piece:
        """The rows from start to end."""
        return replace(self, data=self.data.slice(start, end - start), rows=self.rows[start:end])


def numbered(found: Iterable[pa.RecordBatch], file: str, first: int = 0, base: int = 0) -> Iterator[Piece]:
    """Record batches that follow each other in a file, from row `first` on."""
    for data in found:
        yield Piece(data, file, np.arange(first, first + len(data)), base)
        first += len(data)


class Table(Protocol):
    """A picklable description of tabular data."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""

    def parts(self) -> int:
        """How many pieces can be read side by side."""

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        """The rows of one part, of these columns only."""

    def describe(self) -> str:
        """Where the data is."""


def outline(layout: str, table: Table) -> str:
    """A line on the log, and one per column; rows only where they are known without reading them.

    They are of tables in memory, and of Parquet, which has them in its metadata.
    """
    held = getattr(table, "table", None)  # of tables in memory; a data set of text files; Parquet is asked itself
    held = getattr(table, "dataset", table) if held is None else held
    rows, schema = getattr(held, "num_rows", None), getattr(held, "schema", None)
    kinds = {} if schema is None else dict(zip(schema.names, schema.types, strict=True))
    columns = "".join(f"\n  {name}: {kinds[name]}" if name in kinds else f"\n  {name}" for name in table.names)
    return f"{table.describe()}: {layout} layout{'' if rows is None else f', {rows:,} rows'}{columns}"


_Part = tuple[str, int, int, int]
"""Path, number of the part in the file, its first row there, rows in the files before."""


def _parts(paths: Sequence[str], lengths: Callable[[str], list[int]]) -> list[_Part]:
    """The parts of files that have rows; lengths: rows of each part of a file."""
    found, base = [], 0
    for path in paths:
        first = 0
        for number, rows in enumerate(lengths(path)):
            if rows:
                found.append((path, number, first, base))
            first += rows
        base += first
    return found


@dataclass(frozen=True)
class ParquetTable:
    """Parquet files; a part is a row group. Folders called `key=value` give a column of text."""

    files: Files

    @property
    def schema(self) -> pa.Schema:
        """The columns of the first file, and their types."""
        return self._open(self.files.paths[0]).schema_arrow

    @property
    def num_rows(self) -> int:
        """Rows of all files, as their metadata say."""
        return sum(self._open(path).metadata.num_rows for path in self.files.paths)

    @cached_property
    def _groups(self) -> list[_Part]:
        return _parts(self.files.paths, self._lengths)

    def _lengths(self, path: str) -> list[int]:
        metadata = self._open(path).metadata
        return [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]

    @cached_property
    def names(self) -> tuple[str, ...]:
        path = self.files.paths[0]
        with reading(path, "parquet"):
            return tuple(dict.fromkeys([*self._open(path).schema_arrow.names, *partition(path)]))

    def parts(self) -> int:
        return len(self._groups)

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        path, group, first, base = self._groups[part]
        file = self._open(path)
        own = file.schema_arrow.names
        constant = {name: value for name, value in partition(path).items() if name in columns and name not in own}
        refuse_missing(path, [*own, *constant], columns, self.files.paths[0])
        held = [name for name in columns if name not in constant]
        with reading(path, "parquet"):
            rows = _batch_rows(file.metadata.row_group(group), columns)
            found = file.iter_batches(rows, row_groups=[group], columns=held, use_threads=False)
            yield from numbered((_with_columns(data, constant) for data in found), path, first, base)

    def describe(self) -> str:
        return describe(self.files.paths)

    def _open(self, path: str) -> pq.ParquetFile:
        with reading(path, "parquet"):
            return pq.ParquetFile(self.files.system.open_input_file(path))


@dataclass(frozen=True)
class MemoryTable:
    """An Arrow table in memory; a part is a slice of it."""

    table: pa.Table
    where: str = "table"
    part_rows: int = 131_072

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.table.schema.names)

    def parts(self) -> int:
        return -(-self.table.num_rows // self.part_rows)

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        first = part * self.part_rows
        slice_ = self.table.select(list(columns)).slice(first, self.part_rows)
        values = max((slice_.nbytes // (8 * max(slice_.num_rows, 1))), 1)
        yield from numbered(slice_.to_batches(max_chunksize=rows_for(values)), self.where, first)

    def describe(self) -> str:
        return f"{self.where} in memory"


@dataclass(frozen=True)
class LazyTable:
    """A Polars LazyFrame, run anew for each reading, in order as one part."""

    frame: Any

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(self.frame.collect_schema().names())

    def parts(self) -> int:
        return 1

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        frames = self.frame.select(columns).collect_batches(chunk_size=MOST_ROWS, maintain_order=True)
        yield from numbered((data for frame in frames for data in frame.to_arrow().to_batches()), "lazy frame")

    def describe(self) -> str:
        return "lazy frame"


@dataclass(frozen=True)
class ArrowTable:
    """Arrow IPC files, memory-mapped; a part is a record batch, or a whole file in the stream format."""

    paths: tuple[str, ...]

    @cached_property
    def _batches(self) -> list[_Part]:
        return _parts(self.paths, _lengths)

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(_ipc(self.paths[0]).schema.names)

    def parts(self) -> int:
        return len(self._batches)

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        path, number, first, base = self._batches[part]
        schema = _ipc(path).schema
        refuse_missing(path, schema.names, columns, self.paths[0])
        for data in _ipc_batches(path, [schema.get_field_index(name) for name in columns], number):
            memory = MemoryTable(pa.Table.from_batches([data]), part_rows=max(len(data), 1))
            yield from numbered((piece.data for piece in memory.pieces(0, columns)), path, first, base)
            first += len(data)

    def describe(self) -> str:
        return describe(self.paths)


def _ipc(path: str, fields: list[int] | None = None) -> Any:
    """Reader of an Arrow IPC file or stream; of these fields only."""
    options = pa.ipc.IpcReadOptions(included_fields=fields)
    try:
        return pa.ipc.open_file(pa.memory_map(path), options=options)
    except pa.ArrowInvalid:
        pass
    try:
        return pa.ipc.open_stream(pa.memory_map(path), options=options)
    except pa.ArrowInvalid as error:
        raise LogError(f"{path} is not an Arrow IPC file: {error}", "give an Arrow IPC (Feather) file") from error


def _ipc_batches(path: str, fields: list[int], number: int | None = None) -> Iterable[pa.RecordBatch]:
    """The record batches of a file, or only the one with this number; all of a stream."""
    # Reading some fields copies them; what is mapped as it lies is free, and cut to these fields later.
    reader = _ipc(path) if _lies_open(path) else _ipc(path, fields)
    if isinstance(reader, pa.ipc.RecordBatchFileReader):
        chosen = range(reader.num_record_batches) if number is None else [number]
        return (reader.get_batch(each) for each in chosen)
    found: Iterable[pa.RecordBatch] = reader
    return found


@cache
def _lies_open(path: str) -> bool:
    """Whether a file's arrays can be used where they lie: an IPC file that is not compressed."""
    source = pa.memory_map(path)
    whole = source.read_buffer(source.size())
    try:
        reader = pa.ipc.open_file(source)
    except pa.ArrowInvalid:
        return False
    buffers = [b for b in reader.get_batch(0).column(0).buffers() if b] if reader.num_record_batches else []
    return bool(buffers) and all(whole.address <= b.address < whole.address + max(whole.size, 1) for b in buffers)


def _lengths(path: str) -> list[int]:
    """Rows of each record batch; of the whole file in the stream format, where none can be reached alone."""
    rows = [len(data) for data in _ipc_batches(path, [0])]
    return rows if isinstance(_ipc(path), pa.ipc.RecordBatchFileReader) else [sum(rows)]


def _with_columns(data: pa.RecordBatch, constant: Mapping[str, str | None]) -> pa.RecordBatch:
    """The same rows with columns of one value each, as folders give them."""
    for name, value in constant.items():
        data = data.append_column(name, pa.repeat(pa.scalar(value, pa.string()), len(data)))
    return data


def _batch_rows(group: pq.RowGroupMetaData, columns: tuple[str, ...]) -> int:
    """Rows per batch, so that wide lists do not fill the memory."""
    values = 0
    for index in range(group.num_columns):
        column = group.column(index)
        if column.path_in_schema.split(".")[0] in columns:
            values += column.num_values
    return rows_for(values // max(group.num_rows, 1))


def refuse_missing(path: str, names: Sequence[str], columns: tuple[str, ...], first: str) -> None:
    """Raise if a file lacks a column that the first file has."""
    missing = [name for name in columns if name not in names]
    if missing:
        raise ColumnError(f"{path} has no column {missing[0]!r}, but {first} has", "mend the file")


def rows_for(values_per_row: int) -> int:
    """Rows per batch, so that wide lists do not fill the memory."""
    return int(np.clip(_MOST_VALUES // max(values_per_row, 1), 64, MOST_ROWS))
