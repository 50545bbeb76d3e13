"""The same log as strangers write it: nested, packed, numbered, in several tables, as events."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from typing import Any

from .cases import Columns, LogCase, Unwritable

Tables = list[dict[str, list[Any]]]
BESIDE = ("old", "new")
"""Roles whose lists stand beside the candidates."""
_SIMPLE = re.compile(r"[A-Za-z0-9]+")


def nested(case: LogCase) -> Tables:
    """A list of structs for each row: an item with its click and scores."""
    return [_as_structs(case.columns, [role for role in ("slate", "clicks", *BESIDE) if role in case.columns])]


def ranked(case: LogCase) -> Tables:
    """A list of structs for all candidates, in any order, with the rank of those that were shown."""
    columns, top = dict(case.columns), random.Random(case.seed).choice([1, 1, 0])
    slates, shown = lists_of(columns, "slate"), []
    for index, candidates in enumerate(lists_of(columns, "candidates")):
        slate = slates[index]
        twice = any(len({*map(repr, items)}) < len(items) for items in (candidates, slate))
        if twice or any(item not in candidates for item in slate):
            raise Unwritable("items without a rank of their own")
        at = [slate.index(item) if item in slate else None for item in candidates]
        shown.append([None if rank is None else rank + top for rank in at])
        if "clicks" in columns:
            clicks = lists_of(columns, "clicks")[index]
            _same_length(clicks, slate)
            beside = [None if rank is None else clicks[rank] for rank in at]
            columns["clicks"] = [*columns["clicks"][:index], beside, *columns["clicks"][index + 1 :]]
    columns |= {"slate": columns.pop("candidates"), "position": shown}
    return [_as_structs(columns, [role for role in ("slate", "clicks", "position", *BESIDE) if role in columns])]


def packed(case: LogCase) -> Tables:
    """One text for each row: `N1-0 N2-1`."""
    pairs = [list(zip(*_row(case, index, ("slate", "clicks")), strict=True)) for index in range(case.rows)]
    every = [pair for row in pairs for pair in row]
    several = sum(len(row) > 1 for row in pairs)
    if {click for _, click in every} != {0, 1} or not all(map(len, pairs)) or 2 * several < len(pairs):
        raise Unwritable("clicks or lists that a text does not tell")
    texts = [" ".join(f"{_simple(item)}-{int(click)}" for item, click in row) for row in pairs]
    return [{**without_roles(case, ("slate", "clicks")), "impressions": texts}]


def numbered(case: LogCase) -> Tables:
    """A column for each place: `item_1`, `item_2`, ..., `click_1`, ..."""
    roles = {"slate": "item", "clicks": "click", "old": "old", "new": "new"}
    held = {role: name for role, name in roles.items() if role in case.columns}
    rows = [dict(zip(held, _row(case, index, tuple(held)), strict=True)) for index in range(case.rows)]
    most = max(len(row["slate"]) for row in rows)
    if most < 2 or any(item is None for row in rows for item in row["slate"]):
        raise Unwritable("a single place, or an item that is none")
    ids = [item for row in rows for item in row["slate"]]
    if case.form == "pandas" and any(isinstance(item, int) and abs(item) > 2**53 for item in ids):
        raise Unwritable("numbers that a column with a hole cannot hold in pandas")
    places = {
        f"{name}_{place + 1}": [row[role][place] if place < len(row[role]) else None for row in rows]
        for role, name in held.items()
        for place in range(most)
    }
    return [{**without_roles(case, tuple(held)), **places}]


def clicked_ids(case: LogCase) -> Tables:
    """The items that were clicked beside those that were shown, as texts: numbers might be places."""
    ids = [[item for item, _ in row] for row in clicks_of(case)]
    if not any(ids) or not all(isinstance(item, str) for cell in case.columns["slate"] for item in cell):
        raise Unwritable("ids that may be places, or none")
    if all(len(some) == len(cell) for some, cell in zip(ids, case.columns["slate"], strict=True)):
        raise Unwritable("as many clicks as items")
    return [{**without_roles(case, ("clicks",)), "clicked": ids}]


def lists_and_clicks(case: LogCase) -> Tables:
    """A table of lists and one of clicks."""
    clicks = [(f"r{index}", item) for index, row in enumerate(clicks_of(case)) for item, _ in row]
    lists = {"request": [f"r{index}" for index in range(case.rows)], **without_roles(case, ("clicks",))}
    return [lists, with_strays(case, clicks, "request", "sku")]


def exposures(case: LogCase) -> Tables:
    """Lists with users, and the exposures of these users to an experiment."""
    users = [f"u{index % 3}" for index in range(case.rows)]
    exposed = [*dict.fromkeys(users), "u1", "somebody"]
    variations = {user: "ab"[len(user) % 2] for user in exposed}
    return [
        {**case.columns, "user": users},
        {
            "user_id": exposed,
            "experiment_id": ["e"] * len(exposed),
            "variation_id": [variations[user] for user in exposed],
        },
    ]


def two_tables(case: LogCase) -> Tables:
    """A row for each item that was shown, or might have been, and other rows for the clicks."""
    clicks = with_strays(case, _long_clicks(case), "impression", "item")
    if not case.told and not clicks["item"]:
        raise Unwritable("a table without rows, of which nothing says that it would be the clicks")
    return [without_roles(case, ("click",)), clicks]


def kinds(case: LogCase) -> Tables:
    """One stream of rows: what was shown, clicks, and rows of another kind."""
    shown, clicks = without_roles(case, ("click",)), with_strays(case, _long_clicks(case), "impression", "item")
    others = len(clicks["item"]) + 1
    rows: dict[str, list[Any]] = {role: [*cells, *[None] * others] for role, cells in shown.items()}
    for name, known in clicks.items():
        rows[name][case.rows : case.rows + others] = [*known, case.columns[name][0]]
    rows["event"] = ["shown"] * case.rows + ["click"] * (others - 1) + ["scroll"]
    rng = random.Random(case.seed)
    later = iter(sorted(rng.sample(range(case.rows + others), case.rows)))
    at = {row: next(later) for row in range(case.rows)}
    free = iter(sorted({*range(case.rows + others)} - {*at.values()}))
    places = {**at, **{row: next(free) for row in range(case.rows, case.rows + others)}}
    order = sorted(places, key=places.__getitem__)
    return [{role: [cells[row] for row in order] for role, cells in rows.items()}]


def composed(case: LogCase) -> Tables:
    """Impressions that are a session and a time in it."""
    ids = case.columns["impression"]
    if not all(type(one) is int and one >= 0 for one in ids):
        raise Unwritable("an impression that is no number")
    made = {"session": [f"s{one // 3}" for one in ids], "ts": [one % 3 for one in ids]}
    return [{**made, **without_roles(case, ("impression",))}]


def _as_structs(columns: Columns, inner: Iterable[str]) -> dict[str, list[Any]]:
    roles = tuple(inner)
    called = {"slate": "item", "clicks": "click"}
    names = [called.get(role, role) for role in roles]
    items = []
    for cells in zip(*(columns[role] for role in roles), strict=True):
        lists = [cell if isinstance(cell, list) else _none() for cell in cells]
        items.append([dict(zip(names, one, strict=True)) for one in _zipped(lists)])
    return {**{role: cells for role, cells in columns.items() if role not in roles}, "items": items}


def _zipped(lists: list[list[Any]]) -> list[tuple[Any, ...]]:
    for one in lists[1:]:
        _same_length(one, lists[0])
    return list(zip(*lists, strict=True))


def _row(case: LogCase, index: int, roles: tuple[str, ...]) -> list[list[Any]]:
    """Return the lists of a row, all of one length."""
    found = [lists_of(case.columns, role)[index] for role in roles]
    _zipped(found)
    return found


def lists_of(columns: Columns, role: str) -> list[list[Any]]:
    """Return the cells of a role, all of which are lists."""
    return [cell if isinstance(cell, list) else _none() for cell in columns[role]]


def _none() -> list[Any]:
    raise Unwritable("what is no list")


def _same_length(one: list[Any], other: list[Any]) -> None:
    if len(one) != len(other):
        raise Unwritable("lists of different lengths")


def _simple(item: Any) -> str:
    if item is None or not _SIMPLE.fullmatch(str(item)):
        raise Unwritable("no id, or one with a separator")
    return str(item)


def without_roles(case: LogCase, roles: tuple[str, ...]) -> dict[str, list[Any]]:
    """Return the columns of a case without those of some roles."""
    return {role: cells for role, cells in case.columns.items() if role not in roles}


def clicks_of(case: LogCase) -> list[list[tuple[Any, Any]]]:
    """Return the items of each row that were clicked, with their clicks, which are flags."""
    rows = [list(zip(*_row(case, index, ("slate", "clicks")), strict=True)) for index in range(case.rows)]
    if any(click not in (0, 1) for row in rows for _, click in row):
        raise Unwritable("a click that is no flag")
    return [[(item, click) for item, click in row if click] for row in rows]


def _long_clicks(case: LogCase) -> list[tuple[Any, Any]]:
    """Return the impression and the item of each click; an item that was not shown has none."""
    names = ("impression", "item", "position", "click")
    lines = list(zip(*(case.columns[name] for name in names), strict=True))
    if any(click not in ((None, 0) if place is None else (0, 1)) for *_, place, click in lines):
        raise Unwritable("a click that is no flag")
    return [(impression, item) for impression, item, _, click in lines if click]


def with_strays(case: LogCase, clicks: list[tuple[Any, Any]], *names: str) -> dict[str, list[Any]]:
    """Return clicks in any order, some of them twice, and one on what no impression showed."""
    rng, found = random.Random(case.seed), list(clicks)
    if found and rng.random() < 0.3:
        found += rng.sample(found, 1)
    if found and rng.random() < 0.3:
        found.append((found[0][0] if rng.random() < 0.5 else _other(found[0][0]), _other(found[0][1])))
    rng.shuffle(found)
    return {name: [pair[at] for pair in found] for at, name in enumerate(names)}


def _other(known: Any) -> Any:
    """Return an id of the same type that nothing has."""
    return "nothing has this" if isinstance(known, str) else 123_456
