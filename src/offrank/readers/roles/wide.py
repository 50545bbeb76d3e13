"""The roles of a table with a row per impression, and lists in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...errors import ColumnError
from ...log.batch import Booleans, Floats
from ...log.rules import DUPLICATE
from ...log.schema import LONG_ROLES, ROLES
from ...wording import ColumnNames, Wording
from .. import conversions, flat, names
from ..conversions import NO_POSITION, lists_of_one
from ..description import ClicksAs, Description, Unsettled
from ..flat import Lists
from ..json_text import ONE_KIND, BadCell
from .choice import Roles
from .clicked_index import place_lists, spelled, tops_of
from .columns import FEW, always_falls, by_first, fall_by_one, like_clicks, like_draws, of_values
from .long import long_roles

_NO_SLATE = "no column contains lists of distinct ids: the items shown"
_NOT_IDS = "column 'slate' does not contain a list of distinct ids in each row: the items shown"
_NO_CLICKS = "no list says which items of the slate were clicked: log 1 or 0 for each item shown"
_FEW_CLICKED = 3.0
"""The largest mean number of ids in a list of what was clicked."""
_RANKINGS = 4
"""Lists beside the slate of which two may have been merged."""
_PAIR = 2
"""Places that clicks may fill as positions do."""


@dataclass(frozen=True, eq=False)
class ListColumn:
    """The first rows of a column of lists."""

    name: str
    lists: Lists

    @cached_property
    def ids(self) -> Lists | None:
        """The lists as ids, None if they are none."""
        kind = self.lists.values.type
        none = pa.types.is_floating, pa.types.is_nested, pa.types.is_temporal, pa.types.is_boolean, pa.types.is_null
        if any(of(kind) for of in none):
            return None
        codes = flat.id_codes(self.lists.values, self.name)
        return replace(self.lists, values=codes, raw=self.lists.values)

    @cached_property
    def numbers(self) -> Floats:
        """The values of all lists as clicks or other numbers; none [0] of anything else."""
        try:
            return flat.numbers(conversions.click_numbers(self.lists.values), self.name)
        except ColumnError:
            return np.empty(0)

    @property
    def distinct(self) -> bool:
        """Whether the ids of a list are distinct, and not all lists are the same few numbers."""
        return self.ids is not None and bool(self.ids.places(self.ids).twice.mean() <= FEW)

    @property
    def names_things(self) -> bool:
        """Whether the values are texts, most of which are no places."""
        kind, numbers = self.lists.values.type, conversions.positions(self.lists.values)
        return conversions.is_text(kind) and bool((pc.mean(pc.equal(numbers, NO_POSITION)).as_py() or 0) > FEW)

    def within(self, other: ListColumn) -> bool:
        """Whether the ids of each list stand in the other's list."""
        inside = self.inside(other)
        return inside is not None and bool(inside.all(axis=1).mean() >= 1 - FEW)

    def inside(self, other: ListColumn) -> Booleans | None:
        """Which ids of each list stand in the other's [n, k], and what is beyond the list; None of other ids."""
        own, others = self.ids, other.ids
        if own is None or others is None or flat.id_kind(own.raw.type) != flat.id_kind(others.raw.type):
            return None
        found = others.places(own).found
        return (found >= 0) | (np.arange(found.shape[1]) >= own.lengths[:, None])

    @property
    def few(self) -> bool:
        """Whether most lists are short or empty, as those of what was clicked."""
        return bool(self.lists.lengths.mean() <= _FEW_CLICKED)

    def beside(self, other: ListColumn) -> bool:
        """Whether the lists have the lengths of another's."""
        return bool((self.lists.lengths == other.lists.lengths).mean() >= 1 - FEW)


def roles_of(rows: pa.Table, said: Mapping[str, str], *, closed: bool = False) -> Description | None:
    """Tell the roles of the columns of a table in the layout that fits best; None if none has the roles that were said.

    closed: as `long_roles` takes it.
    """
    found = [long_roles(rows, said, closed=closed)] if said.keys() <= {*LONG_ROLES, "position"} else []
    found += [wide_roles(rows, said)] if said.keys() <= {*ROLES, "position"} else []
    # What can be read comes first, then what is known to be wrong, and settled.
    return min(
        found, key=lambda one: (one.lacks > "", not one.instead, one.unsettled > (), -len(one.roles)), default=None
    )


def wide_roles(rows: pa.Table, said: Mapping[str, str]) -> Description:
    """Tell the roles of the columns of a wide table from its first rows. said: those that were given."""
    lists, roles = _lists(rows), Roles(said)
    clicks = [name for name, one in lists.items() if _may_be_clicks(one)]
    ids = {name: one for name, one in lists.items() if _may_be_slate(one)}
    clicked = _clicked(_single(rows) | lists, ids)
    ids = {name: one for name, one in ids.items() if name not in clicked}
    slate = _slate(roles, ids, [lists[name] for name in clicks])
    own = not {"slate"} & {slate, *said, *said.values(), *ids} and _is_listed(rows, "slate")  # then no other is it
    if slate is None or own:
        twice = _twice({"slate": lists["slate"]} if own and "slate" in lists else lists)
        lacks, instead = (twice, DUPLICATE.remedy) if twice else (_NOT_IDS, ONE_KIND) if own else (_NO_SLATE, "")
        return Description("none", {}, lacks=lacks, instead=instead)
    if slate not in lists:
        return Description("none", {}, lacks=f"column {slate!r} does not contain lists of ids, the items shown")
    shown = lists[slate]
    places = {} if any(map(_runs, lists.values())) else _places(rows, shown)
    if said.get("clicks") in places and _ask_top(roles, said["clicks"], places):
        lacks = ""
    elif "clicks" in said or "reward" in said:
        for role in ("clicks", "reward"):
            roles.if_sure(role, [])
        lacks = ""
    else:
        lacks = _clicks(roles, lists, shown, clicks, [name for name, one in clicked.items() if one.within(shown)])
        lacks = lacks and _clicks_of_places(roles, places, lacks)
        inside = [name for name, one in (_single(rows) | lists).items() if lacks and _may_be_clicked(one, shown)]
        if inside:
            roles.ask("clicks", inside)
        lacks = "" if not lacks or inside or roles.rewarded(of_values(rows)) else lacks
    _position(roles, lists, shown)
    if "candidates" not in said:
        pool = [name for name, one in ids.items() if _is_pool(one, shown)]
        roles.if_sure("candidates", [name for name in pool if name not in roles.taken])
        free = [one for name, one in ids.items() if one is not shown and name not in roles.taken]
        roles.candidates_of_two({one.name: shown.inside(one) for one in free[:_RANKINGS]})
    _beside(roles, lists, shown, rows)
    return Description("wide", roles.found, None, roles.notes, tuple(roles.unsettled), lacks)


def _is_listed(rows: pa.Table, name: str) -> bool:
    """Whether a column holds lists, readable or not, or nothing at all."""
    column = rows.column(name) if name in rows.column_names else pa.chunked_array([], pa.null())
    nothing = column.null_count == len(column) > 0
    return nothing or pa.types.is_nested(column.type) or any(map(conversions.is_json, column.chunks))


def _lists(rows: pa.Table) -> dict[str, ListColumn]:
    """Return the columns of lists."""
    found = {}
    for name in rows.column_names:
        column = conversions.whole_column(rows.column(name))
        column = flat.plain_column(column) if pa.types.is_run_end_encoded(column.type) else column
        kind = column.type
        listed = pa.types.is_nested(kind) and hasattr(kind, "value_type") and not pa.types.is_map(kind)
        if not (listed or conversions.is_json(column)):
            continue
        read = conversions.some_lists(column, name, None, pa.float64())
        if read is not None and not pa.types.is_nested(read.values.type):
            found[name] = ListColumn(name, read)
    return found


def _may_be_slate(one: ListColumn) -> bool:
    """Whether lists may be what was shown: distinct ids, hardly ever none, that are not called something else."""
    other = [role for role in ("position", "click") if names.closeness(role, one.name) >= 2]
    called = names.closeness("slate", one.name) >= 2 or not other or (other == ["position"] and one.names_things)
    return called and one.distinct and bool((one.lists.lengths == 0).mean() <= FEW)


def _may_be_clicks(one: ListColumn) -> bool:
    """Whether lists may hold clicks: whole numbers, most of them 0, or a name that says it."""
    known = one.numbers[~np.isnan(one.numbers)]
    if not len(known) or known.min() < 0:
        return False
    counts = bool(np.isfinite(known).all() and (known % 1 == 0).all())
    deeds = names.closeness("used", one.name) >= 2 and float((known > 0).mean()) <= _MOSTLY
    return (counts and (known.max() <= 1 or deeds)) or names.closeness("click", one.name) >= 2


_MOSTLY = 0.7
"""The largest share of items that people do something with, where it is counted."""


def _slate(roles: Roles, ids: Mapping[str, ListColumn], beside: list[ListColumn]) -> str | None:
    """Choose the list that was shown: clicks stand beside it, and candidates contain it."""
    if "slate" in roles.said:
        return roles.choose("slate", [])
    ids = {name: one for name, one in ids.items() if name != "candidates" or "slate" not in ids}  # as they are called
    beside = [one for one in beside if names.closeness("click", one.name) >= 2] or beside
    clicked = [name for name, one in ids.items() if any(each.beside(one) and each is not one for each in beside)]
    able = clicked or list(ids)
    smaller = [name for name in able if not any(_is_pool(ids[name], ids[one]) for one in able)]
    return roles.choose("slate", smaller or able)


def _twice(lists: Mapping[str, ListColumn]) -> str:
    """Say of lists that are called what was shown which row has an item twice; empty if none are, or none has."""
    called = [one for name, one in lists.items() if names.closeness("slate", name) >= 2 and one.ids is not None]
    for one in sorted(called, key=lambda one: names.order("slate", one.name)):
        assert one.ids is not None
        for row in np.flatnonzero(one.ids.places(one.ids).twice)[:1].tolist():
            shown = one.lists.values.slice(one.lists.starts[row], one.lists.lengths[row]).to_pylist()
            item = next(each for place, each in enumerate(shown) if each in shown[:place])
            return f"{one.name!r} {DUPLICATE.broken} ({DUPLICATE.code}): row {row} has {item!r}"
    return ""


def _is_pool(pool: ListColumn, shown: ListColumn) -> bool:
    """Whether lists contain the shown ones and more."""
    more = pool.lists.lengths.sum() > shown.lists.lengths.sum()
    return pool is not shown and bool(more) and shown.within(pool)


def _single(rows: pa.Table) -> dict[str, ListColumn]:
    """Return columns of one id per row as lists of one, empty where there is none."""
    found = {name: one.data for name, one in of_values(rows).items() if len(one.groups)}
    return {name: ListColumn(name, flat.lists(lists_of_one(data), name)) for name, data in found.items()}


def _position(roles: Roles, lists: Mapping[str, ListColumn], shown: ListColumn) -> None:
    """Give the role of the position to a list beside the slate that tells of another order, by shape or by name."""
    beside = {n: one for n, one in lists.items() if one is not shown and one.beside(shown) and not _counts(one)}
    called = {name: one for name, one in beside.items() if names.closeness("position", name) >= 2}
    whole = (one.distinct and one.ids and flat.id_kind(one.ids.raw.type) == "whole numbers" for one in called.values())
    few = (_runs(one, least=1) for one in called.values())  # of all candidates, one or two may have been shown
    named = [name for name, fit, run in zip(called, whole, few, strict=True) if fit or run]
    running = [n for n, one in beside.items() if _runs(one) and n not in roles.taken and (one.ids or n in called)]
    if running and (not named or {*named} & {*running}):
        roles.choose("position", running)
        return
    roles.if_sure("position", named)  # a score of a short log may run, too


def _runs(one: ListColumn, least: int = 2 * (_PAIR + 1)) -> bool:
    """Whether the numbers of each list are 1, 2, 3 or 0, 1, 2 in some order, beside those that are missing.

    least: how many numbers lists of more than a pair must have together: a single list of scores may run by chance.
    """
    if len(one.numbers) != len(row := one.lists.row):
        return False
    known = ~np.isnan(one.numbers)
    numbers, row = one.numbers[known], row[known]
    order, counts = np.lexsort((numbers, row)), np.bincount(row, minlength=len(one.lists.starts))
    off = numbers[order] - np.arange(len(order)) + np.repeat(np.cumsum(counts) - counts, counts)
    clear = bool(len(off)) and int(counts[counts >= min(least, _PAIR + 1)].sum()) >= least
    return clear and off[0] in (0, 1) and float(np.mean(off == off[0])) >= 1 - FEW


def _counts(one: ListColumn) -> bool:
    """Whether lists are 1, 2, 3 or 0, 1, 2, so that they tell nothing."""
    at = one.lists.place
    return len(one.numbers) == len(at) and any((one.numbers - at == top).all() for top in (0, 1))


def _clicked(found: Mapping[str, ListColumn], ids: Mapping[str, ListColumn]) -> dict[str, ListColumn]:
    """Return the columns that hold what was clicked of another list, by their values and names."""
    called = {
        name: one
        for name, one in found.items()
        if one.ids is not None
        and (names.closeness("click", name) >= 1 or names.closeness("used", name) >= 1)
        and names.closeness("position", name) < 2
    }
    return {
        name: one
        for name, one in called.items()
        if one.few and any(one.within(each) for other, each in ids.items() if other != name and not each.beside(one))
    }


def _may_be_clicked(one: ListColumn, shown: ListColumn) -> bool:
    """Whether ids of the slate, one or few, may be what was clicked, though they are not called so."""
    few = one.ids is not None and one.few and not one.beside(shown)
    return few and bool(one.lists.lengths.any()) and one.within(shown)


def _clicks(
    roles: Roles, lists: Mapping[str, ListColumn], shown: ListColumn, clicks: list[str], clicked: list[str]
) -> str:
    """Give the role of the clicks, or ask; return what is lacking."""
    able = [name for name in clicks if name not in roles.taken and lists[name].beside(shown)]
    called = [name for name in able if names.closeness("click", name) >= 2 or name == "clicks"]
    if called:
        roles.noted("clicks", lists[str(roles.choose("clicks", called, words="click"))].lists.values.type)
    elif clicked:
        if any(names.closeness("click", name) for name in clicked) or not roles.only("clicks", clicked, "used"):
            roles.choose("clicks", clicked, words="click", least=1)
        roles.notes["clicks"] = "the ids of clicked items"
    else:
        flags = {name: lists[name].numbers for name in able}
        roles.deed("clicks", flags, lambda name: _behaves(lists[name], shown))
    return "" if able or clicked else _NO_CLICKS


def _behaves(one: ListColumn, shown: ListColumn) -> bool:
    """Whether flags beside the slate behave as clicks do."""
    if shown.ids is None or not (one.lists.lengths == shown.lists.lengths).all():
        return False
    return like_clicks(one.name, np.nan_to_num(one.numbers), one.lists.row, one.lists.place, by_first(shown.ids.values))


def tops_said(rows: pa.Table, slate: str, clicks: str) -> tuple[int, ...]:
    """Return the numbers that the first place may have in a column that was said to tell clicks; none if it may not."""
    shown, single = _lists(rows.select([slate])).get(slate), _single(rows.select([clicks]))
    if shown is None or any(one.within(shown) for one in single.values()):
        return ()
    return _places(rows, shown).get(clicks, ())


def _places(rows: pa.Table, shown: ListColumn) -> dict[str, tuple[int, ...]]:
    """Return the columns that hold places of the slate that were clicked, and which numbers the first may have."""
    found = {}
    for name in filter(names.called_as_place, rows.column_names):
        column = conversions.whole_column(rows.column(name))
        try:
            tops = tops_of(place_lists(flat.plain_column(column), name), shown.lists.lengths, name)
        except (ColumnError, BadCell):
            continue
        if tops:
            found[name] = tops
    return found


def _clicks_of_places(roles: Roles, places: Mapping[str, tuple[int, ...]], lacks: str) -> str:
    """Give the role of the clicks to a column of places, or ask; return what is lacking."""
    free = [name for name in places if name not in roles.taken]
    if len(free) > 1:
        ways = [spelled(name, top) for name in free for top in places[name]]
        roles.ask("clicks", ways)
    elif free and not _ask_top(roles, free[0], places):
        roles.choose("clicks", [spelled(free[0], places[free[0]][0])])
        roles.notes["clicks"] = "the positions of clicked items"
    return "" if free else lacks


def _ask_top(roles: Roles, name: str, places: Mapping[str, tuple[int, ...]]) -> bool:
    """Ask from which number the places in a column count, if that is open; whether it is."""
    if len(places[name]) == 1:
        return False
    ways = tuple(Wording("{}", ColumnNames({"clicks": spelled(name, top)})) for top in places[name])
    tops = " or ".join(map(str, places[name]))
    roles.unsettled.append(Unsettled(f"whether positions in {name!r} count from {tops}", ways))
    return True


def _beside(roles: Roles, lists: Mapping[str, ListColumn], shown: ListColumn, rows: pa.Table) -> None:
    """Give the roles of values of the row, and of logged probabilities, to columns that are called so."""
    single = of_values(rows)
    for role in ("query", "user", "session"):
        roles.if_sure(role, [name for name in single if names.closeness(role, name) >= 2])
    logged = {name: one.numbers for name, one in single.items() if pa.types.is_floating(one.data.type)}
    listed = {
        name: one.numbers
        for name, one in lists.items()
        if pa.types.is_floating(one.lists.values.type)
        and one.beside(shown)
        and not always_falls(one.numbers, one.lists.row, one.lists.place)  # as predictions do that lists are sorted by
    }
    roles.logged(logged, listed)
    pool = lists.get(roles.found["candidates"]) if "candidates" in roles.found else None
    able = [name for name in listed if names.parts(name)[-1:] == ["p"] and "slot_propensity" not in roles.found]
    if len(able) == 1:
        numbers, row, place = listed[able[0]], shown.lists.row, shown.lists.place
        left = None if pool is None else pool.lists.lengths[row] - place
        if fall_by_one(numbers, row) if left is None else like_draws(numbers, place, left):
            roles.choose("slot_propensity", able)


def clicks_in_lists(rows: pa.Table, slate: str, clicks: str) -> ClicksAs:
    """Tell how the clicks of a wide table are written: as ids if they are no lists, or if they stand in the slate."""
    column = rows.column(clicks)
    if pa.types.is_null(column.type):
        return "values"
    if not (pa.types.is_nested(column.type) or conversions.is_json(column)):
        return "items"
    lists = _lists(rows)
    shown, found = lists.get(slate), lists.get(clicks)
    if shown is None or found is None:
        return "values"
    known = found.numbers[~np.isnan(found.numbers)]
    longer = float((found.lists.lengths > shown.lists.lengths).mean())
    flags = len(known) and known.max() <= 1 and (longer > FEW or not found.distinct)  # of which some rows are ragged
    ids = found.ids is not None and not (flags or found.beside(shown))
    if ids and (found.within(shown) or (found.numbers == -1).any()):
        return "items"  # or texts that are no clicks
    return "filled" if len(known) < len(found.numbers) and (known > 0).all() else "values"
