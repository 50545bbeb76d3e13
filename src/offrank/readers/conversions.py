"""Clicks and positions that are not written as numbers: times, yes and no, `#3`. Whatever the batch, the same text."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from ..errors import ColumnError
from . import arrow

Converted = Callable[[pa.Array, str], pa.Array]
YES = frozenset({"yes", "y", "true", "t", "click", "clicked", "on"})
NO = frozenset({"", "no", "n", "false", "f", "none", "null", "nan", "na", "n/a", "-", "nat", "noclick", "no_click"})
NO |= {"no click", "not clicked", "not_clicked", "unclicked", "off"}
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?")
_ORDINAL = re.compile(
    r"(?:#|no\.? ?|nr\.? ?|pos(?:ition)?[ _-]?|rank[ _-]?|slot[ _-]?)?0*(\d{1,9})(?:st|nd|rd|th|\.0*)?"
)


def clicks(column: pa.Array, name: str) -> pa.Array:
    """Return clicks as numbers; a column of numbers is returned as it is.

    Of a time, each value is a click and null is none. Of text, so is an id or a time, and `yes` and `no` are what they
    say.

    Raises:
        ColumnError: a text is none of these.
    """
    if is_time(column.type):
        return column.is_valid().cast(pa.float64())
    return _of_texts(column, name, _click, 0.0, "a click, such as yes, no, a number, or a time")


def click_lists(column: pa.Array, name: str) -> arrow.Lists:
    """Read lists of clicks as floats; a null number is NaN."""
    found = arrow.lists(column, name, pa.float64())
    return replace(found, values=arrow.numbers(clicks(found.values, name), name))


def positions(column: pa.Array, name: str) -> pa.Array:
    """Return positions as numbers: those of texts such as `01`, `1st` or `#3`. Numbers are returned as they are.

    Raises:
        ColumnError: a text is no position.
    """
    return _of_texts(column, name, _position, None, "a position, such as 1, 1st or #3")


def is_text(kind: pa.DataType) -> bool:
    """Whether a type is one of text, or of a dictionary of it."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def is_time(kind: pa.DataType) -> bool:
    """Whether a type is one of times or dates."""
    return bool(pa.types.is_temporal(kind))


def _of_texts(
    column: pa.Array, name: str, read: Callable[[str], float | None], missing: float | None, what: str
) -> pa.Array:
    """Return the number that each text stands for."""
    if not is_text(column.type):
        return column
    encoded = arrow.plain(column)
    encoded = encoded if pa.types.is_dictionary(encoded.type) else encoded.dictionary_encode()
    texts = encoded.dictionary.to_pylist()
    found = [missing if text is None else read(text.strip().lower()) for text in texts]
    odd = next((text for text, number in zip(texts, found, strict=True) if number is not None and number < 0), None)
    if odd is not None:
        raise ColumnError(f"column {name!r} holds {odd!r}, which is not {what}", "write numbers")
    numbers = pa.array(found, pa.float64()).take(encoded.indices)
    return numbers if missing is None else pc.fill_null(numbers, missing)


def _click(text: str) -> float:
    """Return the click that a text tells of; -1 if it tells of none and of no absence."""
    if text in NO or text in YES:
        return float(text in YES)
    if _NUMBER.fullmatch(text):
        return float(text)
    return 1.0 if sum(letter.isdigit() for letter in text) > 1 else -1.0


def _position(text: str) -> float | None:
    """Return the position that a text tells of, None if it is empty, -1 if it is none."""
    found = _ORDINAL.fullmatch(text)
    if found:
        return float(found[1])
    return None if text in NO else -1.0
