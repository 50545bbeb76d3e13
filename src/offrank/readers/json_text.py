"""Values of JSON as columns: lists that are texts, as in CSV, and rows that are read one by one."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from itertools import accumulate
from typing import Any

import pyarrow as pa
import pyarrow.json

_NULL, _IN_QUOTES = re.compile(rb"\s*n"), re.compile(rb'"(?:[^"\\]|\\.)*"?')
_DEEPEST = 500
"""Brackets within one another that a value in JSON may have; beyond some 10,000 Arrow's parser ends the process."""

ONE_KIND = 'write each list as JSON, [1, 2] or ["a", "b"], with the same kind of value in the whole column'


class BadCell(Exception):  # noqa: N818  it never leaves the readers
    """An unreadable value of a column: its `index` in the column, what is wrong, and the remedy.

    alone: whether the rest of the column can be read without it, and not only because it is read as something else.
    """

    def __init__(self, index: int, name: str, wrong: str, remedy: str, *, alone: bool = True) -> None:
        super().__init__(index, name, wrong, remedy)
        self.index, self.name, self.wrong, self.remedy, self.alone = index, name, wrong, remedy, alone


def parsed(lines: bytes, how: pyarrow.json.ParseOptions) -> pa.Table:
    """Read lines of JSON, an object each.

    Raises:
        ArrowException: they are none, or so deep that Arrow's parser would end the process, or begin with null, which
            would end it too.
    """
    if _NULL.match(lines):
        raise pa.ArrowInvalid("a row is null, not an object")
    long = (one for one in lines.split(b"\n") if len(one) > _DEEPEST)
    if any(one.count(b"[") + one.count(b"{") > _DEEPEST and _depth(one) > _DEEPEST for one in long):
        raise pa.ArrowInvalid(f"a value has more than {_DEEPEST} nested brackets")
    read = pyarrow.json.ReadOptions(use_threads=False, block_size=len(lines) + 1)
    return pyarrow.json.read_json(pa.BufferReader(lines), read, how)


def _depth(line: bytes) -> int:
    """Return the most brackets that are open at once in a line, but for those in texts."""
    return max(accumulate((one in b"[{") - (one in b"]}") for one in _IN_QUOTES.sub(b"", line)), default=0)


def rows_of(lines: bytes) -> list[Mapping[str, Any]]:
    """Read lines of JSON slowly; raise a `ValueError` if one is no object."""
    rows = [json.loads(line) for line in lines.splitlines() if line.strip()]
    if not all(isinstance(one, dict) for one in rows):
        raise ValueError("a row is no object")
    return rows


def from_json(column: pa.Array, name: str, held: pa.DataType | None) -> pa.Array:
    """Parse lists that were written as JSON text."""
    if column.null_count == len(column) > 0:  # ids of no kind
        return pa.nulls(len(column), pa.list_(held or pa.null()))
    texts = [b"null" if text is None else text for text in column.cast(pa.large_binary()).to_pylist()]
    if held is None:
        held = pa.string() if any(b'"' in text for text in texts) else pa.int64()
    lines = b"\n".join(b'{"":%s}' % text.replace(b"\n", b" ") for text in texts)
    parse = pyarrow.json.ParseOptions(pa.schema({"": pa.list_(held)}), unexpected_field_behavior="error")
    with suppress(pa.ArrowException, UnicodeDecodeError):
        found = parsed(lines, parse) if texts else pa.table({"": []})
        if found.num_rows == len(texts):
            return found.column(0).combine_chunks().cast(pa.list_(held))
    raise _bad_text(texts, name, held)


def _bad_text(texts: list[bytes], name: str, held: pa.DataType) -> BadCell:
    """Describe the error in the first text that is not a list of such values."""
    wanted: tuple[type, ...] = (list,) if pa.types.is_list(held) else (int, float)
    wanted = {pa.string(): (str,), pa.int64(): (int,)}.get(held, wanted)
    for index, text in enumerate(texts):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return BadCell(index, name, "is not a JSON list", ONE_KIND)
        fine = value is None or (isinstance(value, list) and all(one is None or type(one) in wanted for one in value))
        large = fine and held == pa.int64() and any(abs(one or 0) >= 1 << 63 for one in value or ())
        if not fine or large:
            return BadCell(index, name, f"is not a list of {held} like the others", ONE_KIND, alone=not large)
    return BadCell(0, name, f"or a later one is not a list of {held}", ONE_KIND)
