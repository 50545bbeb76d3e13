"""The shapes in which strangers write a log.

A shape makes the tables of a case, each of which is then written in any form, and says how they are to be read. What
must come of it is what must come of our own layout, so the oracle need know nothing of shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from . import strangers, systems
from .cases import Layout, LogCase
from .strangers import BESIDE, Tables

_TEXTUAL = frozenset({"json lines", "json array", "parquet", "arrow", "arrow stream", "table", "dicts", "jsonl.gz"})
"""Forms that hold structs as they are."""
_VIEWS = ("slate", "clicks")
"""What web shops record of a list."""


@dataclass(frozen=True)
class Shape:
    """How a stranger writes a log.

    - tables: what they write; layout: of the cases that are written so.
    - fit: makes a log without what the shape cannot hold. forms: those that can hold it; all if none.
    - file: writes a text of its own instead of tables.
    - names: role -> its column, if that is not the role; said: further roles that must be said. format: the reader.
    """

    layout: Layout
    tables: Callable[[LogCase], Tables] = lambda _: []
    fit: Callable[[LogCase], LogCase] = lambda case: case
    names: Mapping[str, str] = field(default_factory=dict)
    said: Mapping[str, str] = field(default_factory=dict)
    format: str | None = None
    forms: frozenset[str] = frozenset()
    file: Callable[[LogCase, Path], Path] | None = None


def shaped(case: LogCase, name: str) -> LogCase:
    """Return a case without what a shape cannot hold."""
    return replace(SHAPES[name].fit(case), shape=name)


def in_its_names(case: LogCase) -> LogCase:
    """Return a case of a shape with the names that its columns have there, and plain types."""
    if not case.shape:
        return case
    shape = SHAPES[case.shape]
    return replace(case, names=shape.names, types={}, said=shape.said, format=shape.format if case.told else None)


def without_candidates(case: LogCase) -> LogCase:
    """Return a wide log of the items that were shown alone, with their scores in the order of the slate."""
    columns = {role: cells for role, cells in case.columns.items() if role != "candidates"}
    places = [
        [candidates.index(item) for item in slate]
        for slate, candidates in zip(case.columns["slate"], case.columns["candidates"], strict=True)
    ]
    for role in BESIDE:
        columns[role] = [[cell[at] for at in row] for cell, row in zip(columns[role], places, strict=True)]
    return replace(case, columns=columns)


def flags(case: LogCase) -> LogCase:
    """Return a log whose clicks are 0 or 1."""
    role = "clicks" if case.layout == "wide" else "click"
    cells = [
        [int(click > 0) for click in cell] if isinstance(cell, list) else cell and int(cell > 0)
        for cell in case.columns[role]
    ]
    return replace(case, columns={**case.columns, role: cells})


def in_texts(case: LogCase) -> LogCase:
    """Return a log whose ids are texts and no numbers, and whose clicks are 0 or 1."""
    ids = {role: [[f"i{item}" for item in cell] for cell in case.columns[role]] for role in ("slate", "candidates")}
    return flags(replace(case, columns={**case.columns, **ids}))


def only(*roles: str) -> Callable[[LogCase], LogCase]:
    """Return what makes a log of these roles, whose clicks are 0 or 1."""

    def fit(case: LogCase) -> LogCase:
        kept = {role: cells for role, cells in case.columns.items() if role in roles}
        return flags(replace(case, columns=kept))

    return fit


_NESTED = {"slate": "items.item", "clicks": "items.click", "old": "items.old", "new": "items.new"}
_EVENTS = "events(kind=event, shown=shown)"

SHAPES: dict[str, Shape] = {
    "nested": Shape("wide", strangers.nested, without_candidates, _NESTED),
    "ranked": Shape("wide", strangers.ranked, names=_NESTED, said={"position": "items.position"}),
    "packed": Shape(
        "wide",
        strangers.packed,
        lambda case: flags(without_candidates(case)),
        {"slate": "impressions.item", "clicks": "impressions.click"},
    ),
    "numbered": Shape("wide", strangers.numbered, without_candidates, {"slate": "item", "clicks": "click"}),
    "clicked ids": Shape("wide", strangers.clicked_ids, in_texts, names={"clicks": "clicked"}),
    "lists and clicks": Shape(
        "wide", strangers.lists_and_clicks, flags, format="events(impression=request, slate=slate, click_item=sku)"
    ),
    "ubi": Shape("wide", systems.insights, flags, format="ubi", forms=_TEXTUAL),
    "ga4": Shape("wide", systems.google_analytics, only(*_VIEWS), format="ga4", forms=_TEXTUAL),
    "snowplow": Shape("wide", systems.snowplow_events, only(*_VIEWS), format="snowplow", forms=_TEXTUAL),
    "yandex": Shape("wide", fit=only(*_VIEWS, "query"), format="yandex", file=systems.yandex_sessions),
    "exposures": Shape("wide", strangers.exposures),
    "two tables": Shape("long", strangers.two_tables, flags, format="events"),
    "kinds": Shape("long", strangers.kinds, flags, format=_EVENTS),
    "composed": Shape("long", strangers.composed, names={"impression": "session+ts"}),
}
"""Name -> how a stranger writes a log."""
