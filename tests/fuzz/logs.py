"""Small logs that keep every rule, drawn at random, from which all cases begin."""

from __future__ import annotations

import random
from typing import Any

from .cases import Layout
from .values import ODD_TEXTS

Impression = dict[str, Any]
_OPTIONAL = ("propensity", "inclusion", "reward", "query")


def wide(rng: random.Random) -> dict[str, list[Any]]:
    """Return the columns of a log with a row per impression; all numbers are short binary fractions."""
    ids, rows = _ids(rng), rng.choice([1, 2, 3, 3, 5, 8, 12])
    found = [_impression(ids, rng) for _ in range(rows)]
    kept = [role for role in _OPTIONAL if rng.random() < (0.9 if role == "propensity" else 0.3)]
    if rng.random() < 0.15:
        for row in found:
            row["candidates"] = row["slate"]
            row["old"], row["new"] = row["old"][: len(row["slate"])], row["new"][: len(row["slate"])]
    roles = ("slate", "clicks", "candidates", *kept, "old", "new")
    return {role: [row[role] for row in found] for role in roles}


def long(rng: random.Random) -> dict[str, list[Any]]:
    """Return the columns of the same with a row per item, the impressions one after another or mixed."""
    columns = wide(rng)
    lines = [line for index in range(len(columns["slate"])) for line in _lines(columns, index, rng)]
    if rng.random() < 0.3:
        rng.shuffle(lines)
    return {role: [line[role] for line in lines] for role in lines[0]}


def draw_log(layout: Layout, rng: random.Random) -> dict[str, list[Any]]:
    """Return the columns of a log in this layout."""
    return wide(rng) if layout == "wide" else long(rng)


def _ids(rng: random.Random) -> list[Any]:
    """Return the ids of up to nine items, of one type."""
    kind, n = rng.random(), rng.choice([2, 4, 6, 9])
    if kind < 0.5:
        return rng.sample(range(1, 50), n)
    if kind < 0.65:
        return rng.sample([-(2**63), -1, 0, 1, 2, 2**31, 2**53, 2**53 + 1, 2**62, 2**63 - 2, 2**63 - 1], n)
    if kind < 0.75:
        return [f"i{number}" for number in range(n)]
    return rng.sample([text for text in ODD_TEXTS if len(text) < 50], n)


def _impression(ids: list[Any], rng: random.Random) -> Impression:
    size = rng.randint(1, min(len(ids), 5))
    slots, items = rng.randint(1, size), rng.sample(ids, size)
    slate = rng.sample(items, slots) if rng.random() < 0.5 else items[:slots]
    clicks = [rng.choice([0, 0, 1]) for _ in slate]
    return {
        "slate": slate,
        "clicks": [click * rng.choice([1, 1, 1, 2, 0.5]) for click in clicks],
        "candidates": items,
        "propensity": rng.choice([1.0, 0.5, 0.25, 0.125, 2.0**-10]),
        "inclusion": rng.choice([1.0, 0.5, 0.25]),
        "reward": rng.choice([0.0, 1.0, -2.0, 3.5]),
        "query": rng.choice(["a", "b", "c"]),
        "old": [rng.choice([0.5, 1.0, 2.0, 4.0]) for _ in items],
        "new": [rng.choice([0.25, 1.0, 2.0, 3.0]) for _ in items],
    }


def _lines(columns: dict[str, list[Any]], index: int, rng: random.Random) -> list[Impression]:
    """Return the rows of one impression, top first or in the order of its candidates."""
    row = {role: cells[index] for role, cells in columns.items()}
    ranked = {item: rank for rank, item in enumerate(row["slate"])}
    order = list(range(len(row["candidates"])))
    if rng.random() < 0.5:
        rng.shuffle(order)
    shared = {role: row[role] for role in _OPTIONAL if role in row}
    found = []
    for place in order:
        item = row["candidates"][place]
        rank = ranked.get(item)
        click = None if rank is None else row["clicks"][rank]
        position = None if rank is None else rank + 1
        scores = {name: row[name][place] for name in ("old", "new")}
        found.append({"impression": index, "item": item, "position": position, "click": click, **shared, **scores})
    return found
