"""Types of the columns of text files, such that no id is changed: `007` is not 7, and 2^64 is not 1.8e19."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from ..errors import LogError
from ..log.python_values import common_kind
from . import flat
from .json_text import rows_of

_MANY_DIGITS = re.compile(rb"(?<![\d.])\d{19}")
"""Of a whole number: what has decimals is no id."""
_FAULT = re.compile(
    r"In CSV column #(\d+): Row #(\d+): CSV conversion error to (\w+): (?:invalid value '(.*)'|.*)", re.DOTALL
)
_WIDTH = re.compile(r"CSV parse error: Row #(\d+): Expected (\d+) columns, got (\d+)")
_OBJECT = re.compile(r"JSON parse error: (.*?)\.? in row (\d+)$")
_OBJECTS = "save one object per line, or an array of objects, in UTF-8, with one kind of value in each column"
_ONE_KIND = "use the same kind of value in every row of a column; the first megabyte determines the kind"
_AS_TEXT = "write the numbers without them, or have them in one of the first rows: the column is then read as text"
_UTF8 = "save the file in UTF-8, for example with `iconv -f latin1 -t utf-8`"
_CELLS = "correct the row: quote cells that contain the delimiter, and write every cell, even an empty one"
_KINDS = {
    "null": "empty cells",
    "int64": "whole numbers",
    "double": "numbers",
    "bool": "true and false",
    "string": "text in UTF-8",
}


def csv_type(kind: pa.DataType, texts: pa.Array) -> pa.DataType:
    """Return the type of a column that looks like `kind` from its first texts: text if numbers would change them."""
    if pa.types.is_temporal(kind) or pa.types.is_null(kind):  # later rows may have values
        return pa.string()
    if not (pa.types.is_int64(kind) or pa.types.is_floating(kind)):
        return kind
    known = texts.drop_null()

    def some(pattern: str) -> bool:
        return bool(pc.any(pc.match_substring_regex(known, pattern)).as_py())

    changed = some(r"^\s*[+-]?0\d") or some(r"^\s*\+\d+\s*$")
    whole = pa.types.is_floating(kind) and (some(r"^\s*\d+[eE]\d+\s*$") or not some(r"[^\d\s+-]"))
    words = pa.types.is_floating(kind) and len(known) and not some(r"\d")  # ids such as "NaN"
    return pa.string() if changed or words or (whole and len(known)) else kind


def whole_numbers(texts: pa.Array, wrong: Callable[[int], LogError], point: str = "") -> pa.Array:
    """Return texts as whole numbers. wrong: makes the error for the place of a text that its number would change.

    point: before decimals, if some may have any; they are fractions then.
    """
    with suppress(pa.ArrowInvalid):
        found = texts.cast(pa.int64())
        if pc.all(pc.equal(found.cast(texts.type), texts), min_count=0).as_py():
            return found
    texts = pc.utf8_trim_whitespace(texts)
    plain = pc.fill_null(pc.match_substring_regex(texts, r"^(0|-?[1-9]\d{0,18})$"), True)
    at = pc.index(plain, False).as_py()
    if at < 0:
        return texts.cast(pa.int64())
    if point and (found := _fractions(texts, point)) is not None:
        return found
    raise wrong(at)


def _fractions(texts: pa.Array, point: str) -> pa.Array | None:
    """Return trimmed texts as numbers, of which some have decimals; None if a number would change any.

    Whole numbers among them have at most 15 digits: of longer ones a fraction holds no more.
    """
    point = re.escape(point)
    whole, part = r"-?(0|[1-9]\d{0,14})", rf"-?(0|[1-9]\d*)?{point}\d+([eE][-+]?\d+)?"
    if not pc.all(pc.match_substring_regex(texts, f"^({whole}|{part})$")).as_py():
        return None
    return pc.replace_substring_regex(texts, point, ".").cast(pa.float64())


def json_types(schema: pa.Schema, lines: bytes, fits: Callable[[pa.Schema], bool]) -> pa.Schema:
    """Return the types of JSON columns: times as text, and whole numbers of 2^63 as such, of more digits as text.

    lines: the first block. fits: whether it can be read by a schema.
    """
    untimed = partial(flat.retyped, changed=lambda leaf: pa.string() if pa.types.is_temporal(leaf) else leaf)
    unsigned = partial(flat.retyped, changed=lambda leaf: pa.uint64() if pa.types.is_floating(leaf) else leaf)
    schema = pa.schema([field.with_type(untimed(field.type)) for field in schema])
    if _MANY_DIGITS.search(lines):
        for at, field in enumerate(schema):
            wide = schema.set(at, field.with_type(unsigned(field.type)))
            if wide != schema:
                try:
                    kind = (
                        wide.field(at).type
                        if fits(wide)
                        else common_kind([row.get(field.name) for row in rows_of(lines)])
                    )
                except ValueError as error:
                    raise pa.ArrowInvalid(f"an object does not stand in one line: {error}") from error
                schema = schema.set(at, field.with_type(kind))
    return schema


def with_fractions(kind: pa.DataType) -> pa.DataType:
    """Return a type that holds fractions where it had whole numbers."""
    return flat.retyped(kind, lambda leaf: pa.float64() if leaf == pa.int64() else leaf)


@contextmanager
def naming(path: str, names: list[str], before: int, line_of: Callable[[int], int], first: int = 0) -> Iterator[None]:
    """Say the errors of the CSV reader with the row, from 0, and the column. before: lines before the first row.

    line_of: the line of a row. first: the row from which on those of JSON are counted.

    Raises:
        LogError: a value is not of its column's type, or a row has more or fewer cells than the first.
    """
    try:
        yield
    except pa.ArrowInvalid as error:
        if found := _FAULT.search(str(error)):
            column, row, kind, value = found.groups()
            at = int(row) - before - 1
            raise cell_error(path, line_of(at), at, names[int(column)], kind, value) from error
        if found := _WIDTH.search(str(error)):
            row, wanted, cells = map(int, found.groups())
            at = row - before - 1
            said = f"{_place(path, line_of(at), at)}, cannot be read as CSV: it has {cells} cells"
            raise LogError(f"{said}, but the first line has {wanted}", _CELLS) from error
        if found := _OBJECT.search(str(error)):
            at = first + int(found[2])
            raise LogError(f"{_place(path, line_of(at), at)}, cannot be read as JSON: {found[1]}", _OBJECTS) from error
        raise


def _place(path: str, line: int, row: int) -> str:
    return f"{path}, line {line}, row {row} (the first is 0)" if line else f"{path}, row {row} (the first is 0)"


def cell_error(path: str, line: int, row: int, column: str, kind: str, value: str | None) -> LogError:
    """Return the error for a cell that is not of its column's type; value: None if it is no UTF-8."""
    where = f"{_place(path, line, row)}, column {column!r}, cannot be read as CSV"
    if value is None:
        return LogError(f"{where}: its bytes are not UTF-8", _UTF8)
    if kind == "int64" and re.fullmatch(r"\s*[+-]?\d{1,18}\s*", value):
        return LogError(
            f"{where}: {value!r} is among whole numbers, but has zeros or signs that would be lost", _AS_TEXT
        )
    shown = "".join(letter if letter.isprintable() else "?" for letter in value[:80])
    return LogError(f"{where}: {shown!r} is among {_KINDS.get(kind, kind)}", _ONE_KIND)
