"""Clicks and positions that are not written as numbers: times, yes and no, the items themselves, `#3`."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..errors import ColumnError
from . import flat
from .json_text import BadCell
from .names import words_of

Converted = Callable[[pa.Array], pa.Array]
_YES, _NOTHING = words_of("YES"), {"", *words_of("NOTHING")}
_SAYS_NO = words_of("NO") | {word.replace("_", " ") for word in words_of("NO")}
_NO = _SAYS_NO | _NOTHING
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?")
_ORDINAL = re.compile(
    r"(?:#|no\.? ?|nr\.? ?|pos(?:ition)?[ _-]?|rank[ _-]?|slot[ _-]?)?0*(\d{1,9})(?:st|nd|rd|th|\.0*)?"
)


NO_POSITION = 1e9
RAW = "\0as written: "
"""What the name of a column begins with that holds the texts of which numbers were made."""


def click_numbers(column: pa.Array) -> pa.Array:
    """Return clicks as numbers; a column of numbers is returned as it is.

    Of a time, each value is a click and null is none. Of text, so is an id or a time, and `yes` and `no` are what they
    say; anything else is -1, which breaks a rule.
    """
    if pa.types.is_temporal(column.type):
        return column.is_valid().cast(pa.float64())
    return _of_texts(column, _click, 0.0)


def yes_or_no(column: pa.Array) -> pa.Array:
    """Return texts that all say yes or no as 1 and 0; any other column as it is."""
    if not is_text(column.type):
        return column
    said = pc.utf8_lower(flat.plain_column(column).cast(pa.large_string()))
    yes, no = (pc.is_in(said, pa.array(sorted(words), pa.large_string())) for words in (_YES, _SAYS_NO))
    known = bool(len(said) > said.null_count) and pc.all(pc.or_(pc.or_(yes, no), said.is_null())).as_py()
    return pc.if_else(said.is_valid(), yes.cast(pa.float64()), None) if known else column


def click_lists(column: pa.Array, name: str) -> flat.Lists:
    """Read lists of clicks as floats; a null number is NaN."""
    found = flat.lists(column, name, pa.float64())
    return replace(found, values=flat.numbers(click_numbers(found.values), name))


def clicks_from_ids(
    clicked: pa.Array, name: str, slate: pa.Array, slate_name: str
) -> tuple[flat.Lists, NDArray[np.bool_]]:
    """Return clicks beside the slate from the ids of what was clicked, and the rows [n] with one that was not shown.

    clicked: a list per row, or the only id, or ids in one text such as `a|b`; null where nothing was clicked.
    """
    clicked, shown = flat.plain_column(clicked), flat.id_lists(slate, slate_name)
    listed = pa.types.is_nested(clicked.type) or is_json(clicked)
    ways = [clicked if listed else lists_of_one(clicked)]
    if not listed and is_text(clicked.type):
        ways += [_split(clicked, between, flat.id_kind(shown.raw.type)) for between in _BETWEEN]
    elif isinstance(clicked.type, flat.LISTS) and is_text(clicked.type.value_type):  # which may say that it is none
        each = flat.lists(clicked, name)
        there = ~np.asarray(pc.fill_null(is_none(values := flat.plain_column(each.values)), False))
        ends = np.append(0, np.cumsum(there))[np.append(0, np.cumsum(each.lengths))]
        ways += [flat.lists_between(values.filter(pa.array(there)), ends)]
    begins = shown.begins
    numbers, other = np.zeros(int(shown.lengths.sum())), np.ones(len(begins), np.bool_)
    for way in ways:  # the first in which all ids of a row stand in its slate
        if not other.any():
            break
        found = flat.id_lists(way, name)
        places, outside, *_ = shown.places(found)
        fits = other & ~(outside | (found.null & (found.lengths > 0)))
        row, at = np.nonzero((places >= 0) & fits[:, None])
        numbers += np.bincount(begins[row] + places[row, at], minlength=len(numbers))
        other &= ~fits
    return replace(shown, values=numbers, starts=begins, raw=None), other


def clicks_of_items(
    clicked: pa.Array, items: pa.Array, starts: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the clicks [n] of rows of items from the ids of what was clicked, and the lists that name another item.

    clicked: in each row its own item, if that was clicked; or in each row of a list all that were clicked in it.
    starts: the first row of each list.
    """
    if pa.types.is_floating(clicked.type) and flat.id_kind(items.type) == "whole numbers":
        clicked = clicked.cast(items.type, safe=False)  # other libraries make fractions of them where some are missing
    ends, row = np.append(starts, len(items)), np.repeat(np.arange(len(starts)), np.diff(starts, append=len(items)))
    own, others = clicks_from_ids(clicked, "", flat.lists_between(items, np.arange(len(items) + 1)), "")
    shared, outside = clicks_from_ids(clicked.take(pa.array(starts)), "", flat.lists_between(items, ends), "")
    by_list = np.bincount(row, others, len(starts)) > 0
    nested = pa.types.is_nested(clicked.type)
    same = np.asarray(pc.fill_null(pc.list_value_length(clicked), 0)) if nested else flat.id_codes(clicked, "")
    differ = np.bincount(row, same != same[starts][row], len(starts)) > 0
    return np.where(by_list[row], shared.values, own.values), by_list & (outside | differ)


_BETWEEN = (r"[|]", ",", ";", r"\s+", "/", "[+]", "&", "~")
"""What may stand between ids in one text, where the whole text is no item of the slate: patterns."""


def _split(column: pa.Array, between: str, kind: str) -> pa.Array:
    """Return the parts of each text as a list, of whole numbers where ids are of that kind."""
    bare = pc.replace_substring_regex(column.cast(pa.large_string()), rf"^[\[({{\s]+|(\s|{between}|[\])}}])+$", "")
    parts = pc.split_pattern_regex(bare, between)
    values = pc.utf8_trim(parts.values, " '\"")
    if kind == "whole numbers":
        values = pc.if_else(pc.match_substring_regex(values, r"^-?\d{1,18}$"), values, None).cast(pa.int64())
    return pa.ListArray.from_arrays(parts.offsets.cast(pa.int32()), values)


def lists_of_one(column: pa.Array) -> pa.Array:
    """Return a list per value, empty where there is none: null, -1, or a text that says so."""
    column = flat.plain_column(column)
    column = pc.if_else(is_none(column), pa.scalar(None, column.type), column)
    return flat.lists_between(column.drop_null(), np.append(0, np.cumsum(~flat.nulls(column))))


def is_none(column: pa.Array) -> pa.Array:
    """Return which ids stand for none."""
    if is_text(column.type):
        return pc.is_in(pc.utf8_lower(column.cast(pa.large_string())), pa.array(sorted(_NO), pa.large_string()))
    signed = pa.types.is_signed_integer(column.type)
    return pc.equal(column, -1) if signed else pa.array(np.zeros(len(column), np.bool_))


def positions(column: pa.Array) -> pa.Array:
    """Return positions as numbers: those of texts such as `01`, `1st` or `#3`.

    Numbers are returned as they are; a text that is no position is a billion, which breaks a rule.
    """
    return _of_texts(column, _position, None)


def is_text(kind: pa.DataType) -> bool:
    """Whether a type is one of text, or of a dictionary of it."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def is_json(column: pa.Array) -> bool:
    """Whether a column holds lists in JSON."""
    if not is_text(column.type):
        return False
    first = flat.plain_column(column).drop_null().slice(0, 1).to_pylist()
    return bool(first) and first[0].lstrip().startswith("[")


def in_utf8(column: pa.Array) -> bool:
    """Whether all texts of a column are UTF-8, which those of files that others write need not be; in lists too."""
    column = flat.plain_column(column)
    if pa.types.is_dictionary(kind := column.type):
        return in_utf8(column.dictionary) or in_utf8(column.dictionary_decode())
    if pa.types.is_struct(kind):
        return all(in_utf8(column.field(place)) for place in range(kind.num_fields))
    if pa.types.is_map(kind):  # which are not flattened
        column = column.view(pa.list_(pa.struct([("key", kind.key_type), ("value", kind.item_type)])))
    if hasattr(column, "flatten"):  # lists of any type
        return "string" not in str(kind) or in_utf8(column.flatten())
    with suppress(pa.ArrowInvalid):
        return not is_text(kind) or column.validate(full=True) is None
    return False


def whole_column(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """Return a column as one array."""
    found = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return pa.concat_arrays(found.chunks) if isinstance(found, pa.ChunkedArray) else found


def some_lists(column: pa.Array, name: str, *held: pa.DataType | None) -> flat.Lists | None:
    """Return the lists of a column, those in JSON text by the first of these types that fits; None if it holds none."""
    for kind in held:
        with suppress(ColumnError, BadCell):
            return flat.lists(column, name, kind)
    return None


def expanded(data: pa.RecordBatch) -> pa.RecordBatch:
    """Return the same rows, each value of a dictionary, or of a run, where it stands."""
    coded = [pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind) for kind in data.schema.types]
    columns = [flat.plain_column(one) if each else one for one, each in zip(data.columns, coded, strict=True)]
    columns = [one.dictionary_decode() if pa.types.is_dictionary(one.type) else one for one in columns]
    return pa.record_batch(columns, names=data.schema.names)


def other_texts(texts: pa.Array, most: float = 1.0) -> pa.Array | None:
    """Return which texts are no numbers, if most are, but not this share of them or more; an empty one is null."""
    small, large = r"-0*\d{1,3}", r"\+?0*([12]?\d?\d|30[0-7])"  # the exponents of numbers that a float can hold
    fine = pc.match_substring_regex(texts, rf"^\s*[-+]?(\d+\.?\d*|\.\d+)([eE]({small}|{large}))?\s*$")
    share = pc.mean(fine).as_py()
    return pc.fill_null(pc.invert(fine), False) if share is not None and 0.5 < share < most else None


def is_number(kind: pa.DataType) -> bool:
    """Whether a type is one of whole numbers or fractions."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _of_texts(column: pa.Array, read: Callable[[str], float | None], missing: float | None) -> pa.Array:
    """Return the number that each text stands for."""
    if not is_text(column.type):
        return column
    encoded = flat.plain_column(column)
    encoded = encoded if pa.types.is_dictionary(encoded.type) else encoded.dictionary_encode()
    texts = encoded.dictionary.to_pylist()
    found = [missing if text is None else read(text.strip().lower()) for text in texts]
    numbers = pa.array(found, pa.float64()).take(encoded.indices)
    return numbers if missing is None else pc.fill_null(numbers, missing)


def _click(text: str) -> float:
    """Return the click that a text tells of; -1 if it tells of none and of no absence."""
    if text in _NO or text in _YES:
        return float(text in _YES)
    if _NUMBER.fullmatch(text):
        return float(text)
    return 1.0 if sum(letter.isdigit() for letter in text) > 1 else -1.0


def _position(text: str) -> float | None:
    """Return the position that a text tells of, None if it is empty."""
    found = _ORDINAL.fullmatch(text)
    if found:
        return float(found[1])
    return None if text in _NO else NO_POSITION
