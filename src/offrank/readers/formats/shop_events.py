"""Views of lists and clicks on them, as web shops record them: Google Analytics 4 and Snowplow.

No event names its list: a click is on the last view of that item in that list, by the same user in the same session.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...errors import ColumnError
from ...log.batch import Floats, Integers
from ...log.hashing import hashed
from .. import flat
from ..beginning import Beginning
from ..impressions import lists_of
from ..joining import ClicksBeside, ItemKeys, event_times
from ..opening import open_table
from ..tables import Piece, Table, TableOver, all_pieces, refuse_lacking
from ..wide import Invalid, WideLog
from .registry import READERS, Reader


@dataclass(frozen=True)
class ShopForm:
    """Where events hold what is read: column, and fields inside it. items: of lists of structs; lists: of their lists.

    session: as the others, or the key of a parameter in a list of keys and values.
    """

    kind: tuple[str, ...]
    view: str
    click: str
    user: str
    session: tuple[str, ...]
    time: tuple[str, ...]
    items: str
    item: str
    rank: tuple[str, ...]
    lists: tuple[str, ...]


GA4 = ShopForm(
    ("event_name",),
    "view_item_list",
    "select_item",
    "user_pseudo_id",
    ("event_params", "ga_session_id"),
    ("event_timestamp",),
    "items",
    "item_id",
    ("item_list_index",),
    ("item_list_id", "item_list_name"),
)
_ACTION = "unstruct_event_com_snowplowanalytics_snowplow_ecommerce_snowplow_ecommerce_action_1"
SNOWPLOW = ShopForm(
    (_ACTION, "type"),
    "list_view",
    "list_click",
    "domain_userid",
    ("domain_sessionid",),
    ("derived_tstamp", "collector_tstamp"),
    "contexts_com_snowplowanalytics_snowplow_ecommerce_product_1",
    "id",
    ("position",),
    (_ACTION, "name"),
)


@READERS.register
@Reader.of("events", of_tables=True)
def ga4(source: Any, *, invalid: Invalid = "raise") -> WideLog:
    """Read Google Analytics 4 as BigQuery exports it: `view_item_list` and the `select_item` that follow.

    An impression is a `view_item_list`: its slate is `items` in the order of `item_list_index`. A click is on the last
    view of that item by the same `user_pseudo_id`, `ga_session_id` and list. Columns: slate, clicks, user, session,
    `list`, `time`. Clicks on what was not viewed before are counted as `click-outside-slate`. Propensities are not
    recorded. The clicks are held in memory.
    """
    return _log(source, GA4, invalid)


@READERS.register
@Reader.of("events", of_tables=True)
def snowplow(source: Any, *, invalid: Invalid = "raise") -> WideLog:
    """Read Snowplow's e-commerce events as its analytics SDKs write them: `list_view` and the `list_click` that follow.

    As `ga4`, by `domain_userid`, `domain_sessionid` and the `name` of the action, in the order of `position`.
    """
    return _log(source, SNOWPLOW, invalid)


@ga4.recognised
def _is_ga4(beginning: Beginning) -> Mapping[str, Any] | None:
    return _known(beginning, GA4)


@snowplow.recognised
def _is_snowplow(beginning: Beginning) -> Mapping[str, Any] | None:
    return _known(beginning, SNOWPLOW)


def _known(beginning: Beginning, form: ShopForm) -> dict[str, Any] | None:
    """Recognise a form by its columns, and views among its first rows."""
    kind, rows = ".".join(form.kind), beginning.rows
    if rows is None or not {kind, form.user} <= {*rows.column_names}:
        return None
    items = any(name.startswith(form.items) for name in rows.column_names)
    return {} if items and form.view in pc.unique(rows.column(kind)).to_pylist() else None


def _log(source: Any, form: ShopForm, invalid: Invalid) -> WideLog:
    table = open_table(source)
    refuse_lacking(table, (form.kind[0], form.user, form.items))
    views = ShopEvents(table, form, form.view)
    clicks = ClicksOnViews(views, ShopEvents(table, form, form.click))
    keys = ItemKeys("impression", "slate", listed=True), ItemKeys("impression", "item")
    return WideLog(ClicksBeside(views, clicks, *keys, "clicks"), {}, invalid)


@dataclass(frozen=True)
class ShopEvents(TableOver):
    """The events of one kind, a row each: who, when, and the items in order."""

    table: Table
    form: ShopForm
    kind: str

    @property
    def names(self) -> tuple[str, ...]:
        return ("impression", "slate", "user", "session", "list", "time")

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        form = self.form
        first = (form.kind[0], form.user, form.session[0], *form.time, form.items)
        wanted = tuple(name for name in dict.fromkeys(first) if name in self.table.names)
        for piece in self.table.pieces(part, wanted):
            kind = _text(flat.plain_column(_at(piece.data, form.kind)), form.kind[-1])
            kept = pc.fill_null(pc.equal(kind, self.kind), False)
            rows, made = piece.rows[np.asarray(kept)], self._made(flat.kept_rows(piece.data, kept))
            if len(rows) or piece.skipped:
                yield replace(piece, data=pa.record_batch({name: made[name] for name in columns}), rows=rows)

    def _made(self, data: pa.RecordBatch) -> dict[str, pa.Array]:
        form, n = self.form, len(data)
        when = next((name for name in form.time if name in data.schema.names), None)
        time = np.zeros(n) if when is None else event_times(_number(data.column(when)), when)
        lists = flat.lists(data.column(form.items), form.items)
        of = {name: _field(lists.values, name) for name in {form.item, *form.rank, *form.lists}}
        row = np.repeat(np.arange(n), lists.lengths)
        order = _order(row, of[form.rank[0]])
        slate = lists_of(of[form.item].take(pa.array(order)), lists.lengths)
        names = _of_rows(pc.coalesce(*(of[name] for name in form.lists)), row, n)
        shown_in = _text(_at(data, form.lists), form.lists[-1]) if form.lists[0] == form.kind[0] else names
        who = {"user": _text(data.column(form.user), form.user), "session": _session(data, form.session)}
        codes = [flat.id_codes(column, "").view(np.uint64) for column in (*who.values(), shown_in.fill_null(""))]
        mixed = codes[0]
        for each in (*codes[1:], time.view(np.uint64)):
            mixed = hashed(hashed(mixed) ^ each)
        return {
            "impression": pa.array(mixed.view(np.int64)),
            "slate": slate,
            **who,
            "list": shown_in,
            "time": pa.array(time),
        }


@dataclass(frozen=True)
class ClicksOnViews:
    """Clicks with the impression that they are on: the last view before of that item, by that user, in that list."""

    views: ShopEvents
    clicks: ShopEvents

    @property
    def names(self) -> tuple[str, ...]:
        return ("impression", "item")

    def parts(self) -> int:
        return 1

    def describe(self) -> str:
        return self.clicks.describe()

    def pieces(self, _part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        data = self._found.select(list(columns))
        yield Piece(data, self.describe(), np.arange(len(data)))

    @cached_property
    def _found(self) -> pa.RecordBatch:
        made = [_Flat.of(piece.data) for piece in all_pieces(self.clicks, self.clicks.names)]
        keys = np.concatenate([np.zeros(0, np.uint64), *(one.keys for one in made)])
        when = np.concatenate([np.zeros(0), *(one.time for one in made)])
        order = np.lexsort((when, keys))
        keys, when = keys[order], when[order]
        seen, impression = np.full(len(keys), -np.inf), np.full(len(keys), -1)
        for piece in all_pieces(self.views, self.views.names):
            _last(keys, when, _Flat.of(piece.data), seen, impression)
        for at in np.flatnonzero(keys[1:] == keys[:-1]) + 1:  # a later click of the same item
            if seen[at] < seen[at - 1]:
                seen[at], impression[at] = seen[at - 1], impression[at - 1]
        items = pa.concat_arrays([pa.array([], pa.large_string()), *(one.item for one in made)])
        return pa.record_batch({"impression": impression, "item": items.take(pa.array(order))})


@dataclass(frozen=True)
class _Flat:
    """The items of events, a row each. keys: of the user, the session, the list and the item."""

    keys: np.ndarray[tuple[int, ...], np.dtype[np.uint64]]
    time: Floats
    impression: Integers
    item: pa.Array

    @classmethod
    def of(cls, data: pa.RecordBatch) -> _Flat:
        lists = flat.lists(data.column("slate"), "slate")
        row = np.repeat(np.arange(len(data)), lists.lengths)
        mixed = flat.id_codes(lists.values, "slate").view(np.uint64)
        for name in ("user", "session", "list"):
            mixed = hashed(hashed(mixed) ^ flat.id_codes(data.column(name).fill_null(""), name).view(np.uint64)[row])
        time, impression = (np.asarray(data.column(name))[row] for name in ("time", "impression"))
        return cls(mixed, time, impression, lists.values)


def _last(
    keys: np.ndarray[tuple[int, ...], np.dtype[np.uint64]],
    when: Floats,
    view: _Flat,
    seen: Floats,
    impression: Integers,
) -> None:
    """Note the views at the first click on each that does not come before it. keys, when: of the clicks, ascending."""
    low, high = (np.searchsorted(keys, view.keys, side) for side in ("left", "right"))
    for at in np.flatnonzero(high > low):
        place = low[at] + np.searchsorted(when[low[at] : high[at]], view.time[at])
        if place < high[at] and view.time[at] > seen[place]:
            seen[place], impression[place] = view.time[at], view.impression[at]


def _order(row: Integers, rank: pa.Array) -> Integers:
    """Return the items in the order of their ranks within each event; of events without, as they stand."""
    ranks = np.asarray(_number(rank).cast(pa.float64()).to_numpy(zero_copy_only=False), np.float64)
    whole = np.bincount(row, np.isnan(ranks), minlength=row.max(initial=-1) + 1) == 0
    return np.lexsort((np.where(whole[row], ranks, 0.0), row))


def _of_rows(values: pa.Array, row: Integers, n: int) -> pa.Array:
    """Return the first value of each row; null where it has none."""
    first = np.full(n, -1)
    first[row[::-1]] = np.arange(len(row))[::-1]
    return values.take(pa.array(first, mask=first < 0))


def _session(data: pa.RecordBatch, path: tuple[str, ...]) -> pa.Array:
    """Return the session of each event: a column, or the parameter of that key."""
    column = data.column(path[0]) if path[0] in data.schema.names else pa.nulls(len(data), pa.string())
    if len(path) == 1 or not pa.types.is_nested(column.type):
        return _text(column, path[0])
    lists = flat.lists(column, path[0])
    row = np.repeat(np.arange(len(data)), lists.lengths)
    asked = np.asarray(pc.fill_null(pc.equal(pc.struct_field(lists.values, "key"), path[1]), False))
    values = pc.struct_field(lists.values, "value").filter(pa.array(asked))
    kept = [_field(values, name) for name in ("int_value", "string_value")]
    return _of_rows(pc.coalesce(*kept), row[asked], len(data))


def _field(values: pa.Array, name: str) -> pa.Array:
    """Return a field of structs as text; nulls if they have none."""
    if not pa.types.is_struct(values.type) or name not in values.type.names:
        return pa.nulls(len(values), pa.large_string())
    return _text(pc.struct_field(values, name), name)


def _text(column: pa.Array, name: str) -> pa.Array:
    """Return values as texts.

    Raises:
        ColumnError: they are lists or structs.
    """
    try:
        return column.cast(pa.large_string())
    except pa.ArrowException as error:
        raise ColumnError(f"{name!r} contains {column.type}, not texts", "write one text or number there") from error


def _at(data: pa.RecordBatch, path: tuple[str, ...]) -> pa.Array:
    """Return a column, or the field of it."""
    column = data.column(path[0])
    return _field(column, path[1]) if len(path) > 1 else column


def _number(column: pa.Array) -> pa.Array:
    """Return numbers that are written as text as numbers; other texts as they are."""
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        try:
            return column.cast(pa.float64())
        except pa.ArrowInvalid:
            return column
    return column
