"""The columns of the first rows of a table, measured: their kinds, their distinct values, and how they group rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ...errors import ColumnError
from ...log.batch import Floats, Integers
from ...log.python_values import as_arrow
from ...log.schema import LONG_ROLES, ROLES
from .. import conversions, flat
from ..names import closeness, group_columns

Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Column:
    """The first values of a column that holds one value per row."""

    name: str
    data: pa.Array

    @cached_property
    def nulls(self) -> Flags:
        """Which values are missing [n]."""
        found = np.array(flat.nulls(self.data))
        return found | np.isnan(self.numbers) if pa.types.is_floating(self.data.type) else found

    @cached_property
    def numbers(self) -> Floats:
        """The values as numbers [n]; none [0] of what is no number."""
        kind = self.data.type
        if conversions.is_text(kind) or pa.types.is_temporal(kind) or kind in flat.TEXTS:
            return np.empty(0)
        return flat.numbers(self.data, self.name)

    @cached_property
    def groups(self) -> Integers:
        """The number of the group of equal values that each row belongs to [n], in the order of their first rows.

        None [0] of fractions and times, which tell no rows apart.
        """
        kind = self.data.type
        if pa.types.is_temporal(kind) or pa.types.is_floating(kind) or pa.types.is_null(kind):
            return np.empty(0, np.int64)
        return by_first(flat.id_codes(self.data, self.name))

    @property
    def distinct(self) -> int:
        """How many values are distinct; 0 of fractions and times."""
        return int(self.groups.max(initial=-1)) + 1

    @cached_property
    def chance(self) -> float:
        """The probability that two rows have the same value."""
        return float(((np.bincount(self.groups) / max(len(self.groups), 1)) ** 2).sum())

    @cached_property
    def positions(self) -> Floats:
        """The values as positions, small whole numbers, NaN where there is none or -1 [n]; none [0] of others."""
        if pa.types.is_boolean(self.data.type) or pa.types.is_null(self.data.type):
            return np.empty(0)
        try:
            found = self.numbers if len(self.numbers) else flat.numbers(conversions.positions(self.data), self.name)
        except ColumnError:
            return np.empty(0)
        found = np.where(found == -1, np.nan, found)
        known = found[~np.isnan(found)]
        small = len(known) and known.min() >= 0 and known.max() <= _DEEPEST and (known % 1 == 0).all()
        return found if small else np.empty(0)

    @cached_property
    def clicks(self) -> Floats:
        """The values as clicks [n], NaN where there is none; none [0] of what can hold none."""
        try:
            found = self.numbers if len(self.numbers) else flat.numbers(conversions.click_numbers(self.data), self.name)
        except ColumnError:
            return np.empty(0)
        known = found[~np.isnan(found)]
        if not len(known) or known.min() < 0 or np.isinf(known).any() or (known % 1 != 0).any():
            return np.empty(0)
        few = (found > 0).mean() <= _MOST_CLICKED if known.max() > 1 or not len(self.numbers) else True
        return found if few else np.empty(0)


FEW, BY_CHANCE = 0.01, 5.0
"""The largest share of rows, or lists, that may break a rule; and how many repeats there would be by chance, at least,
where shape alone is believed.
"""
_DEEPEST = 1000
"""The largest number that may be a position."""
_MOST_CLICKED = 0.7
"""The largest share of rows with a time, a text or a count that may be a click."""


def like_probabilities(numbers: Floats) -> bool:
    """Whether numbers are probabilities, but for a few and those that are missing, which a rule then names."""
    known = numbers[~np.isnan(numbers)]
    return bool(len(known) and ((known > 0) & (known <= 1)).mean() >= _PROBABLE)


def like_draws(numbers: Floats, place: Integers, left: Integers) -> bool:
    """Whether numbers are the probabilities of items that were drawn: on average, 1 / p is how many were left.

    place, left: the place of each item in its list, and how many candidates were left for it.
    """
    if not (like_probabilities(numbers) and (numbers > 0).all()):
        return False
    ratio = 1 / numbers / np.maximum(left, 1)
    each = [ratio[place == one] for one in np.unique(place)]
    return all(abs(one.mean() - 1) <= _ERRORS * one.std() / len(one) ** 0.5 + _ROUNDING for one in each)


def fall_by_one(numbers: Floats, row: Integers) -> bool:
    """Whether numbers are the probabilities of items drawn one after another: on average, 1 / p falls by 1."""
    if not (like_probabilities(numbers) and (numbers > 0).all()):
        return False
    steps = (1 / numbers[:-1] - 1 / numbers[1:])[row[:-1] == row[1:]]
    error = _ERRORS * steps.std() / len(steps) ** 0.5 + _ROUNDING if len(steps) else 1.0
    return bool(error < 1 and abs(steps.mean() - 1) <= error)


_ERRORS, _ROUNDING = 4, 1e-6
_PROBABLE = 0.95
"""The least share of known numbers in (0, 1] where a column holds probabilities."""


def of_values(rows: pa.Table) -> dict[str, Column]:
    """Return the columns of a table that hold one value per row, by name."""
    found = {}
    for name in rows.column_names:
        column = flat.plain_column(conversions.whole_column(rows.column(name)))
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        if not (pa.types.is_nested(kind) or pa.types.is_decimal(kind) or pa.types.is_null(kind)):
            found[name] = Column(name, column)
    return found


def by_first(codes: Integers) -> Integers:
    """Number equal codes alike, in the order of their first rows."""
    return flat.as_numpy(as_arrow(codes).dictionary_encode().indices).astype(np.int64)


def is_constant(column: Column, groups: Integers, most: float = 0.01) -> bool:
    """Whether a column has one value within each group. most: the share of rows that may have another."""
    if not len(column.groups):
        values = np.nan_to_num(column.numbers, nan=-1.0)
        codes = by_first(values.view(np.int64)) if len(values) else column.groups
    else:
        codes = column.groups
    if not len(codes):
        return False
    first = np.zeros(int(groups.max(initial=-1)) + 1, np.int64)
    first[groups[::-1]] = codes[::-1]
    return bool((codes != first[groups]).mean() <= most)


def share_of_repeats(column: Column, groups: Integers) -> tuple[float, float]:
    """Return the share of groups in which a value comes twice, and as many as chance would make."""
    pairs, often = np.unique(groups * (column.distinct + 1) + column.groups, return_counts=True)
    twice = np.unique(pairs[often > 1] // (column.distinct + 1))
    sizes = np.bincount(groups)
    sizes = sizes[sizes > 0]
    by_chance = float((sizes * (sizes - 1) / 2).sum() * column.chance)
    return len(twice) / max(len(sizes), 1), by_chance


def always_falls(numbers: Floats, groups: Integers, places: Floats | Integers) -> bool:
    """Whether numbers hardly ever rise down a list, as scores do that lists are sorted by. groups: the list of each."""
    known = ~(np.isnan(numbers) | np.isnan(places))
    numbers, groups, places = numbers[known], groups[known], places[known]
    order = np.lexsort((places, groups))
    inside = np.diff(groups[order]) == 0
    steps = np.diff(numbers[order])[inside]
    falls = steps < 0
    return bool(len(steps) >= _FEWEST_STEPS and (steps <= 0).mean() >= 0.99 and falls.mean() > 0.5)


_FEWEST_STEPS = 20
"""Steps down lists, at least, that show that they are sorted."""


_ELSEWHERE = ("outcome", "shown", "propensity", "position", "item", "impression", "user", "session", "query", "time")
"""Roles by whose words no click is called."""


def like_clicks(name: str, numbers: Floats, lists: Integers, places: Floats | Integers, items: Integers) -> bool:
    """Whether a flag is one of clicks by its values, each of which is beside an item in a place of a list.

    It must be called nothing else. What a user did is set for fewer than half of the items, less often further down,
    and now and then for the same item or in the same place; what was seen is set from the top to some place.
    """
    if any(closeness(role, name) >= 1 for role in _ELSEWHERE) or not {*np.unique(numbers)} <= {0.0, 1.0}:
        return False
    places = places - places.min(initial=0)
    flags = numbers > 0
    own = [_share_told(flags, by_first(each)) for each in (items, places.astype(np.int64))]
    return _falls(flags, places) and max(own) <= _TOLD and not _from_the_top(flags, lists, places)


def _falls(flags: Flags, places: Floats | Integers) -> bool:
    """Whether a flag is set for less than half, in places that are higher than others by more than chance."""
    if not 0 < flags.mean() < 0.5 or flags.sum() < _FEWEST:
        return False
    above, below = places[flags], places[~flags]
    error = np.sqrt(above.var() / len(above) + below.var() / len(below))
    return bool(above.mean() - below.mean() < -_DEVIATIONS * error)


def _share_told(flags: Flags, groups: Integers) -> float:
    """Return the share of a flag's variance that groups tell beyond chance; 1 if it has none, or few share a group."""
    sizes = np.bincount(groups)
    shared = sizes[groups] >= _SHARED
    if shared.mean() < 0.5 or not (variance := float(flags[shared].var())):
        return 1.0
    means = np.bincount(groups, flags) / sizes
    within = float(((flags - means[groups])[shared] ** 2).sum()) / (shared.sum() - (sizes >= _SHARED).sum())
    return 1 - within / variance


def _from_the_top(flags: Flags, lists: Integers, places: Floats | Integers) -> bool:
    """Whether lists with several set flags have them at the top, without a gap, as what was seen has."""
    often = np.bincount(lists, flags)
    last = np.zeros(len(often))
    np.maximum.at(last, lists[flags], places[flags])
    several = often > 1
    return bool(several.sum() >= _FEWEST and (last[several] < often[several]).mean() > _AT_THE_TOP)


_FEWEST, _SHARED = 20, 5
"""The least number of flags that are set, and of rows with the same item."""
_DEVIATIONS = 4.0
"""How many standard errors the places of what is set must be higher."""
_TOLD = 0.5
"""The largest share of the variance of a click that its item or its place tells."""
_AT_THE_TOP = 0.9
"""The share of lists in which what is set is all at the top, if it was only seen."""


def alike(columns: Mapping[str, Column], names: list[str]) -> list[list[str]]:
    """Put names of columns together that tell the same rows apart."""
    found: dict[bytes, list[str]] = {}
    for name in names:
        found.setdefault(columns[name].groups.tobytes(), []).append(name)
    return list(found.values())


def groups_of(
    names: tuple[str, ...], said: Mapping[str, str], read: Callable[[tuple[str, ...]], pa.Table], *, of_items: bool
) -> dict[str, str]:
    """Return role -> column for `query`, `user` and `session`, as their names and first values tell.

    They are for clusters alone: `auto` takes the `user_id` of a table of lists as it does where events are joined.

    names: of all columns. said: the roles that were given. read: returns the first rows of some columns.
    of_items: whether a row is an item, so that a value is repeated on each row of an impression; a column that is not
    told no impressions apart.
    """
    used = {*said.values(), *((ROLES.keys() | LONG_ROLES.keys()) - said.keys())}
    found = {role: name for role, name in group_columns(names, used).items() if role not in said}
    if not found:
        return {}
    impression = said.get("impression", "impression") if of_items else None
    rows = read(tuple(dict.fromkeys([*found.values(), *([impression] if impression else [])])))
    codes = {name: _codes(rows, name) for name in rows.column_names}
    lists = None if impression is None else codes[impression]
    return {role: name for role, name in found.items() if _tells(codes[name], lists, one_list=impression is None)}


def _codes(rows: pa.Table, name: str) -> Integers | None:
    """Return the codes of a column of ids [n]; None of lists, fractions and the like."""
    column = flat.plain_columns(rows.select([name]).combine_chunks().to_batches()[0]).column(0) if len(rows) else None
    if column is None or pa.types.is_nested(column.type) or pa.types.is_boolean(column.type):
        return None
    if pa.types.is_floating(column.type):  # integers become floats if some of them are missing
        numbers = flat.numbers(column, name)
        known = numbers[~np.isnan(numbers)]
        return numbers.view(np.int64) if (known == np.floor(known)).all() else None
    try:
        return flat.id_codes(column, name)
    except ColumnError:
        return None


def _tells(codes: Integers | None, lists: Integers | None, *, one_list: bool) -> bool:
    """Whether a column holds ids, each the same on all rows of an impression. one_list: whether a row is a list."""
    if codes is None or one_list:
        return codes is not None
    if lists is None:
        return False
    order = np.argsort(lists, kind="stable")
    lists, codes = lists[order], codes[order]
    return not bool(((lists[1:] == lists[:-1]) & (codes[1:] != codes[:-1])).any())
