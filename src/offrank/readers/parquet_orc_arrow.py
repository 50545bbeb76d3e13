"""Parquet, ORC and Arrow files, whose parts are read in parallel."""

from __future__ import annotations

import importlib
import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq

from ..errors import LogError, UsageError
from ..log.checksums import lengths, verify, verify_footer
from .column_sets import refuse_missing
from .conversions import in_utf8
from .file_kinds import known_kinds
from .files import COPY_AGAIN, Files, describe, partition
from .flat import of_bytes
from .tables import OfSchema, Piece, bounded, not_utf8, rows_for

_MAGIC = b"ARROW1"
"""The beginning of an Arrow file, which has its record batches listed at its end; a stream has none."""
_MOST_VALUES = 1 << 24
"""Values that rows of a Parquet file may have on average: one row of a kilobyte may fill the memory."""


@contextmanager
def file_errors(where: str, kind: str) -> Iterator[None]:
    """Convert the errors of an unreadable file into one exception.

    Raises:
        LogError: it cannot be read.
    """
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError, OverflowError) as error:
        if "what to do: " in str(error):  # a store has said why it fails, which not all readers pass on as it is
            said, _, remedy = str(error).rpartition("IOError: ")[2].partition("\n  what to do: ")
            raise LogError(said, remedy.partition(". Detail")[0]) from error
        what, remedy = (known_kinds()["read"][kind][field] for field in ("what", "remedy"))
        if re.search("compressed|zlib|zstd|bz2|lz4|checksum", str(error), re.IGNORECASE):
            remedy = COPY_AGAIN
        # Drop the place of the original error, since `where` gives it.
        said = str(error).split("': ")[-1].partition("\n")[0].removeprefix("Invalid: ")
        said = "".join(letter if letter.isprintable() else "?" for letter in said[:200])
        raise LogError(f"{where} cannot be read as {what}: {said}", remedy) from error


class StoredFile(Protocol):
    """One file that holds record batches, open. rows: of each part."""

    @property
    def schema(self) -> pa.Schema: ...

    @property
    def rows(self) -> Sequence[int]: ...

    def batches(self, number: int, columns: list[str]) -> Iterable[pa.RecordBatch]:
        """Yield the record batches of one part."""


@dataclass(frozen=True)
class StoredTable(OfSchema, ABC):
    """Files that hold record batches. Folders called `key=value` give a column of text."""

    kind: ClassVar[str]

    files: Files

    @abstractmethod
    def open(self, path: str) -> StoredFile:
        """Open a file."""

    @cached_property
    def _parts(self) -> list[tuple[str, int, int, int]]:
        """Return (path, number in the file, first row in the file, rows in the files before) per nonempty part."""
        found, base = [], 0
        for path in self.files.paths:
            first = 0
            with file_errors(path, self.kind):
                each = self.open(path).rows
            for number, rows in enumerate(each):
                if rows:
                    found.append((path, number, first, base))
                first += rows
            base += first
        return found

    def names_in(self, path: str) -> list[str]:
        """Return the columns in a file."""
        return list(self.open(path).schema.names)

    @cached_property
    def schema(self) -> pa.Schema:
        """Return the columns of the first file, and their types; another may be broken."""
        path = self.files.paths[0]
        with file_errors(path, self.kind):
            own = self.open(path).schema
            names = own.names  # of a damaged file they may be no text
        folders = partition(path) if "=" in path else {}
        return pa.schema([*own, *(pa.field(name, pa.string()) for name in folders if name not in names)])

    def parts(self) -> int:
        return len(self._parts)

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        path, number, first, base = self._parts[part]
        with file_errors(path, self.kind):
            file = self.open(path)
            own, constant = file.schema.names, dict[str, str | None]()
            if path != self.files.paths[0] or not {*own}.issuperset(columns):
                constant = {name: one for name, one in partition(path).items() if name in columns and name not in own}
                refuse_missing(path, [*own, *constant], columns, self.files.paths, self.names_in, self.names)
            for data in file.batches(number, [name for name in columns if name not in constant]):
                held = with_columns(data, constant) if constant else data
                piece = Piece(held, path, np.arange(first, first + len(held)), base)
                if "string" in str(held.schema.types) and not all(map(in_utf8, held.columns)):
                    raise not_utf8(piece)
                yield piece
                first += len(held)

    def describe(self) -> str:
        return describe(self.files.paths)

    def stamp(self) -> dict[str, Any]:
        schema = self.open(self.files.paths[0]).schema
        columns = {f"the type of column {one.name!r}": str(one.type) for one in schema}
        rows = {f"the position of part {part}": list(where) for part, where in enumerate(self._parts)}
        return {**self.files.stamp(), **columns, **rows}


@dataclass(frozen=True)
class ParquetFile:
    """A Parquet file, whose parts are its row groups; `rows` are those of each. local: whether it is no remote one."""

    file: pq.ParquetFile
    schema: pa.Schema
    rows: Sequence[int]
    local: bool

    def columns(self, number: int, names: Collection[str]) -> list[pq.ColumnChunkMetaData]:
        """Return the metadata of the leaves of columns in a row group, which can be asked for then.

        Raises:
            ArrowException: they are damaged.
        """
        schema, group = self.file.schema, self.file.metadata.row_group(number)
        paths = [schema.column(leaf).path for leaf in range(len(schema))]
        inside = tuple(f"{name}." for name in names)  # names may have dots themselves
        leaves = [leaf for leaf, path in enumerate(paths) if path in names or path.startswith(inside)]
        if self.local and leaves:  # a damaged footer ends the process where only metadata are asked for
            list(self.file.reader.iter_batches(0, [number], column_indices=leaves, use_threads=False))
        for leaf in leaves:  # nor does pyarrow raise an error for the statistics of a column of another type
            told, wanted = group.column(leaf).physical_type, schema.column(leaf).physical_type
            if told != wanted:
                raise pa.ArrowInvalid(f"{paths[leaf]!r} is of type {wanted}, but of type {told} in row group {number}")
        return [group.column(leaf) for leaf in leaves]

    def batches(self, number: int, columns: list[str]) -> Iterator[pa.RecordBatch]:
        rows, read = self.rows[number], 0
        values = sum(one.num_values for one in self.columns(number, columns))
        if values > _MOST_VALUES * rows:
            raise pa.ArrowInvalid(f"row group {number} has {values:,} values in {rows:,} rows")
        most = rows_for(values // max(rows, 1))
        for data in self.file.iter_batches(most, row_groups=[number], columns=columns, use_threads=False):
            read += len(data)
            yield data
        if read != rows:
            raise pa.ArrowInvalid(f"row group {number} should have {rows} rows, but has {read}")


@dataclass(frozen=True)
class ParquetTable(StoredTable):
    """Parquet files; a part is a row group."""

    kind = "parquet"

    _last: dict[Any, ParquetFile] = field(default_factory=dict, init=False, compare=False, repr=False)
    """The last file that was read, without what reads it: row groups of one file are read one after another."""

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_last": {}}

    def open(self, path: str) -> ParquetFile:
        with file_errors(path, "parquet"):
            info = self.files.system.get_file_info(path)
            key, source = (path, info.size, info.mtime_ns), self.files.system.open_input_file(path)
            known = self._last.get(key)
            footer = None if known is None else known.file
            file = pq.ParquetFile(source, metadata=footer, page_checksum_verification=True)
            if known is None:
                meta, schema = file.metadata, file.schema_arrow
                rows = [meta.row_group(group).num_rows for group in range(meta.num_row_groups)]
                verify_footer(source, schema, rows, path)
                self._last.clear()
                self._last[key] = known = ParquetFile(meta, schema, rows, self.files.local)
        return replace(known, file=file)

    @property
    def num_rows(self) -> int:
        """Return the rows of all files, from their metadata."""
        return sum(self.open(path).file.metadata.num_rows for path in self.files.paths)

    def may_be_null(self, name: str) -> bool:
        """Whether values of a column, or in its lists, may be null, as the first row group says of itself."""
        path = self.files.paths[0]
        file = self.open(path)
        with file_errors(path, "parquet"):
            told = [one.statistics for one in file.columns(0, [name])] if file.rows else []
        return not told or any(one is None or not one.has_null_count or one.null_count > 0 for one in told)

    def ends_in(self, part: int, name: str) -> list[Any]:
        """Return the least and the largest value of a column in a part; nothing where they are not known."""
        path, number, *_ = self._parts[part]
        found = [one.statistics for one in self.open(path).columns(number, [name])]
        return [found[0].min, found[0].max] if len(found) == 1 and found[0] and found[0].has_min_max else []

    def ends(self, name: str) -> list[Any]:
        """Return the least and the largest value of a column in each row group, or its values in names of folders.

        Empty if one is not known.
        """
        found: list[Any] = []
        for path in self.files.paths:
            file, folders = self.open(path), partition(path)
            if name in folders and name not in file.schema.names:
                found.append(folders[name])
                continue
            for number in range(len(file.rows)):
                told = next((one.statistics for one in file.columns(number, [name])), None)
                if told is None or (told.num_values and not told.has_min_max):
                    return []
                found += [told.min, told.max] if told.num_values else []
        return found


@dataclass(frozen=True)
class _OrcFile:
    """An ORC file, whose parts are its stripes."""

    file: Any

    @property
    def schema(self) -> pa.Schema:
        return self.file.schema

    @property
    def rows(self) -> list[int]:
        """Return the rows of each stripe, which the library tells by reading one column."""
        flat = (one.name for one in self.schema if not pa.types.is_nested(one.type))
        first = [next(flat, self.schema.names[0])]
        return [len(self.file.read_stripe(number, first)) for number in range(self.file.nstripes)]

    def batches(self, number: int, columns: list[str]) -> list[pa.RecordBatch]:
        return bounded(pa.Table.from_batches([self.file.read_stripe(number, columns)]).select(columns))


class OrcTable(StoredTable):
    """ORC files; a part is a stripe."""

    kind = "orc"

    def open(self, path: str) -> StoredFile:
        try:
            library = importlib.import_module("pyarrow.orc")
        except ImportError as error:  # some builds of pyarrow are without
            raise UsageError(f"{path} is an ORC file, which this pyarrow cannot read", "export Parquet") from error
        return _OrcFile(library.ORCFile(self.files.system.open_input_file(path)))


@dataclass(frozen=True)
class _ArrowFile:
    """An Arrow IPC file. lies_open: whether its arrays can be used without copying."""

    system: Any
    path: str
    lies_open: bool

    @property
    def schema(self) -> pa.Schema:
        return self._reader().schema

    @property
    def rows(self) -> list[int]:
        """Return the rows of each record batch; in the stream format of the whole file, which has no random access."""
        file = self._reader([0])
        return [sum(map(len, file))] if isinstance(file, _Stream) else lengths(file, self.schema.names, self.path)

    def batches(self, number: int, columns: list[str]) -> Iterator[pa.RecordBatch]:
        file = self._reader()
        if not self.lies_open:
            file = self._reader([file.schema.get_field_index(name) for name in columns])
        whole = isinstance(file, _Stream)
        for data, metadata in (
            ((each, None) for each in file) if whole else [file.get_batch_with_custom_metadata(number)]
        ):
            kept = data.select(columns)
            for column in kept.columns:  # damaged offsets would lead out of the memory of the process
                column.validate()
                column.view(of_bytes(column.type)).validate(full=True)
            verify(kept, metadata, self.path)
            yield from bounded(pa.Table.from_batches([kept]))

    def _reader(self, fields: list[int] | None = None) -> Any:
        """Open a file or a stream, with these fields only, which copies them; uncompressed files keep all fields."""
        options = pa.ipc.IpcReadOptions(included_fields=None if self.lies_open else fields)
        source = self.system.open_input_file(self.path)
        if source.read_at(len(_MAGIC), 0) == _MAGIC:
            return pa.ipc.open_file(source, options=options)
        try:
            return _Stream(source, options)
        except pa.ArrowInvalid as error:
            raise LogError(
                f"{self.path} is not an Arrow IPC file: {error}", known_kinds()["read"]["arrow"]["remedy"]
            ) from error


class ArrowTable(StoredTable):
    """Arrow IPC files, memory-mapped; a part is a record batch, or a whole file in the stream format."""

    kind = "arrow"

    def open(self, path: str) -> StoredFile:
        return _ArrowFile(self.files.system, path, path in self._lying_open)

    @cached_property
    def _lying_open(self) -> frozenset[str]:
        """Return the files whose arrays can be used without copying: local and uncompressed ones."""
        return frozenset(path for path in self.files.paths if self.files.local and _lies_open(path))


class _Stream:
    """The record batches of a file in the stream format, to its very end."""

    def __init__(self, source: Any, options: Any) -> None:
        self._source, self._found = source, pa.ipc.open_stream(source, options=options)

    @property
    def schema(self) -> pa.Schema:
        return self._found.schema

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        yield from self._found
        if self._source.tell() < self._source.size():
            raise pa.ArrowInvalid("an end-of-stream mark occurs before the end of the file")


def _lies_open(path: str) -> bool:
    """Whether the buffers of the first column are parts of the file itself."""
    source = pa.memory_map(path)
    whole = source.read_buffer(source.size())
    if source.read_at(len(_MAGIC), 0) != _MAGIC:
        return False
    reader = pa.ipc.open_file(source)
    buffers = [b for b in reader.get_batch(0).column(0).buffers() if b] if reader.num_record_batches else []
    return bool(buffers) and all(whole.address <= b.address < whole.address + max(whole.size, 1) for b in buffers)


def with_columns(data: pa.RecordBatch, constant: Mapping[str, str | None]) -> pa.RecordBatch:
    """Add constant columns to the rows, as folders give them."""
    for name, value in constant.items():
        data = data.append_column(name, pa.repeat(pa.scalar(value, pa.string()), len(data)))
    return data
