"""Checksums in the files that `convert` writes.

Arrow files have one of each column of each record batch, beside the batch. Parquet has its own of pages; one of the
names, types and row groups stands before its footer, which has none.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc

from ..errors import LogError
from ._kernels import mixed

_KEY = b"offrank.checksums"
_MARK = b"offrank:"
_LANES = 4


@contextmanager
def writer(path: Path, schema: pa.Schema) -> Iterator[Callable[[pa.RecordBatch], None]]:
    """Open a writer of an Arrow file. A last batch without rows marks the end, so that no batch can be lost unseen."""
    number = first = 0
    with pa.ipc.new_file(path, schema) as file:

        def write(data: pa.RecordBatch) -> None:
            nonlocal number, first
            stored = _stored(data)
            sums = {name: _sum(column) for name, column in zip(schema.names, stored.columns, strict=True)}
            file.write_batch(stored, {_KEY: json.dumps({"batch": number, "first": first, "columns": sums})})
            number, first = number + 1, first + len(data)

        yield write
        write(pa.RecordBatch.from_pylist([], schema))


def before_footer(schema: pa.Schema, rows: list[int]) -> bytes:
    """Return what stands before the footer of a Parquet file with these columns, and rows in each row group."""
    columns = [(field.name, _typed(field.type)) for field in schema]
    return _MARK + f"{zlib.crc32(json.dumps([columns, rows]).encode()):08x}".encode()


def verify_footer(source: pa.NativeFile, schema: pa.Schema, rows: list[int], path: str) -> None:
    """Compare the footer of a Parquet file with the checksum before it, if there is one.

    Raises:
        LogError: it is not what was written.
    """
    length = len(_MARK) + 8
    at = source.size() - 8 - int.from_bytes(source.read_at(4, source.size() - 8), "little") - length
    found = source.read_at(length, at) if at > 0 else b""
    if found.startswith(_MARK) and found != before_footer(schema, rows):
        raise _damaged(path)


def lengths(file: Any, names: list[str], path: str) -> list[int]:
    """Return the rows of each record batch of an Arrow file.

    Raises:
        LogError: it has checksums, and a batch is missing or names other columns.
    """
    found = [file.get_batch_with_custom_metadata(number) for number in range(file.num_record_batches)]
    rows = [len(one.batch) for one in found]
    records = [_record(one.custom_metadata, path) for one in found]
    if any(record is not None for record in records):
        wanted = [{"batch": number, "first": sum(rows[:number])} for number in range(len(rows))]
        for record, place in zip(records, wanted, strict=True):
            if record is None or list(record["columns"]) != names or any(record[key] != place[key] for key in place):
                raise _damaged(path)
        if rows[-1]:
            raise _damaged(path)
    return rows


def are_beside_batches(source: pa.NativeFile) -> bool:
    """Whether an Arrow file has checksums beside its first record batch; one in the stream format has none."""
    try:
        found = pa.ipc.open_file(source).get_batch_with_custom_metadata(0)
    except pa.ArrowInvalid:
        return False
    return found.custom_metadata is not None and _KEY in found.custom_metadata


def verify(data: pa.RecordBatch, metadata: Any, path: str) -> None:
    """Compare columns of a record batch, which are valid Arrow arrays, with the checksums beside it, if there are any.

    Raises:
        LogError: a column is not what was written.
    """
    record = _record(metadata, path)
    if record is None:
        return
    for name, column in zip(data.schema.names, data.columns, strict=True):
        if record["columns"].get(name) != _sum(column):
            raise _damaged(
                path, f": rows from {record['first']} on of column {name!r} have changed since they were written"
            )


def _damaged(path: str, what: str = ": a part is missing or has changed since it was written") -> LogError:
    return LogError(f"{path} is damaged{what}", "write it again with `offrank convert`, or restore it from a copy")


def _record(metadata: Any, path: str) -> dict[str, Any] | None:
    """Parse what stands beside a record batch; None if there is nothing."""
    if metadata is None or _KEY not in metadata:
        return None
    try:
        found = json.loads(metadata[_KEY])
        whole = isinstance(found["batch"], int) and isinstance(found["first"], int) and found["columns"].keys() >= set()
    except (ValueError, TypeError, KeyError, AttributeError):
        whole = False
    if not whole:
        raise _damaged(path)
    return dict(found)


def _stored(data: pa.RecordBatch) -> pa.RecordBatch:
    """Return a record batch as it will be read: of a slice only the rows in it, without padding."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, data.schema) as stream:
        stream.write_batch(data)
    return pa.ipc.open_stream(sink.getvalue()).read_next_batch()


def _sum(column: pa.Array) -> str:
    """Return the checksum of a column: its type, its length and the bytes of its buffers."""
    found = zlib.crc32(f"{_typed(column.type)} {len(column)} {column.null_count}".encode())
    for buffer in column.buffers():
        size = -1 if buffer is None else buffer.size
        found = zlib.crc32(str(size).encode(), found)
        if buffer is not None and size:
            whole = size // (8 * _LANES) * _LANES
            lanes = mixed(np.frombuffer(buffer, np.uint64, whole))
            found = zlib.crc32(memoryview(buffer)[8 * whole :], zlib.crc32(lanes, found))
    return f"{found:08x}"


def _typed(kind: pa.DataType) -> str:
    """Return a type in words that do not depend on pyarrow's version."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    inner = [_typed(kind.field(place).type) for place in range(kind.num_fields)]
    return f"{kind.id}{[str(getattr(kind, name, '')) for name in ('precision', 'scale', 'unit', 'tz')]}{inner}"
