"""The roles of a table with a row per item."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...errors import ColumnError
from ...log.batch import Floats, Integers
from ...log.rules import DUPLICATE
from .. import conversions, flat, names
from ..description import ClicksAs, Description
from ..json_text import BadCell
from .choice import Roles, best_named
from .columns import BY_CHANCE, FEW, Column, alike, always_falls, is_constant, like_clicks, of_values, share_of_repeats
from .runs import Positioned, positioned, runs

_NO_LISTS = "no column is an id that repeats with positions from 1 or 0"
_LOG_LISTS = "log an id for every list shown, and the position of each of its items"
_LOG_CLICKS = "log 1 or 0 for each item shown"
_NO_ITEM = "no column names the items: a value that occurs once in each list"
_LOWER = "positions in {!r} start at {} in every list, as on a second page"
_CLOSE = (
    "use gaps='close' (--gaps close) to count them from the top, but then a curve by rank does not apply to them; "
    "or log the first page too"
)
_ALONE = "no column identifies the list in which an item was shown"


def long_roles(rows: pa.Table, said: Mapping[str, str], *, closed: bool = False) -> Description:
    """Tell the roles of the columns of a long table from its first rows.

    said: those that were given. closed: whether positions are taken for an order alone, from wherever they run.
    """
    columns, roles = of_values(rows), Roles(said)
    if not {said[role] for role in ("impression", "item", "position", "click") if role in said} <= columns.keys():
        return Description("none", lacks=f"{_NO_LISTS}: {_LOG_LISTS}")
    found = runs(columns, said)
    if not found:
        return _by_names(roles, columns)
    run = _run(roles, found, columns)
    items = _items(columns, run, roles)
    if roles.choose("item", items) is None:
        twice = _twice(columns, run, roles.taken)
        lacks, instead = (twice, DUPLICATE.remedy) if twice else (_NO_ITEM, "")
        return Description("none", roles.found, lacks=lacks, instead=instead)
    lacks = _counts(columns, roles.taken)
    if not lacks and not (_clicks(roles, columns, run) or _clicked(roles, rows, columns)):
        lacks = _no_click(columns, roles.taken)
    _beside(roles, columns, run.groups)
    instead = _CLOSE if run.top > 1 and not (lacks or closed) else ""
    lacks = _LOWER.format(run.position, run.top) if instead else lacks
    return Description("long", roles.found, None, roles.notes, tuple(roles.unsettled), lacks, instead)


def _run(roles: Roles, found: list[Positioned], columns: Mapping[str, Column]) -> Positioned:
    """Choose the position, then the id of the lists."""
    places = _one_each({run.position: columns[run.position].positions for run in found}, "position")
    position = roles.choose("position", places)
    of_it = {run.impression: run for run in found if run.position == position}
    ids = [best_named("impression", same) for same in alike(columns, list(of_it))]
    run = of_it[str(roles.choose("impression", ids))]
    shown = columns[run.position]
    words = ["from 0"] if run.top == 0 else [f"from {run.top}"] if run.top > 1 else []
    words += ["in words"] if conversions.is_text(shown.data.type) else []
    none = np.unique(shown.numbers[~run.shown]) if len(shown.numbers) else ()
    words += [f"none where it is {one:.0f}" for one in none if one <= 0]
    if words:
        roles.notes["position"] = ", ".join(words)
    return run


def _items(columns: Mapping[str, Column], run: Positioned, roles: Roles) -> list[str]:
    """Return the columns that come once in each list, one of those that name the same items."""
    able = []
    for name, column in columns.items():
        if name in roles.taken or column.distinct < 2 or column.nulls[run.shown].mean() > FEW:
            continue
        twice, by_chance = share_of_repeats(column, run.groups)
        single = column.distinct == len(column.groups)  # a number of the row
        like_position = len(column.positions) and np.nanmax(column.positions) <= np.nanmax(
            columns[run.position].positions
        )
        fit = names.closeness("item", name)
        if twice <= FEW and (fit >= 2 or not (single or like_position or by_chance < BY_CHANCE)):
            able.append(name)
    if "item" in roles.said:
        return [roles.said["item"]]
    return [best_named("item", same) for same in alike(columns, able)]


def _twice(columns: Mapping[str, Column], run: Positioned, taken: set[str]) -> str:
    """Say of a column that is called an item which row has one again in its list; empty if none is, or none has."""
    for name in names.likeliest("item", (one for one in columns if one not in taken), 2):
        column, shown = columns[name], np.flatnonzero(run.shown)
        if column.distinct < 2:
            continue
        _, first = np.unique(run.groups[shown] * column.distinct + column.groups[shown], return_index=True)
        again = np.setdiff1d(np.arange(len(shown)), first)
        if len(again):
            row = int(shown[again[0]])
            where = f"{name!r} {DUPLICATE.broken} ({DUPLICATE.code}): row {row} has {column.data[row].as_py()!r} again"
            return f"{where} in its list of {run.impression!r}"
    return ""


def _clicks(roles: Roles, columns: Mapping[str, Column], run: Positioned) -> bool:
    """Give the role of the click to a column that is called so, or ask; whether any may have it."""
    if {"click", "reward"} & roles.said.keys():
        for role in ("click", "reward"):
            roles.if_sure(role, [])
        return True
    held = {
        name: _filled(column.clicks, run)
        for name, column in columns.items()
        if name not in roles.taken and len(column.clicks)
    }
    weighted = {
        name: _filled(column.numbers, run)
        for name, column in columns.items()
        if name not in {*roles.taken, *held} and names.closeness("click", name) >= 4 and (column.numbers >= 0).any()
    }  # fractions, such as clicks that count by how long they lasted
    called = {name: numbers for name, numbers in held.items() if names.closeness("click", name) >= 2} or weighted
    if called:
        ranked = sorted(called, key=lambda name: (not len(columns[name].numbers), names.order("click", name)))
        able = _one_each({name: called[name] for name in ranked}, "click")
        roles.noted("click", columns[str(roles.choose("click", able))].data.type)
        return True
    if "reward" in held and _is_of_lists(columns["reward"], run):
        roles.found["reward"] = "reward"
        return True
    flags = {name: numbers for name, numbers in held.items() if {*np.unique(numbers)} == {0.0, 1.0}}
    counts = {name: one for name, one in held.items() if names.closeness("used", name) >= 2 and _counted(one)}
    flags = flags or counts
    return roles.deed("click", flags, lambda name: _behaves(roles, held[name], name, columns, run))


def _is_of_lists(column: Column, run: Positioned) -> bool:
    """Whether each list has one value in all of its rows, also one that is not 0 in several: clicks seldom are so."""
    several = np.bincount(run.groups)[run.groups] > 1
    return is_constant(column, run.groups, 0.0) and bool(np.nan_to_num(column.numbers)[several].any())


def _counted(numbers: Floats) -> bool:
    """Whether numbers count deeds, most of which are done once, not how long one took."""
    return bool(numbers.any()) and float((numbers[numbers > 0] == 1).mean()) > 0.5


def _behaves(roles: Roles, held: Floats, name: str, columns: Mapping[str, Column], run: Positioned) -> bool:
    """Whether the only flag behaves as clicks do."""
    item = columns.get(roles.found["item"])
    if item is None or not len(item.groups):
        return False
    shown = run.shown
    places = columns[run.position].positions[shown]
    return like_clicks(name, held[shown], run.groups[shown], places, item.groups[shown])


def _no_click(columns: Mapping[str, Column], taken: set[str]) -> str:
    """Say that nothing tells what was clicked, and what stands in the way in a column that is called so."""
    for name, column in columns.items():
        if name not in taken and names.closeness("click", name) >= 3 and conversions.is_text(column.data.type):
            odd = pc.filter(column.data, pc.equal(conversions.click_numbers(column.data), -1.0))
            if len(odd):
                return (
                    f"{name!r} has the name of a click, but contains {odd[0].as_py()!r}, which is not one: "
                    f"{_LOG_CLICKS}"
                )
    return f"no column says what was clicked: {_LOG_CLICKS}"


def _counts(columns: Mapping[str, Column], taken: set[str]) -> str:
    """Return what is lacking if a row counts many impressions of an item, and its clicks."""
    free = {name: one.numbers for name, one in columns.items() if name not in taken and len(one.numbers)}
    shown = [name for name in free if names.closeness("shown", name) >= 2 and np.nanmax(free[name], initial=0.0) > 1]
    clicked = [name for name in free if names.closeness("click", name) >= 2 and np.nanmax(free[name], initial=0.0) > 1]
    for name in shown:
        if any((free[name] >= np.nan_to_num(free[click])).all() for click in clicked):
            return f"a row counts several impressions, in {name!r}: log each list shown, with its clicks"
    return ""


def _filled(numbers: Floats, run: Positioned) -> Floats:
    """Return the clicks of what was shown, 0 where there is none."""
    return np.where(run.shown, np.nan_to_num(numbers), 0.0)


def _beside(roles: Roles, columns: Mapping[str, Column], groups: Integers) -> None:
    """Give the roles of what holds for a whole list, and of logged probabilities, to columns that are called so."""
    for role in ("query", "user", "session"):
        able = [name for name, one in columns.items() if names.closeness(role, name) >= 2 and is_constant(one, groups)]
        roles.if_sure(role, [best_named(role, same) for same in alike(columns, able)], role)
    called = names.likeliest("propensity", columns, names.SURE_FIT)
    written = {name: columns[name] for name in called if pa.types.is_floating(columns[name].data.type)}
    place = columns.get(roles.found["position"]) if "position" in roles.found else None
    if place is not None:  # what lists are sorted by, or the chance to be looked at
        written = {n: one for n, one in written.items() if not always_falls(one.numbers, groups, place.positions)}
    few = {"propensity": 0.25 if groups.any() else 1.0}  # the documented name: few lists with two values are an error
    whole = {n: one.numbers for n, one in written.items() if is_constant(one, groups, few.get(n, 0.01))}
    roles.logged(whole, {name: one.numbers for name, one in written.items() if name not in whole})


def _one_each(numbers: Mapping[str, Floats], role: str) -> list[str]:
    """Return the best name of each set of columns with the same numbers, whether from 0 or from 1."""
    same: dict[bytes, list[str]] = {}
    for name, each in numbers.items():
        same.setdefault((each - (np.nanmin(each) if role == "position" else 0)).tobytes(), []).append(name)
    return [best_named(role, each) if role == "position" else each[0] for each in same.values()]


def _may_name_lists(columns: Mapping[str, Column], name: str, position: str) -> bool:
    """Whether a column may be an id of lists: a query or a session has several, and the rows do not contradict it."""
    of_several = names.closeness("query", name) >= 2 or names.closeness("session", name) >= 2
    if of_several or not len(columns[name].groups):
        return False
    return not len(columns[position].positions) or positioned(columns, name, position).possible


def _by_names(roles: Roles, columns: Mapping[str, Column]) -> Description:
    """Return what rows lack that make no lists; roles that names alone suggest are asked for."""
    for role in ("position", "impression", "item", "click"):
        free = [name for name in names.likeliest(role, columns, 3) if name not in roles.taken]
        if role == "impression" and "position" in roles.found:  # what rows contradict is not asked for
            free = [name for name in free if _may_name_lists(columns, name, roles.found["position"])]
        if role in roles.said or free:
            roles.choose(role, free[:1])
    if {"impression", "item", "position"} <= roles.found.keys():
        for role in roles.found.keys() - roles.said.keys():
            roles.ask(role, [roles.found[role]])
        return Description("long", {}, unsettled=tuple(roles.unsettled))
    alone = f"{_ALONE}, next to {roles.found['position']!r}" if "position" in roles.found else _NO_LISTS
    return Description("none", {}, lacks=f"{alone}: {_LOG_LISTS}")


def clicks_in_rows(rows: pa.Table, position: str, click: str, item: str, impression: str) -> ClicksAs:
    """Tell how the clicks of a long table are written: empty where nothing was clicked, if none of them is 0.

    As ids, if they are those of items: of the row alone, or in each row of all that were clicked in its list.
    """
    columns = of_values(rows)
    if impression in columns and item in columns and _are_items(rows, columns, click, item, impression):
        return "items"
    if click not in columns or position not in columns or not len(columns[position].positions):
        return "values"
    shown = ~np.isnan(columns[position].positions)
    found = columns[click].numbers
    known = found[~np.isnan(found)]
    return "filled" if len(found) and np.isnan(found[shown]).any() and (known > 0).all() else "values"


def _clicked(roles: Roles, rows: pa.Table, columns: Mapping[str, Column]) -> bool:
    """Give the role of the click to a column that is called so and holds ids of items; whether there is one."""
    named = (name for name in rows.column_names if name not in roles.taken and names.closeness("click", name) >= 2)
    lists = roles.found["item"], roles.found["impression"]
    if ids := [name for name in named if _are_items(rows, columns, name, *lists)]:
        roles.choose("click", ids)
        roles.notes["click"] = "the ids of clicked items"
    return bool(ids)


def _are_items(rows: pa.Table, columns: Mapping[str, Column], click: str, item: str, impression: str) -> bool:
    """Whether a column holds the ids of clicked items, and could hold no numbers of clicks."""
    column = flat.plain_column(conversions.whole_column(rows.column(click)))
    numbers = columns[click].numbers if click in columns else np.empty(0)
    if len(numbers) and np.nanmax(numbers, initial=0.0) <= 1:
        return False
    begins = np.append(True, np.diff(columns[impression].groups) != 0)
    try:
        clicks, wrong = conversions.clicks_of_items(column, columns[item].data, np.flatnonzero(begins))
    except (ColumnError, BadCell):
        return False
    return bool(clicks.any() and wrong.mean() <= (FEW if len(numbers) else 0.5))
