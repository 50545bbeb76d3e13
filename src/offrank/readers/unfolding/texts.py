"""Which columns of text hold more than a text: told from the first rows, and only where these leave no doubt."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...log.batch import Integers
from ..conversions import some_lists, whole_column
from ..json_text import BadCell
from ..names import CALLED, closeness, words_of
from .cells import BRACKETS, NUMBER, PAIR, WHOLE, Form, Json, Tokens, as_json, as_text

_SEPARATORS = ("|", ";", ",", " ")
_BESIDE = r"['\"]\s+['\"]"
"""Two texts without a comma between them, as NumPy prints lists of them."""
_NO_TOKEN, _NEVER = r"[\[\](){}\s]|:$|[\"']\s*:", r"[^\s\S]"
_CLOCK = r"\d:\d\d"
_VARIED = 5
"""Rows of different lengths, at least, that two lists of words must have in common."""
_FEW_KEYS, _PRESENT = 200, 0.3
"""Fields of objects, at most, and how often each is there on average: others are tables by id, such as {sku: rank}."""


def text_forms(sample: pa.Table, named: Collection[str], lists: Callable[[], pa.Table]) -> dict[str, Form]:
    """Return the columns of text that are unfolded, and how they are written.

    sample: the first rows of all columns of text; lists: makes those of the columns of lists. named: columns that were
    said to be lists.
    """
    found: dict[str, Form] = {}
    packed: dict[str, _Packed] = {}
    lengths: dict[str, Integers] = {}
    for name in sample.column_names:
        column = as_text(whole_column(sample[name]))
        cells = [text.strip() for text in column.to_pylist() if text and text.strip()]
        if form := _json(cells) if cells else None:
            found[name] = form
        elif cells and (one := _packed(column, cells)) is not None:
            packed[name] = one
        elif cells and cells[0].startswith("["):
            lengths |= _lengths(column, name)
    if any(one.form.separator != " " or one.digits for one in packed.values()):
        beside = lists()
        for name in beside.column_names:
            lengths |= _lengths(whole_column(beside[name]), name)
    every = {**lengths, **{name: one.lengths for name, one in packed.items()}}
    for name, one in packed.items():
        others = [packed.get(other) for other in every if other != name and _same(every[other], one.lengths)]
        if one.sure or one.likely(others, _is_list_name(name), name in named):
            found[name] = one.form
    return found | _taken(sample, {name: one.tokens for name, one in packed.items() if name in found}, found, lists)


def _taken(
    sample: pa.Table, shown: Mapping[str, pa.Array], found: Mapping[str, Form], lists: Callable[[], pa.Table]
) -> dict[str, Form]:
    """Return the other columns that hold some ids of lists in text, such as what was clicked of those shown.

    shown: the ids in lists that are found. lists: makes the columns of lists.
    """
    plain = (name for name in sample.column_names if not isinstance(found.get(name), Json))
    cells = {name: as_text(whole_column(sample[name])) for name in plain}
    called = {name: max(closeness(role, name) for role in ("click", "used")) >= CALLED for name in cells}
    taken = [name for name in cells if called[name] or (name not in found and _is_list_name(name))]
    taken = [name for name in taken if any(_any(cells[name], re.escape(one)) for one in _SEPARATORS)]
    if taken:
        beside = lists()
        columns = {**cells, **{name: whole_column(beside[name]) for name in beside.column_names}}
        each = {name: _ids(column) for name, column in columns.items() if name not in shown}
        taken = [name for name in taken if each.get(name) is None]  # lists in JSON are read as such, with its escapes
        shown = {**shown, **{name: as_text(ids) for name, ids in each.items() if ids is not None}}
    tried = (
        (name, _taken_from(cells[name], shown[own], called[name])) for name in taken for own in shown if own != name
    )
    return {name: form for name, form in tried if form is not None}


def _ids(column: pa.Array) -> pa.Array | None:
    """Return the ids in a column of lists, or of lists in JSON; None if it holds none."""
    kind = pa.null() if (found := some_lists(column, "", None)) is None else found.values.type
    return None if found is None or pa.types.is_nested(kind) or pa.types.is_floating(kind) else found.values


def _taken_from(column: pa.Array, shown: pa.Array, few: bool) -> Tokens | None:
    """Return how a column holds some ids of lists, such as those that were clicked. few: see `Tokens`."""
    brackets = _all(column, BRACKETS)
    for separator in _SEPARATORS:
        form = Tokens(separator, _typed(shown), brackets, few=few)
        tokens = form.cut(column)[0]
        if len(tokens) and _any(column, re.escape(separator)) and pc.all(pc.is_in(tokens, shown)).as_py():
            return form
    return None


def _is_list_name(name: str) -> bool:
    words = re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()
    return not words_of("LISTED").isdisjoint(re.split("[^a-z]+", words))


def _same(one: Integers, other: Integers) -> bool:
    return len(one) == len(other) and bool((one == other).all())


def _lengths(column: pa.Array, name: str) -> dict[str, Integers]:
    """Return the lengths of lists, or of lists of text or numbers in JSON; nothing of any other column."""
    found = some_lists(column, name, pa.string(), pa.float64())
    return {} if found is None else {name: found.lengths}


@dataclass(frozen=True)
class _Packed:
    """A column that may hold lists of tokens. sure: whether its own cells prove it. lengths: [n] tokens of each row."""

    form: Tokens
    tokens: pa.Array
    lengths: Integers
    sure: bool

    @cached_property
    def digits(self) -> bool:
        """Whether every token has a digit, as ids and numbers have, and is no time of day."""
        return _all(self.tokens, r"\d") and not _any(self.tokens, _CLOCK)

    @property
    def varied(self) -> int:
        """Rows with more than one token, if they have different numbers of them."""
        several = self.lengths[self.lengths > 1]
        return len(several) if len(np.unique(several)) > 1 else 0

    def likely(self, beside: list[_Packed | None], called: bool, said: bool) -> bool:
        """Whether it holds lists, by others of the same lengths, its name, or because that was said.

        beside: those others, None for what is a list in any case. A search phrase has spaces and no digits.
        """
        if said or (called and (self.form.separator != " " or self.digits)):
            return True
        if self.form.separator == " " and not self.digits:
            return self.varied >= _VARIED and any(one is None or one.digits for one in beside)
        constant = len(self.lengths) > 1 and self.digits and int(self.lengths.max()) > 2
        fitting = [one for one in beside if one is None or one.digits or self.form.separator != " "]
        return bool(fitting) and (self.varied > 1 or constant or None in fitting)


def _packed(column: pa.Array, cells: list[str]) -> _Packed | None:
    """Return the lists of tokens in a column, if each of its cells can be one and some hold several."""
    brackets = all(re.match(BRACKETS, cell) for cell in cells)
    inner = [re.sub(BRACKETS, r"\1", cell) for cell in cells] if brackets else cells
    if (brackets and _scalars(cells)) or (not brackets and any(cell.startswith("[") for cell in cells)):
        return None  # lists in JSON, which are read by the role that they have, and what is written unlike them
    for separator in _SEPARATORS:
        several = sum(separator in cell for cell in inner)
        if (not several and separator != " ") if brackets else 2 * several < len(inner):
            continue
        form = Tokens(separator, pa.string(), brackets)
        try:
            tokens, offsets, _ = form.cut(column)
        except BadCell:
            return None
        if not len(tokens) or _any(tokens, r"^$"):
            if brackets and separator == ",":
                return None  # lists in JSON of which some are damaged
            continue
        if _any(tokens, _NO_TOKEN if brackets else r"\s" if separator == "," else _NEVER):
            return None  # a sentence, or objects
        paired = _all(tokens, PAIR) and _any(tokens, r"1$") and _any(tokens, r"0$")
        held = pc.utf8_slice_codeunits(tokens, 0, stop=-2) if paired else tokens
        form = Tokens(separator, _typed(held), brackets, paired)
        return _Packed(form, tokens, np.diff(offsets), brackets or paired)
    return None


def _typed(tokens: pa.Array) -> pa.DataType:
    if _all(tokens, WHOLE):
        return pa.int64()
    return pa.float64() if _all(tokens, NUMBER) else pa.string()


def _all(tokens: pa.Array, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(tokens, pattern)).as_py())


def _any(tokens: pa.Array, pattern: str) -> bool:
    return bool(pc.any(pc.match_substring_regex(tokens, pattern)).as_py())


def _scalars(cells: list[str]) -> bool:
    """Whether cells are lists in JSON."""
    try:
        return all(isinstance(json.loads(cell), list) for cell in cells)
    except (ValueError, RecursionError):
        return False


def _json(cells: list[str]) -> Json | None:
    """Return how cells hold objects or arrays of objects, if all do."""
    if not all(cell[0] in "[{" for cell in cells):
        return None
    for printed, read in ((False, json.loads), (True, lambda cell: json.loads(as_json(cell)))):
        if printed and any(re.search(_BESIDE, cell) for cell in cells):
            return None  # which Python would join
        try:
            values = [read(cell) for cell in cells]
            kind = pa.array(values).type
        except (ValueError, TypeError, OverflowError, RecursionError):
            continue
        inner = kind.value_type if pa.types.is_list(kind) else kind
        if pa.types.is_struct(inner):
            objects = [one for value in values for one in (value if isinstance(value, list) else [value]) if one]
            return Json(kind, printed) if _are_records(objects) else None
        return Json(kind, printed) if printed and pa.types.is_list(kind) else None
    return None


def _are_records(objects: list[Mapping[str, Any]]) -> bool:
    """Whether objects have fields, mostly the same ones, and not the ids of items."""
    keys = {key for one in objects for key in one}
    present = sum(map(len, objects)) / (max(len(objects), 1) * max(len(keys), 1))
    named = sum(bool(re.match(r"^[A-Za-z_][A-Za-z_]*$", str(key))) for key in keys)
    return bool(keys) and len(keys) <= _FEW_KEYS and present >= _PRESENT and 2 * named >= len(keys)
