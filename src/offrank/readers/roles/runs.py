"""Lists in a long table: an id that repeats, and a small whole number that runs from 1 or 0 inside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...log.batch import Integers
from .. import names
from .columns import BY_CHANCE, FEW, Column, Flags, by_first


@dataclass(frozen=True, eq=False)
class Positioned:
    """An id with its positions. groups: the list of each row [n]; shown: rows with a position.

    top: where lists begin: 0 or 1, or below where they are read so.

    begins: the share of lists that begin at the top. whole: the share without gaps. twice: the share of lists that
    have a position twice, and by_chance: how many would have one if the positions were dealt to the rows at random.
    lower: the position at which most lists begin, and begins_lower: the share that does; 0 where that is the top.
    """

    impression: str
    position: str
    groups: Integers
    shown: Flags
    top: int
    begins: float
    whole: float
    twice: float
    by_chance: float
    lower: int = 0
    begins_lower: float = 0.0

    @property
    def possible(self) -> bool:
        """Whether the rows do not contradict it."""
        return self.twice <= FEW

    @property
    def named(self) -> bool:
        """Whether both names say it."""
        return names.closeness("position", self.position) >= 2 and names.closeness("impression", self.impression) >= 2

    @property
    def certain(self) -> bool:
        """Whether this cannot well be chance, or both names say it."""
        least = _BEGIN_NAMED if self.named else _BEGIN
        return self.possible and self.begins >= least and (self.named or self.by_chance >= BY_CHANCE)

    @property
    def below(self) -> bool:
        """Whether all lists begin at one position below the top, without a gap, as those of a second page do."""
        clear = self.lower and min(self.begins_lower, self.whole) >= _BEGIN and self.by_chance >= BY_CHANCE
        return bool(self.possible and self.named and clear)


_BEGIN, _BEGIN_NAMED = 0.9, 0.5
"""The least share of lists that begin at the top; where rows are missing, names must tell."""


def runs(columns: Mapping[str, Column], said: Mapping[str, str]) -> list[Positioned]:
    """Return the pairs of an id and a position that make lists, the clearest of each position."""
    able = [said["position"]] if "position" in said else _positions(columns)
    ids = [said["impression"]] if "impression" in said else [name for name in columns if _may_be_id(columns[name])]
    free = {*said.values()} - {said.get("position"), said.get("impression")}
    every = [
        positioned(columns, impression, position)
        for position in able
        for impression in ids
        if not {position, impression} & free and position != impression
    ]
    found = [run for run in every if run.certain]
    if not any(run.named for run in found):
        found = [replace(run, top=run.lower, begins=run.begins_lower) for run in every if run.below] or found
    if not {"position", "impression"} & said.keys():
        found = [one for one in found if not any(_is_turned(one, other, columns) for other in found)]
    return [run for position in able for run in _clearest([one for one in found if one.position == position])]


def _is_turned(one: Positioned, other: Positioned, columns: Mapping[str, Column]) -> bool:
    """Whether the other pair is the same turned round, and likelier: numbered lists run within each position too.

    Where names do not tell, lists are many and positions few.
    """
    if (one.impression, one.position) != (other.position, other.impression):
        return False
    if one.named != other.named:
        return other.named
    return columns[other.position].distinct < columns[one.position].distinct


def _positions(columns: Mapping[str, Column]) -> list[str]:
    """Return the columns that may hold positions; one called an item only if another is, too, or if it is a number."""
    able = [name for name, one in columns.items() if _may_be_position(one)]
    items = {name for name in columns if names.closeness("item", name) >= 2}
    counted = {name for name in items if names.parts(name)[-1:] in (["no"], ["num"], ["number"])}  # as `card_no`
    placed = {name for name in items if names.closeness("position", name) >= 2}
    return able if len(items) > 1 else [name for name in able if name not in items - counted - placed]


def _may_be_position(column: Column) -> bool:
    """Whether a column may hold positions: small whole numbers that are not called a click."""
    if not len(column.positions):
        return False
    known = column.positions[~np.isnan(column.positions)]
    few = known.max() - known.min() < 2  # as clicks have
    return names.closeness("position", column.name) >= 2 or not (few or names.closeness("click", column.name) >= 2)


def _may_be_id(column: Column) -> bool:
    """Whether a column may tell lists apart: it is no time and no fraction, and hardly ever missing."""
    single = column.distinct == len(column.groups) and names.closeness("impression", column.name) < 2
    return column.distinct > 1 and not single and bool(column.nulls.mean() <= FEW)


def positioned(columns: Mapping[str, Column], impression: str, position: str) -> Positioned:
    """Measure how well an id and positions make lists."""
    groups, places = columns[impression].groups, columns[position].positions
    places = places if len(groups) else places[:0]  # fractions tell no lists apart
    shown = ~np.isnan(places) if len(places) else np.zeros(len(groups), np.bool_)
    if len(places) and (places == 0).sum() > columns[impression].distinct:  # those of what was not shown
        shown &= places > 0
    within, place = by_first(groups[shown]), places[shown[: len(places)]].astype(np.int64)
    if not len(place):
        return Positioned(impression, position, groups, shown, 1, 0.0, 0.0, 1.0, 0.0)
    sizes = np.bincount(within)
    low, high = np.full(len(sizes), place.max()), np.zeros(len(sizes), np.int64)
    np.minimum.at(low, within, place)
    np.maximum.at(high, within, place)
    top = int((low == 0).mean() <= 0.5)
    pairs, often = np.unique(within * (place.max() + 1) + place, return_counts=True)
    twice = len(np.unique(pairs[often > 1] // (place.max() + 1))) / len(sizes)
    chance = ((np.bincount(place) / len(place)) ** 2).sum()
    by_chance = float((sizes * (sizes - 1) / 2).sum() * chance)
    whole = float((high - low + 1 == sizes).mean())
    begins, lower = float((low == top).mean()), int(np.bincount(low).argmax())
    below = (lower, float((low == lower).mean())) if lower > 1 else (0, 0.0)
    return Positioned(impression, position, groups, shown, top, begins, whole, twice, by_chance, *below)


def _clearest(found: Sequence[Positioned]) -> list[Positioned]:
    """Return the runs of a position that are as clear as any other."""
    least = min((run.twice for run in found), default=0.0)
    clear = [run for run in found if run.twice <= least + 0.001]
    most = max((run.begins * run.whole for run in clear), default=0.0)
    return [run for run in clear if run.begins * run.whole >= most - 0.02]
