"""Columns of one place each, `item_1`, `item_2` and `click_1`, `click_2`, as columns of lists."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import pyarrow as pa

from ...errors import ColumnError
from .. import flat, names
from ..computed_columns import Computed, DerivedTable
from ..conversions import is_number
from ..tables import Table, once_only

_NUMBERED = re.compile(r"(.*?)[ _.-]?0*([0-9]+)([ _.-]?[A-Za-z_]*)")
_ROLES = ("item", "position", "slate", "click")


def in_lists_by_number(table: Table) -> Table:
    """Return a table with lists in the place of numbered columns, if some are called items and others, or one, clicks.

    A place without an item has no value in any list. The same table if it has no such columns.
    """
    groups = _by_number(table.names)
    items = [name for name in groups if _called_either("item", "slate", name)]
    clicks = [name for name in groups if _called_either("click", "used", name) and name not in items]
    others = [name for name in groups if name not in clicks]
    items = others if not items and len(others) == 1 else items  # what is clicked, whatever it is called
    called = [{role for role in _ROLES if names.closeness(role, one) >= names.CALLED} for one in table.names]
    of_items = any(roles - {"click"} for roles in called)  # then a row is one, or has its list
    named = any(names.closeness(role, one) for one in items for role in _ROLES)
    placed = named and any(map(names.called_as_place, table.names))
    beside = clicks or (not of_items and (placed or any("click" in roles for roles in called)))
    if len(items) != 1 or not beside or once_only(table):
        return table
    shown = groups[items[0]]
    alike = {name: group for name, group in groups.items() if len(group) == len(shown) and name not in table.names}
    if not {items[0], *clicks[:1]} <= alike.keys():
        return table
    computed: dict[str, Computed] = {
        name: (tuple(dict.fromkeys((*group, *shown))), partial(_gathered, group, shown))
        for name, group in alike.items()
    }
    taken = {column for group in alike.values() for column in group}
    return DerivedTable(table, {name: name for name in table.names if name not in taken}, computed, len(shown))


def _called_either(role: str, other: str, name: str) -> bool:
    return max(names.closeness(role, name), names.closeness(other, name)) >= names.SURE_FIT


def _by_number(columns: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
    """Return the columns that differ in a number from 1 or from 0 alone, in its order, by the rest of their names."""
    found: dict[str, dict[int, str]] = {}
    for name in columns:
        if one := _NUMBERED.fullmatch(name):
            found.setdefault((one[1] + one[3]).strip(" _.-"), {})[int(one[2])] = name
    whole = {
        rest: by_number
        for rest, by_number in found.items()
        if rest and len(by_number) > 1 and sorted(by_number) in _from_the_top(len(by_number))
    }
    return {rest: tuple(by_number[at] for at in sorted(by_number)) for rest, by_number in whole.items()}


def _from_the_top(length: int) -> list[list[int]]:
    return [list(range(top, top + length)) for top in (0, 1)]


def _gathered(group: Sequence[str], shown: Sequence[str], rows: pa.RecordBatch) -> pa.Array:
    """Return the values of the columns of a group as lists, without the places that have no item."""
    there = np.column_stack([~flat.nulls(flat.plain_column(rows.column(name))) for name in shown])
    columns = [flat.plain_column(rows.column(name)) for name in group]
    columns = columns if group == shown else _as_numbers(columns)
    kind = [column.type for column in columns]
    plain = pa.float64() if all(is_number(one) or pa.types.is_null(one) for one in kind) else pa.string()
    common = kind[0] if len({*kind}) == 1 else plain
    try:
        values = pa.concat_arrays([column.cast(common) for column in columns])
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        kinds = " with ".join(dict.fromkeys(map(str, kind)))
        mixed = "whole numbers beyond 2^53 with fractions" if pa.types.is_floating(common) else kinds
        said = f"{group[0]!r} to {group[-1]!r} mix {mixed}"
        raise ColumnError(said, "write these columns in one type") from None
    order = np.arange(len(values)).reshape(len(group), len(rows)).T[there]
    found = values.take(pa.array(order))
    return flat.lists_of(_as_ids(found) if group == shown else found, there.sum(axis=1))


def _as_numbers(columns: list[pa.Array]) -> list[pa.Array]:
    """Return texts as numbers beside numbers: text is also the type of a place that no list of the first block has."""
    if not any(is_number(column.type) for column in columns):
        return columns
    try:
        return [one.cast(pa.float64()) if pa.types.is_string(one.type) else one for one in columns]
    except pa.ArrowInvalid:
        return columns


def _as_ids(values: pa.Array) -> pa.Array:
    """Return whole numbers as integers: with places that have no item, other libraries make fractions of them."""
    if not pa.types.is_floating(values.type):
        return values
    try:
        return values.cast(pa.int64())
    except pa.ArrowInvalid:  # fractions, which are no ids
        return values
