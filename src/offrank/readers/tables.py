"""Where Arrow record batches come from: Parquet, Arrow IPC, CSV, memory. Read lazily, in parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, ClassVar, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet as pq

from ..errors import ColumnError, LogError
from ..log.batch import Integers
from .files import describe

MOST_ROWS = 32_768
_MOST_VALUES = 2_000_000
_CSV = "write CSV with a header line, and the same kind of value in every row of a column"


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


@dataclass(frozen=True)
class ParquetTable:
    """Parquet files; a part is a row group."""

    paths: tuple[str, ...]
    kind: ClassVar[str] = "parquet"

    @property
    def dataset(self) -> Any:
        """All of them, with their schema and how many rows they have."""
        from pyarrow import dataset

        return dataset.dataset(list(self.paths), format="parquet")

    @cached_property
    def _groups(self) -> list[tuple[str, int, int, int]]:
        """(path, row group, first row in the file, rows in the files before) per part."""
        found, base = [], 0
        for path in self.paths:
            metadata, first = _parquet(path).metadata, 0
            for group in range(metadata.num_row_groups):
                rows = metadata.row_group(group).num_rows
                if rows:
                    found.append((path, group, first, base))
                first += rows
            base += first
        return found

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(_parquet(self.paths[0]).schema_arrow.names)

    def parts(self) -> int:
        return len(self._groups)

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        path, group, first, base = self._groups[part]
        file = _parquet(path)
        missing = [name for name in columns if name not in file.schema_arrow.names]
        if missing:
            raise ColumnError(f"{path} has no column {missing[0]!r}, but {self.paths[0]} has", "mend the file")
        rows = _batch_rows(file.metadata.row_group(group), columns)
        batches = file.iter_batches(rows, row_groups=[group], columns=list(columns), use_threads=False)
        for data in batches:
            yield Piece(data, path, np.arange(first, first + len(data)), base)
            first += len(data)

    def describe(self) -> str:
        return describe(self.paths)


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
        for data in slice_.to_batches(max_chunksize=_rows_for(values)):
            yield Piece(data, self.where, np.arange(first, first + len(data)))
            first += len(data)

    def describe(self) -> str:
        return f"{self.where} in memory"


@dataclass(frozen=True)
class ArrowTable:
    """Arrow IPC files, memory-mapped; a part is a record batch, or a whole file in the stream format."""

    paths: tuple[str, ...]

    @cached_property
    def _parts(self) -> list[tuple[str, int | None, int, int]]:
        """(path, record batch or None, first row in the file, rows in the files before) per part."""
        found, base = [], 0
        for path in self.paths:
            rows, first = _lengths(path), 0
            for batch, count in enumerate(rows):
                if count:
                    found.append((path, batch if len(rows) > 1 else None, first, base))
                first += count
            base += first
        return found

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(_ipc(self.paths[0]).schema.names)

    def parts(self) -> int:
        return len(self._parts)

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        path, only, first, base = self._parts[part]
        schema = _ipc(path).schema
        _refuse_missing(path, schema.names, columns, self.paths[0])
        for data in _ipc_batches(path, [schema.get_field_index(name) for name in columns], only):
            memory = MemoryTable(pa.Table.from_batches([data]), part_rows=max(len(data), 1))
            for piece in memory.pieces(0, columns):
                yield Piece(piece.data, path, piece.rows + first, base)
            first += len(data)

    def describe(self) -> str:
        return describe(self.paths)


@dataclass(frozen=True)
class CsvTable:
    """CSV files with a header line. One part: they are read in order, so that row numbers go on.

    text, numeric: columns whose kind is known, since it cannot be read off the first rows.
    """

    paths: tuple[str, ...]
    text: tuple[str, ...] = ()
    numeric: tuple[str, ...] = ()

    @cached_property
    def names(self) -> tuple[str, ...]:
        try:
            with pyarrow.csv.open_csv(self.paths[0]) as reader:
                return tuple(reader.schema.names)
        except (pa.ArrowInvalid, OSError) as error:
            raise LogError(f"{self.paths[0]} cannot be read: {error}", _CSV) from error

    def parts(self) -> int:
        return 1

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        base = 0
        for path in self.paths:
            first = 0
            for data in self._batches(path, columns):
                yield Piece(data, path, np.arange(first, first + len(data)), base)
                first += len(data)
            base += first

    def describe(self) -> str:
        return describe(self.paths)

    def _batches(self, path: str, columns: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
        kinds = dict.fromkeys(self.text, pa.string()) | dict.fromkeys(self.numeric, pa.float64())
        options = pyarrow.csv.ConvertOptions(
            include_columns=list(columns),
            column_types={name: kind for name, kind in kinds.items() if name in columns},
            null_values=["", "NA", "null", "NULL", "nan", "NaN"],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        )
        read = 0
        try:
            with pyarrow.csv.open_csv(path, convert_options=options) as reader:
                for data in reader:
                    read += len(data)
                    yield data
        except pa.ArrowKeyError as error:
            raise ColumnError(f"{path}: {error}", f"give it the columns of {self.paths[0]}") from error
        except (pa.ArrowInvalid, OSError) as error:
            raise LogError(f"{path}, after row {read}: {error}", _CSV) from error


def _parquet(path: str) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(path, memory_map=True)
    except pa.ArrowInvalid as error:
        raise LogError(f"{path} is not a Parquet file: {error}", "give a Parquet file") from error


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


def _ipc_batches(path: str, fields: list[int], only: int | None = None) -> Iterator[pa.RecordBatch]:
    """The record batches of a file, or only the one with this number."""
    # Reading some fields copies them; what is mapped as it lies is free, and cut to these fields later.
    reader = _ipc(path) if _lies_open(path) else _ipc(path, fields)
    if isinstance(reader, pa.ipc.RecordBatchFileReader):
        chosen = range(reader.num_record_batches) if only is None else [only]
        return (reader.get_batch(number) for number in chosen)
    return iter(reader)


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


def _refuse_missing(path: str, names: Sequence[str], columns: tuple[str, ...], first: str) -> None:
    """Raise if a file lacks a column that the first file has."""
    missing = [name for name in columns if name not in names]
    if missing:
        raise ColumnError(f"{path} has no column {missing[0]!r}, but {first} has", "mend the file")


def _batch_rows(group: pq.RowGroupMetaData, columns: tuple[str, ...]) -> int:
    """Rows per batch, so that wide lists do not fill the memory."""
    values = 0
    for index in range(group.num_columns):
        column = group.column(index)
        if column.path_in_schema.split(".")[0] in columns:
            values += column.num_values
    return _rows_for(values // max(group.num_rows, 1))


def _rows_for(values_per_row: int) -> int:
    return int(np.clip(_MOST_VALUES // max(values_per_row, 1), 64, MOST_ROWS))
