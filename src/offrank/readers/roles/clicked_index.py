"""Clicks that are written as the places of what was clicked: `clicked_index:from0` is such a column, counted from 0."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa

from ...log.batch import Integers
from .. import conversions, flat, names
from ..computed_columns import DerivedTable
from ..flat import Lists
from ..tables import Table
from .columns import FEW

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
    """Read places, one or a list in each row, as lists of numbers; raise a `ColumnError` if they are no numbers."""
    if pa.types.is_nested(column.type) or conversions.is_json(column):
        found = flat.lists(column, name, pa.float64())
        numbers = flat.numbers(conversions.positions(found.values), name)[found.at]
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
    return flat.lists_of(clicks, shown.lengths)


_MOST_LONG = 0.5
"""The largest share of lists of places that are as long as the list that was shown; clicks beside it always are."""
_ENOUGH = 20
"""Clicks on a place, from which on its neighbour at the end of the list is hardly without any."""


def tops_of(places: Lists, lengths: Integers, name: str) -> tuple[int, ...]:
    """Return the numbers that the first place may have, the likelier one first; none if the values are no places.

    places: what was clicked of each list. lengths: of the lists that were shown. Nothing was clicked where there is no
    place, or -1; or 0 where places count from 1.
    """
    row = places.row
    numbers, size = np.asarray(places.values, np.float64), lengths[row]
    known = numbers >= 0
    marked = bool(len(row) > known.sum() or (places.lengths == 0).any() or (places.lengths > 1).any())
    if (places.lengths == lengths).mean() > _MOST_LONG or not _are_places(numbers, size, known):
        return ()
    if not (marked or names.closeness("position", name) >= 1):
        return ()
    numbers, size = numbers[known], size[known]
    few = FEW * len(numbers)
    zeros, ends = (numbers == 0).sum(), (numbers == size).sum()
    possible = [top for top, wrong in ((1, zeros if marked else 0), (0, ends)) if wrong <= few]
    if len(possible) < 2:
        return tuple(possible)
    first, last = (numbers == 1).sum(), (numbers == size - 1).sum()  # beside the ends
    unlikely = {0: not zeros and first >= _ENOUGH, 1: not ends and last >= _ENOUGH}
    likely = [top for top in possible if not unlikely[top]]
    return tuple(likely) if len(likely) == 1 else tuple(possible)


def _are_places(numbers: np.ndarray, size: Integers, known: np.ndarray) -> bool:
    """Whether numbers are places in lists of these sizes, of which there are several, beside -1 for none."""
    if not known.any() or (numbers[~known] != -1).any() or np.isinf(numbers).any() or (numbers % 1 != 0).any():
        return False
    return bool((numbers[known] > size[known]).mean() <= FEW and len(np.unique(numbers[known])) > 1)
