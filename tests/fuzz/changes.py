"""Changes to a case: odd cells, lists, rows, columns, names and types. Some break a rule, others change nothing."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from offrank.log.schema import LONG_ROLES, ROLES

from . import forms
from .cases import LogCase
from .values import ODD_NAMES, ODD_NUMBERS, ODD_TEXTS

Change = Callable[[LogCase, random.Random], LogCase]
_NUMERIC = ("clicks", "click", "propensity", "inclusion", "reward", "old", "new", "position")
_IDS = ("slate", "candidates", "item", "impression", "query")
_LONGEST = 10_000


def changed(case: LogCase, rng: random.Random) -> LogCase:
    """Return a case with up to four changes."""
    for _ in range(rng.choice([0, 1, 1, 1, 2, 2, 3, 4])):
        change = rng.choices(list(CHANGES), list(CHANGES.values()))[0]
        after = change(case, rng)
        if after is not case:
            case = replace(after, changed=(*case.changed, change.__name__))
    return case


def odd_cell(case: LogCase, rng: random.Random) -> LogCase:
    """Put an odd value into one cell, or one place of its list."""
    if not case.rows:
        return case
    role, row = _place(case, rng, (*_NUMERIC, *_IDS))
    odd = rng.choice(ODD_TEXTS) if rng.random() < (0.7 if role in _IDS else 0.05) else rng.choice(ODD_NUMBERS)
    cell = case.columns[role][row]
    if not isinstance(cell, list):
        return _with_cell(case, role, row, odd)
    if not cell:
        return case
    at = rng.randrange(len(cell))
    return _with_cell(case, role, row, [*cell[:at], odd, *cell[at + 1 :]])


def odd_list(case: LogCase, rng: random.Random) -> LogCase:
    """Make a list shorter, longer, empty, null, repeated or reversed."""
    lists = [role for role in case.columns if role in ("slate", "clicks", "candidates", "old", "new")]
    if case.layout != "wide" or not lists or not case.rows:
        return case
    role, row = rng.choice(lists), rng.randrange(case.rows)
    held = case.columns[role][row]
    cell = held if isinstance(held, list) else []
    options = [None, [], cell[:-1], cell[1:], cell + cell[:1], cell[:1] * len(cell), cell[::-1], [cell] if cell else []]
    return _with_cell(case, role, row, rng.choice(options))


def odd_column(case: LogCase, rng: random.Random) -> LogCase:
    """Drop a column, or fill it with one value, null or not."""
    role = rng.choice(list(case.columns))
    columns = dict(case.columns)
    cells = columns.pop(role)
    how = rng.random()
    if how < 0.3 and columns:
        return replace(case, columns=columns)
    value = None if how < 0.7 else rng.choice([*ODD_NUMBERS, *ODD_TEXTS]) if how < 0.9 else cells[0] if cells else None
    return replace(case, columns={**case.columns, role: [value] * len(cells)})


def further_column(case: LogCase, rng: random.Random) -> LogCase:
    """Add a column that nobody reads."""
    name = rng.choice(
        [name for name in ODD_NAMES if name not in {*case.columns, *case.names.values(), *ROLES, *LONG_ROLES}]
    )
    pool = rng.choice([ODD_NUMBERS[:10], ODD_TEXTS, (None,), ([1], [], None), ("a", "b"), (1.5, None)])
    return replace(case, columns={**case.columns, name: [rng.choice(pool) for _ in range(case.rows)]})


def odd_name(case: LogCase, rng: random.Random) -> LogCase:
    """Call a column by an odd name."""
    role = rng.choice(list(case.columns))
    name = rng.choice([name for name in ODD_NAMES if name not in case.columns and name not in case.names.values()])
    return replace(case, names={**case.names, role: name})


def odd_type(case: LogCase, rng: random.Random) -> LogCase:
    """Write a column in another type of Arrow's."""
    return replace(case, types={**case.types, rng.choice(list(case.columns)): rng.choice(list(forms.TYPES))})


def other_rows(case: LogCase, rng: random.Random) -> LogCase:
    """Repeat, reorder, or keep but a few of the rows, or none."""
    n = case.rows
    orders = [[], [0], list(range(n)) * 2, list(range(n))[::-1], rng.sample(range(n), rng.randint(0, n))]
    order = [row for row in rng.choice(orders) if row < n]
    return replace(case, columns={role: [cells[row] for row in order] for role, cells in case.columns.items()})


def long_slate(case: LogCase, rng: random.Random) -> LogCase:
    """Give one row of a wide log a slate of many items."""
    if case.layout != "wide" or not case.rows or not {"slate", "clicks", "candidates"} <= case.columns.keys():
        return case
    most = _LONGEST if case.question in ("read", "convert") else 200
    n, row = rng.choice([30, 200, most]) if rng.random() < 0.2 else 30, rng.randrange(case.rows)
    text = any(
        isinstance(item, str) for cell in case.columns["slate"] for item in (cell if isinstance(cell, list) else ())
    )
    items: list[Any] = [f"n{item}" for item in range(n)] if text else list(range(n))
    new = {
        "slate": items,
        "clicks": [0] * n,
        "candidates": items,
        "old": [1.0] * n,
        "new": [float(i) for i in range(n)],
    }
    for role in new.keys() & case.columns.keys():
        case = _with_cell(case, role, row, new[role])
    return case


def other_ids(case: LogCase, rng: random.Random) -> LogCase:
    """Give all items odd ids, one to one: nothing else may change."""
    roles = [role for role in ("slate", "candidates", "item") if role in case.columns]
    cells = [cell for role in roles for cell in case.columns[role]]
    known = {item for cell in cells for item in (cell if isinstance(cell, list) else [cell]) if _hashable(item)}
    pools: list[list[Any]] = [list(ODD_TEXTS), [2**64 - 1 - i for i in range(60)], [-(2**63) + i for i in range(60)]]
    pool = rng.choice(pools)
    if len(known) > len(pool):
        return case
    ids = dict(zip(sorted(known, key=repr), rng.sample(pool, len(known)), strict=True))

    def moved(cell: Any) -> Any:
        if isinstance(cell, list):
            return [ids[item] if _hashable(item) else item for item in cell]
        return ids[cell] if _hashable(cell) else cell

    return replace(case, columns={**case.columns, **{role: [*map(moved, case.columns[role])] for role in roles}})


CHANGES: dict[Change, float] = {
    odd_cell: 5,
    odd_list: 2,
    odd_column: 1,
    further_column: 1,
    odd_name: 1,
    odd_type: 3,
    other_rows: 1,
    long_slate: 0.3,
    other_ids: 1,
}
"""Every change, and how often it is drawn."""


def _hashable(item: Any) -> bool:
    return item is not None and not isinstance(item, list)


def _place(case: LogCase, rng: random.Random, roles: tuple[str, ...]) -> tuple[str, int]:
    """Return a cell of these columns."""
    return rng.choice([role for role in case.columns if role in roles] or [*case.columns]), rng.randrange(case.rows)


def _with_cell(case: LogCase, role: str, row: int, value: Any) -> LogCase:
    cells = list(case.columns[role])
    if row >= len(cells):
        return case
    cells[row] = value
    return replace(case, columns={**case.columns, role: cells})
