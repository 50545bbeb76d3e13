"""Clicks that are written as the places of what was clicked: `clicked_index:from0` is such a column, counted from 0."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa

from . import conversions, flat
from .computed_columns import DerivedTable
from .flat import Lists
from .tables import Table

_FROM = {":from0": 0, ":from1": 1}
"""What stands behind the name of a column of places, and the number of the first place."""


def spelled(name: str, top: int) -> str:
    """Return how a column of places is named, with the number of the first place."""
    return name + next(suffix for suffix, first in _FROM.items() if first == top)


def column_of(name: str, known: tuple[str, ...]) -> str:
    """Return the column of places that a name tells of; the name itself if it is no such name."""
    base = next((name.removesuffix(suffix) for suffix in _FROM if name.endswith(suffix)), name)
    return base if name not in known and base in known else name


def clicks_of_places(table: Table, said: Mapping[str, str]) -> Table:
    """Return a table with lists of clicks beside the slate, where the column of the clicks was said to hold places."""
    name = said.get("clicks", "")
    base, slate = column_of(name, table.names), said.get("slate", "slate")
    if base == name or slate not in table.names:
        return table
    top = next(first for suffix, first in _FROM.items() if name.endswith(suffix))
    kept = {one: one for one in table.names if one != base or base in said.values()}
    return DerivedTable(table, kept, {name: ((base, slate), partial(_clicks, top))})


def place_lists(column: pa.Array, name: str) -> Lists:
    """Read places as lists of numbers, one behind the other: of one, or none where it is null, or as many as there are.

    Raises:
        ColumnError: they are no numbers.
    """
    if pa.types.is_nested(column.type) or conversions.is_json(column):
        found = flat.lists(column, name, pa.float64())
        places = found.starts[found.row] + found.place
        numbers = flat.numbers(conversions.positions(found.values), name)[places]
        return replace(found, values=numbers, starts=found.begins)
    numbers = flat.numbers(conversions.positions(column), name)
    known = ~np.isnan(numbers)
    return Lists(numbers[known], np.cumsum(known) - known, known.astype(np.int64), ~known)


def _clicks(top: int, rows: pa.RecordBatch) -> pa.Array:
    """Return lists of clicks beside the slate; a place that the slate does not have makes a click of -1."""
    places, slate = (flat.plain_column(column) for column in rows.columns)
    found = place_lists(places, rows.schema.names[0])
    shown = flat.lists(slate, rows.schema.names[1])
    begins, row, at = shown.begins, found.row, found.values - top
    clicks = np.zeros(int(shown.lengths.sum()))
    inside = (at >= 0) & (at < shown.lengths[row]) & (at % 1 == 0)
    np.add.at(clicks, begins[row[inside]] + at[inside].astype(np.int64), 1.0)
    wrong = row[~inside & ~(at < 0)]
    clicks[begins[wrong[shown.lengths[wrong] > 0]]] = -1.0
    return pa.LargeListArray.from_arrays(pa.array(np.append(begins, len(clicks)), pa.int64()), pa.array(clicks))
