"""How a text file is written: delimiter, header, quotes and encoding of CSV, told by its first lines; and its types.

Those of its columns are such that no id is changed: `007` is not 7, and 2^64 is not 1.8e19.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice, product

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from ..errors import LogError
from ..log.python_values import common_kind
from . import flat
from .file_kinds import HEAD, encoding
from .json_text import rows_of

_ROWS = 200
"""Rows that are looked at."""
_MOST = 0.9
"""The share of a column's values that must have one shape for its first value to tell a header."""
_MISSING = ("", "NA", "null", "NULL", "nan", "NaN", "None", "\\N")
_SHAPES = {
    "number": re.compile(r"[-+]?(\d+[.,]?\d*|[.,]\d+)([eE][-+]?\d+)?"),
    "time": re.compile(r"\d{4}-\d\d-\d\d([T ].*)?|\d{1,2}[/.]\d{1,2}[/.]\d{4}( .*)?"),
    "list": re.compile(r"\s*[\[{].*[\]}]\s*", re.DOTALL),
    "uuid": re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"),
}
_DECIMAL, _POINT = re.compile(r"-?\d+(,\d+)?"), re.compile(r"-?\d+\.\d+")
_ESCAPED = re.compile(r'\\"[^,;\t|\r\n]')

Rows = list[list[str]]


@dataclass(frozen=True)
class Dialect:
    r"""How a CSV file is written.

    width: the number of columns of a file without a header line, 0 with one. skip: lines before it: comments, `sep=;`.
    escaped: whether `\"` is a quote in quotes. lines: whether a quoted value holds line ends.
    """

    delimiter: str = ","
    width: int = 0
    skip: int = 0
    encoding: str = "utf-8"
    escaped: bool = False
    lines: bool = False
    decimal: str = "."

    @classmethod
    def of(cls, head: bytes, kind: str) -> Dialect:
        """Tell the dialect of a file by its first bytes. kind: `csv` or `tsv`, which settles a tie."""
        coded = encoding(head)
        if kind == "json":
            return cls(encoding=coded)
        text = head.decode(coded, "replace").lstrip("\ufeff")
        if len(head) == HEAD:
            text = text[: max(text.rfind("\n"), text.rfind("\r")) + 1] or text
        above, told, text = _above(text)
        found = told or _delimiter(text, "\t,;|" if kind == "tsv" else ",;\t|")
        above, text = _with_header(above, text, found)
        escaped = '""' not in text and _ESCAPED.search(text) is not None
        rows = _rows(text, found, escaped, whole=len(head) < HEAD)
        width = 0 if not rows or _has_header(rows) else len(rows[0])
        lines = any("\n" in cell or "\r" in cell for row in rows for cell in row)
        decimal = "," if found != "," and _has_decimal_commas(rows if width else rows[1:]) else "."
        return cls(found, width, len(above), coded, escaped, lines, decimal)

    @property
    def said(self) -> str:
        """What is unusual about the file, for its description."""
        return ", without a header line" if self.width else ""

    @property
    def names(self) -> list[str] | None:
        """The names of columns that have none."""
        return [f"column_{number + 1}" for number in range(self.width)] or None

    @property
    def parsing(self) -> pyarrow.csv.ParseOptions:
        """How lines become cells."""
        return pyarrow.csv.ParseOptions(
            delimiter=self.delimiter, escape_char="\\" if self.escaped else False, newlines_in_values=self.lines
        )


def byte_0(path: str, head: bytes, kind: str) -> LogError:
    """Return the error of the first byte 0 in the first bytes of a text, with its line; in CSV with row and column."""
    how, before = Dialect.of(head.replace(b"\0", b""), kind), head[: head.index(b"\0")].decode("utf-8", "replace")
    where, lines = f"{path}, line {before.count(chr(10)) + 1}", io.StringIO(f"{before}?", newline="")
    cut = csv.reader(
        lines, delimiter=how.delimiter, escapechar="\\" if how.escaped else None, doublequote=not how.escaped
    )
    rows = [row for row in cut if row][how.skip :]
    names, row = how.names or rows[0], len(rows) - (2 if how.names is None else 1)
    if kind != "json" and row >= 0 and len(rows[-1]) <= len(names):
        where += f", row {row} (the first is 0), column {names[len(rows[-1]) - 1]!r}"
    return LogError(f"{where}, cannot be read: it has a byte 0", "remove it, or write the file again")


def _above(text: str) -> tuple[list[str], str, str]:
    """Return the comments at the top, the delimiter if a line says it, and the rest."""
    lines = text.splitlines(keepends=True)
    if found := re.fullmatch(r"sep=(.)\s*", lines[0] if lines else ""):
        return lines[:1], found[1], "".join(lines[1:])
    last = 0
    for number, line in enumerate(lines):
        if line.startswith("#"):
            last = number + 1
        elif line.strip():
            break
    return lines[:last], "", "".join(lines[last:])


def _with_header(above: list[str], text: str, delimiter: str) -> tuple[list[str], str]:
    """Give the last comment back to the table if it has as many cells as the first row: it names the columns."""
    if not above or not above[-1].startswith("#"):
        return above, text
    first, last = _rows(text, delimiter)[:1], _rows(above[-1], delimiter)
    named = first and len(first[0]) == len(last[0]) > 1
    return (above[:-1], above[-1] + text) if named else (above, text)


def _rows(text: str, delimiter: str, escaped: bool = False, *, whole: bool = True, strict: bool = False) -> Rows:
    """Return the first rows; none if they cannot be told.

    whole: whether the text is the whole file; otherwise its last row may be cut. strict: whether a quoted cell must end
    where its quote does.
    """
    lines, escape = io.StringIO(text, newline=""), "\\" if escaped else None
    reader = csv.reader(lines, delimiter=delimiter, escapechar=escape, doublequote=not escaped, strict=strict)
    try:
        found = [row for row in islice(reader, _ROWS) if row]
    except csv.Error:
        return []
    return found if whole or len(found) < 2 or lines.read(1) else found[:-1]


def _delimiter(text: str, candidates: str) -> str:
    """Return the delimiter by which all rows have as many cells; else that by which most have as many as the first."""
    agreeing = {}
    for strict, one in product((True, False), candidates):
        widths = [len(row) for row in _rows(text, one, whole=False, strict=strict)]
        if not widths or widths[0] == 1:
            continue
        if len({*widths}) == 1:
            return one
        agreeing[one] = sum(width == widths[0] for width in widths)
    return max(agreeing, key=lambda one: agreeing[one], default=candidates[0])


def _shape(cell: str) -> str:
    return next((name for name, shape in _SHAPES.items() if shape.fullmatch(cell)), "")


def _has_header(rows: Rows) -> bool:
    """Whether the first row names the columns.

    It does not where one of its cells is a value like those below it, a number or the same text, unless another cell is
    a text above numbers.
    """
    first, below = rows[0], rows[1:]
    if len(first) > 2 and [*first] in ([*map(str, range(len(first)))], ["", *map(str, range(len(first) - 1))]):
        return True  # columns that were never named, as pandas writes them
    if not below:
        return not all(_shape(cell) for cell in first)
    values = [[row[at] for row in below if at < len(row) and row != first] for at in range(len(first))]
    told = [_tells(cell, column) for cell, column in zip(first, values, strict=True)]
    return "header" in told or "value" not in told


def _tells(cell: str, below: Sequence[str]) -> str:
    """Return `value` if a cell of the first row is like those below, `header` if they are of a shape and it is not."""
    known = [one for one in below if one not in _MISSING]
    if cell in _MISSING or not known:
        return ""
    shape, shapes = _shape(cell), [_shape(one) for one in known]
    if shape:
        return "value" if shapes.count(shape) >= _MOST * len(shapes) else ""
    if shapes.count("") < (1 - _MOST) * len(shapes):
        return "header"
    return "value" if cell in known else ""


def _has_decimal_commas(rows: Rows) -> bool:
    """Whether the numbers of a column have commas, and none in the file has a point."""
    columns = [[cell for cell in column if cell not in _MISSING] for column in zip(*rows, strict=False)]
    commas = any(all(map(_DECIMAL.fullmatch, column)) and any("," in cell for cell in column) for column in columns)
    return commas and not any(_POINT.fullmatch(cell) for column in columns for cell in column)


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
