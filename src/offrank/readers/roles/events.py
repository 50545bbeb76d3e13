"""The roles of events: which rows are impressions, which are clicks, and on which columns they join."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...errors import ColumnError
from .. import flat, names
from ..conversions import whole_column
from ..joining import event_times
from ..names import words_of
from .columns import of_values
from .wide import roles_of

_SHOWN = (words_of("KIND_SHOWN"), words_of("KIND_VIEWED"))
_CLICKED = words_of("KIND_CLICKED")
_OF_ITEMS = words_of("KIND_OF") | {f"{word}s" for word in words_of("KIND_OF")}
"""Words for kinds of rows: impressions, the likelier first; clicks; and what may stand beside either."""
_NO_CLICK = {"reward": ""}
"""Roles that are said, so that no click is looked for among the impressions."""
_KINDS, _JOINED, _KNOWN, _EARLY, _APART, _MORE = 40, 0.5, 0.05, 0.05, 0.02, 0.8
"""The most kinds of rows; the least shares of clicks on what was shown, and with a known impression; the largest share
of clicks that come before it; how much more of them must join by one pair of columns than by others; and the least
share of known impressions, of the most that a pair knows: some clicks have the very time of another impression."""


@dataclass(frozen=True)
class FirstImpressions:
    """The first impressions: their id, or the columns that may be it, and their items: a row each, or in lists."""

    rows: pa.Table
    ids: tuple[str, ...]
    item: str
    position: str
    listed: bool

    @cached_property
    def pairs(self) -> Mapping[str, pa.Array]:
        """Id -> the items with it, as texts."""
        return {name: _pairs(self.rows, name, self.item) for name in self.ids}

    @cached_property
    def values(self) -> Mapping[str, pa.ChunkedArray]:
        """Column -> its distinct values, as texts."""
        return {name: pc.unique(_texts(self.rows, name)) for name in (*self.ids, self.item)}


def first_impressions(rows: pa.Table) -> FirstImpressions | None:
    """Return what rows show, if they are impressions without clicks; None if that is not certain."""
    found = roles_of(rows, _NO_CLICK)
    if found is None or found.unsettled:
        return None
    if found.layout == "long" and {"impression", "item", "position"} <= found.roles.keys():
        impression, item, position = (found.roles[role] for role in ("impression", "item", "position"))
        return FirstImpressions(rows, (impression,), item, position, listed=False)
    if "slate" not in found.roles:
        return None
    slate, position = (found.roles.get(role, "") for role in ("slate", "position"))
    single = [name for name, one in of_values(rows).items() if one.distinct > 1 and one.distinct >= 0.99 * len(rows)]
    return FirstImpressions(rows, tuple(single), slate, position, listed=True) if single else None


def kinds_of(rows: pa.Table) -> dict[str, str] | None:
    """Return the column of the kinds of rows, and the kinds of impressions and of clicks; None if that is not clear."""
    found = []
    for name, column in of_values(rows).items():
        if not pa.types.is_string(column.data.type) and not pa.types.is_large_string(column.data.type):
            continue
        values = pc.unique(column.data).drop_null()
        if len(values) > _KINDS:
            continue
        for words in _SHOWN:
            clicked = _called(values.to_pylist(), _CLICKED)
            shown = [value for value in _called(values.to_pylist(), words) if value not in clicked]
            if not (shown and clicked):
                shown, clicked = _of_the_same(values.to_pylist(), words)
            if not (shown and clicked):  # of whatever, if one kind of each is there: `serp_view`, `doc_click`
                shown, clicked = (_within(values.to_pylist(), each) for each in (words, _CLICKED))
            if shown and clicked:
                found.append({"kind": name, "shown": "|".join(shown), "clicked": "|".join(clicked)})
                break
    return found[0] if len(found) == 1 else None


def _called(values: Sequence[str], words: frozenset[str]) -> list[str]:
    """Return the values that are such a word, or where there are none, those with one beside words for items."""
    alone = [value for value in values if names.parts(value) and {*names.parts(value)} <= words]
    beside = [value for value in values if {*names.parts(value)} & words and {*names.parts(value)} <= words | _OF_ITEMS]
    return alone or beside


def _within(values: Sequence[str], words: frozenset[str]) -> list[str]:
    """Return the only value that has one of these words; none where several do."""
    found = [value for value in values if words & {*names.parts(value)}]
    return found if len(found) == 1 else []


def _of_the_same(values: Sequence[str], words: frozenset[str]) -> tuple[list[str], list[str]]:
    """Return the values of which one was shown and one clicked, but for that called alike: `lot_shown`, `lot_click`."""
    rest = {value: names.parts(value) for value in values}
    shown, clicked = (
        {tuple(part for part in rest[value] if part not in own): value for value in values if own & {*rest[value]}}
        for own in (words, _CLICKED)
    )
    both = shown.keys() & clicked.keys()
    return [shown[one] for one in both], [clicked[one] for one in both]


def join_columns(shown: FirstImpressions, clicks: pa.Table) -> dict[str, str] | None:
    """Return the options of `events` by which clicks join what was shown; None if none do, or in several ways."""
    able = [name for name, one in of_values(clicks).items() if len(one.groups)]
    found: list[tuple[float, float, tuple[str, str, str]]] = []
    for own in shown.ids:
        known = {name: _known(clicks, name, shown.values[own]) for name in able}
        ids = [name for name in able if len(known[name]) and known[name].mean() >= _KNOWN]
        for impression, item in product(ids, able):
            if item == impression or not _known(clicks, item, shown.values[shown.item]).any():
                continue
            kept = clicks.filter(pa.array(known[impression]))
            joined = np.asarray(pc.is_in(_pairs(kept, impression, item), shown.pairs[own]))
            found.append((float(joined.mean()), float(known[impression].mean()), (own, impression, item)))
    most = max((known for share, known, _ in found if share >= _JOINED), default=0.0)
    # Of columns that are called the same most clicks join, though by others a few clicks may all join by chance.
    joining = {way: share for share, known, way in found if share >= _JOINED and known >= _MORE * most}
    if not joining:
        return None
    near = [way for way, share in joining.items() if share >= max(joining.values()) - _APART]
    same = [way for way in joining if way[0] == way[1] and (way[2] == shown.item or shown.listed)]
    alike = {tuple(_pairs(clicks, *way[1:]).to_pylist()) for way in near}
    if len(same) != 1 and len(alike) > 1:
        return None
    roles = "impression", "impression", "item"
    return _options(shown, *(same or sorted(near, key=lambda way: [*map(names.order, roles, way)]))[0])


def guess(shown: FirstImpressions, clicks: pa.Table) -> dict[str, str] | None:
    """Return the options by which clicks would join by the names of columns alone; None if those do not tell."""
    able = list(of_values(clicks))
    own = names.likeliest("impression", shown.ids)[0]
    chosen = []
    for role, name in (("impression", own), ("item", shown.item)):
        chosen += [name] if name in able else names.likeliest(role, able, 2)[:1]
    return _options(shown, own, *chosen) if len({*chosen}) == 2 else None


def _options(shown: FirstImpressions, own: str, impression: str, item: str) -> dict[str, str]:
    made = {"impression": own, ("slate" if shown.listed else "item"): shown.item, "position": shown.position}
    made |= {"click_impression": impression if impression != own else ""}
    made |= {"click_item": item if item != shown.item else ""}
    return {name: value for name, value in made.items() if value and (value != name or shown.listed)}


def time_of(shown: FirstImpressions, clicks: pa.Table, joined: Mapping[str, str]) -> dict[str, str]:
    """Return the option of the time, if both have one of the same name and hardly any click comes before it."""
    own = joined.get("impression", "impression")
    both = [own, joined.get("click_impression", own)]
    for name in shown.rows.column_names:
        if name not in clicks.column_names or names.closeness("time", name) < names.CALLED:
            continue
        try:
            when = [event_times(whole_column(table.column(name)), name) for table in (shown.rows, clicks)]
        except (ColumnError, NotImplementedError):
            continue
        at = pc.index_in(_texts(clicks, both[1]), _texts(shown.rows, both[0])).fill_null(-1).to_numpy()
        early = when[1][at >= 0] < when[0][at[at >= 0]]
        if len(early) and not early.mean() > _EARLY:
            return {"time": name}
    return {}


def _known(rows: pa.Table, name: str, values: pa.Array) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    return np.asarray(pc.is_in(_texts(rows, name), values), np.bool_)


def _pairs(rows: pa.Table, impression: str, item: str) -> pa.Array:
    """Return each impression with its item, or each item of its list, as a text."""
    ids, items = _texts(rows, impression), whole_column(rows.column(item))
    if pa.types.is_nested(items.type):
        lists = flat.lists(items, item)
        ids, items = ids.take(pa.array(lists.row)), lists.values
    return pc.binary_join_element_wise(
        ids, flat.plain_column(items).cast(pa.large_string()), pa.scalar("\0", pa.large_string())
    )


def _texts(rows: pa.Table, name: str) -> pa.Array:
    """Return the values of a column, or of its lists, as texts."""
    found = whole_column(rows.column(name))
    found = flat.lists(found, name).values if pa.types.is_nested(found.type) else found
    return flat.plain_column(found).cast(pa.large_string())
