"""CSV, TSV and JSON files, plain or packed: read in order, block by block."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.json

from ..errors import EmptyLogError
from . import _kernels_json
from .files import Files, describe, partition
from .stored import reading, refuse_missing, with_columns
from .tables import Piece, bounded, numbered, refuse_twice

_NULLS = ["", "NA", "null", "NULL", "nan", "NaN"]
_BLOCK = 1 << 20
"""Bytes that are read at a time. The first block tells the types of the columns."""
_BLANK = b"\xef\xbb\xbf \t\r\n"


@dataclass(frozen=True)
class CsvJsonTable:
    """Text files of one format, read in order as one part. Folders called `key=value` give a column of text.

    JSON is an object a line, or one array of objects. kinds: types of columns that the first rows do not show.
    """

    files: Files
    kind: str
    kinds: Mapping[str, pa.DataType] = field(default_factory=dict)

    @cached_property
    def schema(self) -> pa.Schema:
        """Return the columns of the first file, and their types."""
        path = self.files.paths[0]
        found = self._schema(path)
        if not found.names:
            raise EmptyLogError(f"{path} has no rows", "give a log with at least one impression")
        own = {name: self.kinds.get(name, kind) for name, kind in zip(found.names, found.types, strict=True)}
        folders = {name: pa.string() for name in partition(path) if name not in own}
        return pa.schema([*own.items(), *folders.items()])

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.schema.names)

    def stamp(self) -> dict[str, Any]:
        return self.files.stamp()

    def parts(self) -> int:
        return 1

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        base = 0
        for path in self.files.paths:
            first = 0
            for data in self._batches(path, columns):
                yield from numbered(bounded(pa.Table.from_batches([data])), path, first, base)
                first += len(data)
            base += first

    def typed(self, kinds: Mapping[str, pa.DataType]) -> CsvJsonTable:
        """Return the same files with the types of some columns given."""
        return replace(self, kinds=kinds)

    def describe(self) -> str:
        return describe(self.files.paths)

    def _schema(self, path: str) -> pa.Schema:
        """Return the columns in a file, as its first block shows them."""
        with reading(path, self.kind), self.files.system.open_input_stream(path) as stream:
            if self.kind == "json":
                first = next(_json(stream, None), None)
                found = pa.schema([]) if first is None else first.schema
            else:
                found = self._csv(stream, None).schema
            names = found.names  # which need not be UTF-8
        refuse_twice(names, path)
        return found

    def _batches(self, path: str, columns: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a file."""
        own = self._schema(path).names
        constant = {name: value for name, value in partition(path).items() if name in columns and name not in own}
        refuse_missing(path, [*own, *constant], columns, self.files.paths[0])
        wanted, rows = pa.schema([self.schema.field(name) for name in columns if name not in constant]), 0
        with self.files.system.open_input_stream(path) as stream:
            opened = _json if self.kind == "json" else self._csv
            found: Any = None
            while True:
                # CSV errors name the line; JSON errors count from the beginning of a block.
                with reading(f"{path}, after row {rows}" if self.kind == "json" else path, self.kind):
                    found = opened(stream, wanted) if found is None else found
                    data = next(found, None)
                if data is None:
                    return
                rows += len(data)
                yield with_columns(data, constant).select(list(columns))

    def _csv(self, stream: Any, wanted: pa.Schema | None) -> Any:
        """Open CSV or TSV. wanted: the columns to read and their types; all if None."""
        options = pyarrow.csv.ConvertOptions(
            include_columns=None if wanted is None else wanted.names,
            column_types=wanted,
            null_values=_NULLS,
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        )
        return pyarrow.csv.open_csv(
            stream,
            pyarrow.csv.ReadOptions(use_threads=False, block_size=_BLOCK),
            pyarrow.csv.ParseOptions(delimiter="\t" if self.kind == "tsv" else ","),
            options,
        )


def _json(stream: Any, wanted: pa.Schema | None) -> Iterator[pa.RecordBatch]:
    """Read JSON. wanted: the columns to read and their types; all if None."""
    parse = pyarrow.json.ParseOptions(wanted, unexpected_field_behavior="infer" if wanted is None else "ignore")
    for lines in _lines(stream):
        read = pyarrow.json.ReadOptions(use_threads=False, block_size=len(lines) + 1)
        yield from pyarrow.json.read_json(pa.BufferReader(lines), read, parse).to_batches()


def _lines(stream: Any) -> Iterator[bytes]:
    """Yield whole lines with an object each, many at a time."""
    rest, array, state = b"", None, np.zeros(3, np.int64)
    while block := stream.read(_BLOCK):
        if array is None:
            block = block.lstrip(_BLANK)
            array = block.startswith(b"[") if block else None
        if array:
            data = np.frombuffer(block, np.uint8).copy()
            _kernels_json.into_lines(data, state)
            block = data.tobytes()
        rest += block
        end = rest.rfind(b"\n") + 1
        if rest[:end].strip():
            yield rest[:end]
            rest = rest[end:]
    if state.any():
        raise OSError("its array is not closed")
    if rest.strip():
        yield rest
