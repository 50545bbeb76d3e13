"""CSV, TSV and JSON files, plain or packed: read in order, block by block."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.json

from ..errors import EmptyLogError, LogError
from ..log.python_values import in_kind
from ..log.rules import RAGGED_LINE
from ..log.source import OnePart
from . import _kernels_bytes
from .column_sets import refuse_missing
from .dialect import Dialect, cell_error, csv_type, json_types, naming, whole_numbers, with_fractions
from .files import Files, describe, partition
from .json_text import parsed, rows_of
from .parquet_orc_arrow import file_errors, with_columns
from .tables import OfSchema, Piece, bounded, numbered, refuse_twice, table_of_dicts

_NULLS = ["", "NA", "null", "NULL", "nan", "NaN", "\\N"]
_BLOCK = 1 << 20
"""Bytes that are read at a time. The first block tells the types of the columns."""
_LONGEST = 1 << 26
"""Bytes of the longest line of JSON: a small archive may hold a line that fills the memory."""
_RAGGED = 0.1
"""The largest share of the lines so far that may be left out, beyond one, for having more or fewer cells."""
_COUNTED = 2_000_000
"""Rows up to which their lines are counted, for errors."""
_BLANK = b"\xef\xbb\xbf \t\r\n"


@dataclass(frozen=True)
class CsvJsonTable(OfSchema, OnePart):
    """Text files of one format, read in order as one part. Folders called `key=value` give a column of text.

    JSON is an object a line, or one array of objects. kinds: types of columns that the first rows do not show. dialect:
    how CSV is written, in all of the files. ragged: whether lines with other numbers of cells are left out, if few.
    """

    files: Files
    kind: str
    kinds: Mapping[str, pa.DataType] = field(default_factory=dict)
    dialect: Dialect = field(default_factory=Dialect)
    ragged: bool = False

    @classmethod
    def of(cls, files: Files, kind: str, ragged: bool = False) -> CsvJsonTable:
        """Build a table of files, which are written as the beginning of the first tells."""
        return cls(files, kind, dialect=Dialect.of(files.head(files.paths[0]), kind), ragged=ragged)

    @cached_property
    def schema(self) -> pa.Schema:
        """Return the columns of the first file, and their types."""
        path, found = self.files.paths[0], self._first
        if not found.names:
            raise EmptyLogError(f"{path} has no rows", "give a log with at least one impression")
        found = found if self.kind == "json" else self._unchanged(path, found)
        own = {name: self.kinds.get(name, kind) for name, kind in zip(found.names, found.types, strict=True)}
        folders = {name: pa.string() for name in partition(path) if name not in own}
        return pa.schema([*own.items(), *folders.items()])

    @cached_property
    def _first(self) -> pa.Schema:
        """Return the columns in the first file."""
        return self._schema(self.files.paths[0])

    def stamp(self) -> dict[str, Any]:
        return self.files.stamp()

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        base = 0
        for path in self.files.paths:
            first, ragged, waiting = 0, list[int](), list[Piece]()
            for data in self._batches(path, columns, ragged):
                batches = bounded(pa.Table.from_batches([data]))
                for piece in numbered(batches, path, first, base, partial(self.line_of, path)):
                    waiting.append(piece)
                    while len(waiting) > self.ragged:
                        yield waiting.pop(0)
                first += len(data)
            for piece in waiting:  # the last one tells what was left out of the file
                yield replace(piece, skipped={RAGGED_LINE: len(ragged)}) if ragged else piece
            base += first

    def typed(self, kinds: Mapping[str, pa.DataType]) -> CsvJsonTable:
        """Return the same files with the types of some columns given."""
        made = replace(self, kinds=kinds)
        vars(made)["_first"] = self._first
        return made

    @property
    def cuttable(self) -> bool:
        """Whether each line is a row, so that rows can be read from the middle of the files."""
        plain = self.dialect.encoding == "utf-8" and not self.dialect.lines
        if not plain or any(map(self.files.packed, self.files.paths)):
            return False
        return self.kind != "json" or not any(
            self.files.head(path).lstrip(_BLANK)[:1] == b"[" for path in self.files.paths
        )

    def holding(self, path: str, lines: bytes | None = None) -> CsvJsonTable:
        """Return the table of one of the files, with the types of all. lines: what stands for what is in it."""
        held = {} if lines is None else {path: lines}
        made = replace(self, files=replace(self.files, paths=(path,), held=held))
        vars(made)["schema"] = self.schema
        return made

    def lines_at(self, path: str, start: int, size: int) -> bytes:
        """Return the whole lines among `size` bytes of a file from `start` on, with the lines before its first row."""
        with self.files.system.open_input_file(path) as file:
            if not start:
                found: bytes = file.read_at(size, 0)
                return found[: found.rfind(b"\n") + 1] if len(found) == size else found
            head = b"".join(file.read_at(_BLOCK, 0).splitlines(keepends=True)[: self._before * (self.kind != "json")])
            found = file.read_at(size, start)
        lines = found[found.find(b"\n") + 1 : found.rfind(b"\n") + 1] if b"\n" in found else b""
        return head + lines if lines else b""

    def line_of(self, path: str, row: int) -> int:
        """Return the line at which a row begins, as editors count them; 0 where that is not known."""
        left, end, of_json = row + (not self.dialect.width and self.kind != "json"), 0, self.kind == "json"
        if row > _COUNTED or (of_json and self.files.head(path).lstrip(_BLANK)[:1] == b"["):
            return 0
        how: Any = {} if self.dialect.lines or self.ragged else {"quoting": csv.QUOTE_NONE}
        with suppress(csv.Error), self._open(path) as stream:
            for cells in (reader := self._reader(stream, **how)):
                begin, end = end + 1, reader.line_num
                if cells and begin > self.dialect.skip:
                    if not left:
                        return begin
                    left -= 1
        return 0

    def describe(self) -> str:
        return describe(self.files.paths) + self.dialect.said

    @property
    def _before(self) -> int:
        """Lines before the first row."""
        return self.dialect.skip + (not self.dialect.width)

    def _naming(self, path: str, names: list[str], first: int = 0) -> AbstractContextManager[None]:
        return naming(path, names, self._before, partial(self.line_of, path), first)

    def _open(self, path: str) -> Any:
        """Open a file as a stream of text in UTF-8."""
        stream, encoding = self.files.open(path), self.dialect.encoding
        return stream if encoding == "utf-8" else pa.transcoding_input_stream(stream, encoding, "utf-8")

    def _schema(self, path: str) -> pa.Schema:
        """Return the columns in a file, as its first block shows them."""
        with file_errors(path, self.kind), self._naming(path, []), self._open(path) as stream:
            if self.kind == "json":
                first = next(_lines(stream), None)
                found = pa.schema([]) if first is None else _json_schema(first)
            else:
                found = self._csv(stream, None).schema
            names = found.names  # which need not be UTF-8
        refuse_twice(names, path)
        return found

    def names_in(self, path: str) -> list[str]:
        """Return the columns in a file."""
        found = self._first if path == self.files.paths[0] else self._schema(path)
        return list(found.names)

    def _unchanged(self, path: str, found: pa.Schema) -> pa.Schema:
        """Return the types of the columns of CSV, with text where another type would change the first values."""
        names = [name for name in found.names if name not in self.kinds and found.field(name).type != pa.string()]
        if not names:
            return found
        with file_errors(path, self.kind), self._naming(path, names), self._open(path) as stream:
            texts = next(self._csv(stream, pa.schema(dict.fromkeys(names, pa.binary()))), None)
        if texts is None:
            return found
        kinds = {name: csv_type(found.field(name).type, texts.column(name)) for name in names}
        return pa.schema([field.with_type(kinds.get(field.name, field.type)) for field in found])

    def _batches(self, path: str, columns: tuple[str, ...], ragged: list[int]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a file. ragged: is filled with the lines that are left out."""
        folders = partition(path)
        own = [one for one in self.names if one not in folders] if self.files.held else self.names_in(path)
        constant = {name: value for name, value in folders.items() if name in columns and name not in own}
        refuse_missing(path, [*own, *constant], columns, self.files.paths, self.names_in, self.names)
        wanted, rows = pa.schema([self.schema.field(name) for name in columns if name not in constant]), 0
        # CSV errors name the row; JSON errors count from the beginning of a block.
        of_json = self.kind == "json"
        with self._open(path) as stream:
            found, text = None, _Counted(stream)
            while True:
                with (
                    file_errors(f"{path}, after row {rows}" if of_json else path, self.kind),
                    self._naming(path, own, rows),
                ):
                    if found is None:
                        found = _json(stream, wanted) if of_json else self._checked(text, wanted, path, ragged)
                    data = next(found, None)
                if data is None:
                    self._refuse_open_quote(path, text, rows + len(ragged))
                    return
                rows += len(data)
                yield with_columns(data, constant).select(list(columns))

    def _refuse_open_quote(self, path: str, text: _Counted, rows: int) -> None:
        """Raise if a quote is not closed, so that a cell holds lines that are rows. rows: those read or left out.

        The file is read again only where its quotes, or its lines, do not add up.
        """
        added_up = text.quotes % 2 == 0 and (self.dialect.lines or text.lines <= rows + self._before)
        with self._open(path) as stream:
            begin, reader = 1, self._reader(stream, strict=True)
            try:
                for _ in () if added_up else reader:
                    begin = reader.line_num + 1
            except csv.Error as error:
                if (lines := reader.line_num - begin + 1) > 1:
                    said = f"{path}, line {begin}, cannot be read as CSV: a quote is not closed within {lines:,} lines"
                    raise LogError(said, "close it, or write it twice within a quoted cell") from error

    def _reader(self, stream: Any, **how: Any) -> Any:
        """Return what reads cells as this file has them, and knows their lines."""
        how = {"escapechar": "\\" if self.dialect.escaped else None, "doublequote": not self.dialect.escaped, **how}
        text = io.TextIOWrapper(stream, "utf-8", "replace", newline="")
        return csv.reader(text, delimiter=self.dialect.delimiter, **how)

    def _checked(self, stream: Any, wanted: pa.Schema, path: str, ragged: list[int]) -> Iterator[pa.RecordBatch]:
        """Yield rows of CSV whose whole numbers are what was written: 007 is not 7. Later some may have decimals."""
        whole = [at for at, one in enumerate(wanted) if one.type == pa.int64() and one.name not in self.kinds]
        first, texts = 0, wanted
        for at in whole:
            texts = texts.set(at, texts.field(at).with_type(pa.string()))
        for data in self._csv(stream, texts, ragged):
            columns = data.columns
            for at in whole:

                def wrong(place: int, at: int = at, data: pa.RecordBatch = data, first: int = first) -> LogError:
                    row, value = first + place, data.column(at)[place].as_py()
                    return cell_error(
                        path, 0 if ragged else self.line_of(path, row), row, wanted.names[at], "int64", value
                    )

                columns[at] = whole_numbers(data.column(at), wrong, self.dialect.decimal)
            yield pa.record_batch(columns, names=wanted.names) if whole else data
            first += len(data)

    def _csv(self, stream: Any, wanted: pa.Schema | None, ragged: list[int] | None = None) -> Any:
        """Open CSV or TSV. wanted: the columns to read and their types; all if None. ragged: as `_batches` takes it."""
        left_out, parsing = [] if ragged is None else ragged, self.dialect.parsing

        def few(row: pyarrow.csv.InvalidRow) -> str:
            left_out.append(row.number or 0)
            return "skip" if len(left_out) <= 1 + left_out[-1] * _RAGGED else "error"

        if self.ragged:
            parsing.invalid_row_handler = few
        options = pyarrow.csv.ConvertOptions(
            include_columns=None if wanted is None else wanted.names,
            column_types=wanted,
            null_values=_NULLS,
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            decimal_point=self.dialect.decimal,
        )
        lines = {"column_names": self.dialect.names, "skip_rows": self.dialect.skip}  # it is UTF-8 by then
        read = pyarrow.csv.ReadOptions(use_threads=False, block_size=_BLOCK, **lines)
        return pyarrow.csv.open_csv(stream, read, parsing, options)


class _Counted:
    """A stream of text whose lines and quotes are counted as it is read."""

    def __init__(self, stream: Any) -> None:
        self.stream, self.lines, self.quotes, self.closed = stream, 0, 0, False

    def read(self, size: int = -1) -> bytes:
        block: bytes = self.stream.read(size)
        self.lines, self.quotes = self.lines + block.count(b"\n"), self.quotes + block.count(b'"')
        return block


def _json_schema(lines: bytes) -> pa.Schema:
    """Return the columns of the first lines of JSON, and their types."""

    def fits(schema: pa.Schema) -> bool:
        with suppress(pa.ArrowInvalid):
            return all(True for _ in _json_rows(lines, schema))
        return False

    try:
        found = _json_rows(lines, None)
    except pa.ArrowInvalid as error:
        found = _mixed_rows(lines, None, error)
    return json_types(found[0].schema, lines, fits)


def _mixed_rows(lines: bytes, wanted: pa.Schema | None, error: pa.ArrowInvalid) -> list[pa.RecordBatch]:
    """Read lines of JSON slowly, for a column is written in several ways: 17 and "17". wanted: as `_json_rows`.

    Raises:
        ArrowInvalid: that error, where lines are no objects; a value is not of the type of its column.
    """
    try:
        objects = rows_of(lines)
    except (ValueError, RecursionError):
        raise error from None
    if wanted is None:
        return table_of_dicts(objects).combine_chunks().to_batches()
    columns = [_in_kind([row.get(one.name) for row in objects], one) for one in wanted]
    return [pa.record_batch(columns, wanted.names)]


def _in_kind(values: list[Any], column: pa.Field) -> pa.Array:
    """Return values of JSON in the type of their column, or in one with fractions in the place of whole numbers."""
    for kind in (column.type, with_fractions(column.type)):
        try:
            return pa.array([in_kind(one, kind) for one in values], kind)
        except (pa.ArrowException, OverflowError, TypeError, ValueError, AttributeError) as error:
            wrong = error
    raise pa.ArrowInvalid(f"{wrong}, in column {column.name!r}")


def _json_rows(lines: bytes, wanted: pa.Schema | None) -> list[pa.RecordBatch]:
    """Read lines of JSON. wanted: the columns to read and their types; all if None."""
    parse = pyarrow.json.ParseOptions(wanted, unexpected_field_behavior="infer" if wanted is None else "ignore")
    found: list[pa.RecordBatch] = parsed(lines, parse).to_batches()
    return found


def _json(stream: Any, wanted: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Read the columns of JSON that are wanted; later whole numbers may have fractions among them."""
    kinds = wanted
    for lines in _lines(stream):
        try:
            found = _json_rows(lines, kinds)
        except pa.ArrowInvalid as error:
            found = _mixed_rows(lines, wanted, error)
            kinds = found[0].schema
        yield from found


def _lines(stream: Any) -> Iterator[bytes]:
    """Yield whole lines with an object each, many at a time."""
    rest, array, state = list[bytes](), None, np.zeros(3, np.int64)
    while block := stream.read(_BLOCK):
        if array is None:
            block = block.lstrip(_BLANK)
            array = block.startswith(b"[") if block else None
        if array:
            data = np.frombuffer(block, np.uint8).copy()
            _kernels_bytes.into_lines(data, state)
            block = data.tobytes()
        if end := block.rfind(b"\n") + 1:
            whole = b"".join([*rest, block[:end]])
            if whole.strip():
                yield whole
            rest = []
        rest.append(block[end:])
        if len(rest) * _BLOCK > _LONGEST:
            raise OSError(f"a line has more than {_LONGEST:,} bytes")
    if state.any():
        raise OSError("its array is not closed")
    if (last := b"".join(rest)).strip():
        yield last
