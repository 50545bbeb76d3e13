"""What the answer to a case must be: its log judged in plain Python, cell by cell, with none of the library."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from offrank.log.schema import LONG_ROLES, ROLES

from .cases import LONG_LAYOUT, WIDE_ROLES, LogCase
from .values import is_number

Standing = Literal["fine", "broken", "open"]
"""A row keeps every rule, breaks one, or the oracle does not know."""
_LEAST, _LEAST_KEPT, _MOST = 1e-300, 1e-70, 1e150


@dataclass(frozen=True)
class Row:
    """An impression as it must be read. numbers: those of the whole impression, by role."""

    slate: list[Any]
    clicks: list[float] | None
    candidates: list[Any]
    scores: dict[str, list[float]]
    numbers: dict[str, float]

    @property
    def reward(self) -> float | None:
        """What the slate earned."""
        return self.numbers.get("reward", None if self.clicks is None else math.fsum(self.clicks))


@dataclass(frozen=True)
class Expected:
    """The standing of each impression, and those that are fine, in order."""

    standings: tuple[Standing, ...]
    rows: tuple[Row, ...]

    @property
    def known(self) -> bool:
        """Whether the oracle knows of every impression."""
        return "open" not in self.standings


def expected(case: LogCase, roles: frozenset[str]) -> Expected | None:
    """Return how a log must be read by a job that needs these roles; None where that is open."""
    if any(kind not in _SAFE for kind in case.types.values()) or not case.rows or {int, str} <= _id_types(case):
        return None  # where a form holds both, 7 and "7" are one item
    taken = {case.name(role) for role in case.columns} & {*ROLES, *LONG_ROLES} - {*case.columns}
    if taken or {*case.columns} & {*ROLES, *LONG_ROLES} - {*WIDE_ROLES, *LONG_LAYOUT}:
        return None  # a column that is called as a role which it is not
    if any(role not in case.columns for role in (("slate",) if case.layout == "wide" else _LONG)):
        return None
    if _may_be_empty(case, case.columns.get("clicks" if case.layout == "wide" else "click", [])):
        return None
    found = list((_wide if case.layout == "wide" else _long)(case, roles))
    ids = {type(item) for _, row in found if row for item in (*row.slate, *row.candidates)}
    if len(ids) > 1 or ids & {float, bool, type(None)}:
        return None
    return Expected(tuple(one for one, _ in found), tuple(row for one, row in found if one == "fine" and row))


def _id_types(case: LogCase) -> set[type]:
    """The types of all ids, those of rows that break a rule too."""
    cells = [cell for role in ("slate", "candidates", "item") for cell in case.columns.get(role, [])]
    return {type(item) for cell in cells for item in (cell if isinstance(cell, list) else [cell])}


def _may_be_empty(case: LogCase, cells: list[Any]) -> bool:
    """Whether nothing may stand for no click: where roles are said, or no click is written as 0."""
    if case.renamed and cells and all(cell == [] for cell in cells):
        return True  # lists of what was clicked, and nothing was
    values = [one for cell in cells for one in (cell if isinstance(cell, list) else [cell])]
    known = [value for value in values if value is not None and value == value]  # noqa: PLR0124  NaN is not itself
    zeros = any(not is_number(value) or value <= 0 for value in known)
    return len(known) < len(values) and (bool(case.renamed) or not zeros)


_SAFE = frozenset({"float64", "int64", "uint64", "large_string", "string_view", "dictionary", "run ends"})
_SAFE |= frozenset({"large list", "list view", "dictionary of texts"})
"""Types that hold each value as it is, or cannot be written."""
_LONG = ("impression", "item", "position")
_BY_ROW = ("propensity", "inclusion", "reward")


def _wide(case: LogCase, roles: frozenset[str]) -> Iterator[tuple[Standing, Row | None]]:
    for index in range(case.rows):
        yield _judged({role: cells[index] for role, cells in case.columns.items()}, roles)


def _judged(cells: dict[str, Any], roles: frozenset[str]) -> tuple[Standing, Row | None]:
    """Judge one impression, given its cells."""
    slate = cells["slate"]
    candidates = cells.get("candidates", slate) if "candidates" in roles else slate
    clicks = cells.get("clicks") if "clicks" in roles else None
    scores: dict[str, Any] = {name: cells[name] for name in ("old", "new") if name in cells and name in roles}
    given = [slate, candidates, *([clicks] if "clicks" in cells and "clicks" in roles else []), *scores.values()]
    if any(one is not None and not isinstance(one, list) for one in given):
        return "open", None
    if any(one is None for one in given):
        return "broken", None
    faults = [_ids(slate), _ids(candidates), *_lists(slate, candidates, clicks, scores)]
    by_row = {role: cells[role] for role in _BY_ROW if role in cells and role in roles}
    faults += [_number(value, _FITS[role]) for role, value in by_row.items()]
    if "open" in faults:
        return "open", None
    if "broken" in faults or not slate or any(item not in candidates for item in slate):
        return "broken", None
    as_numbers = {role: float(value) for role, value in by_row.items()}
    floats: dict[str, list[float]] = {name: [float(one) for one in values] for name, values in scores.items()}
    return "fine", Row(slate, clicks and [float(one) for one in clicks], candidates, floats, as_numbers)


def _lists(slate: list[Any], candidates: list[Any], clicks: Any, scores: dict[str, Any]) -> Iterator[Standing]:
    """Judge the numbers beside the items."""
    beside = [(clicks, slate, "click")] if clicks is not None else []
    for values, items, role in [*beside, *((values, candidates, "score") for values in scores.values())]:
        yield "fine" if len(values) == len(items) else "broken"
        for value in values:
            yield _number(value, _FITS[role])


def _ids(items: list[Any]) -> Standing:
    """Judge a list of ids: of one type, and distinct."""
    if any(isinstance(item, list | float | bool) for item in items):
        return "open"
    return "broken" if None in items or len(set(items)) < len(items) else "fine"


_FITS: dict[str, Callable[[float], bool]] = {
    "click": lambda value: 0 <= value <= _MOST,
    "score": lambda value: -_MOST <= value <= _MOST,
    "reward": lambda value: -_MOST <= value <= _MOST,
    "propensity": lambda value: _LEAST <= value <= 1,
    "inclusion": lambda value: _LEAST_KEPT <= value <= 1,
}


def _number(value: Any, fits: Callable[[float], bool]) -> Standing:
    """Judge a number. Null is none; texts and truth values may be read in several ways."""
    if value is None:
        return "broken"
    if not is_number(value):
        return "open"
    return "fine" if fits(float(value)) else "broken"


def _long(case: LogCase, roles: frozenset[str]) -> Iterator[tuple[Standing, Row | None]]:
    groups: dict[Any, list[dict[str, Any]]] = {}
    lines = [{role: cells[index] for role, cells in case.columns.items()} for index in range(case.rows)]
    positions = [line["position"] for line in lines]
    if any(not (place is None or (is_number(place) and place != 0 and not math.isnan(place))) for place in positions):
        yield "open", None  # positions from 0, as texts, or NaN, which some take for null
        return
    kinds = {type(line["impression"]) for line in lines} - {type(None)}
    if len(kinds) > 1 or kinds & {float, bool, list}:
        yield "open", None
        return
    for line in lines:
        groups.setdefault(line["impression"], []).append(line)
    for group in groups.values():
        yield _grouped(group, roles)


def _grouped(lines: list[dict[str, Any]], roles: frozenset[str]) -> tuple[Standing, Row | None]:
    """Judge the rows of one impression."""
    if lines[0]["impression"] is None:
        return "broken", None
    shown = sorted((line for line in lines if line["position"] is not None), key=lambda line: float(line["position"]))
    if [line["position"] for line in shown] != list(range(1, len(shown) + 1)):
        return "broken", None
    if len({repr(line.get("query")) for line in lines}) > 1:
        return "open", None  # broken, for a job that reads it
    cells: dict[str, Any] = {"slate": [line["item"] for line in shown], "candidates": [line["item"] for line in lines]}
    if "click" in lines[0]:
        cells["clicks"] = [line["click"] for line in shown]
    for role in ("old", "new"):
        if role in lines[0]:
            cells[role] = [line[role] for line in lines]
    for role in _BY_ROW:
        if role in lines[0]:
            cells[role] = lines[0][role]
            if role in roles and any(line[role] != cells[role] for line in lines):
                known = all(line[role] is None or is_number(line[role]) for line in lines)
                return ("broken" if known else "open"), None
    return _judged(cells, roles)


def ips(rows: tuple[Row, ...], probability: Callable[[Row], float]) -> tuple[float, float]:
    """Return the estimates of `ips` and `snips` by propensities; NaN where no row counts."""
    weights = [probability(row) / row.numbers["propensity"] for row in rows]
    kept = [1 / row.numbers.get("inclusion", 1.0) for row in rows]
    earned = math.fsum(w * k * (row.reward or 0.0) for w, k, row in zip(weights, kept, rows, strict=True))
    total = math.fsum(w * k for w, k in zip(weights, kept, strict=True))
    return earned / math.fsum(kept), earned / total if total else math.nan


def top_probability(row: Row) -> float:
    """Return the probability of a slate under sorting by `new`, where equal scores come in any order."""
    left, found = dict(zip(row.candidates, row.scores["new"], strict=True)), 1.0
    for item in row.slate:
        most = max(left.values())
        best = [one for one, score in left.items() if score == most]
        found *= (item in best) / len(best)
        del left[item]
    return found


def uniform_probability(row: Row) -> float:
    """Return the probability of a slate where all have the same."""
    return 1 / math.perm(len(row.candidates), len(row.slate))


def plackett_luce_probability(row: Row) -> float:
    """Return the probability of a slate drawn item by item in proportion to `old`."""
    left, found = dict(zip(row.candidates, row.scores["old"], strict=True)), 1.0
    for item in row.slate:
        found *= left[item] / math.fsum(left.values())
        del left[item]
    return found
