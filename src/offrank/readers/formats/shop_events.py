"""Views of lists and clicks on them, as web shops record them: Google Analytics 4, Snowplow and Segment.

No event names its list: a click is on the last view of that item in that list, by the same user in the same session.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ...errors import ColumnError
from ...log.batch import Floats, Integers
from ...log.hashing import hashed
from ...log.source import OnePart
from .. import conversions, flat
from ..computed_columns import in_lists
from ..description import Layout
from ..joining import ClicksBeside, ItemKeys, KeptRows, event_times
from ..opening import Beginning, open_table
from ..tables import Piece, Table, TableOver, all_pieces, refuse_lacking
from ..unfolding import documents
from ..wide import Invalid, WideLog
from .registry import READERS, Declaration

Codes = NDArray[np.uint64]


@dataclass(frozen=True)
class ShopForm(Declaration):
    """Where events hold what is read: columns and the fields in them; of several the first that is there counts.

    view, click: the kinds of views and of clicks. item, clicked: the items of either. session: a column, or the key in
    a list of keys and values. lists: what the list is called. by_list: whether clicks tell in which list they are.
    """

    layout: Layout
    kind: str
    view: str
    click: str
    user: str
    session: tuple[str, ...]
    time: tuple[str, ...]
    item: str
    clicked: str
    rank: str
    lists: tuple[str, ...]
    by_list: bool = True

    def open(self, source: Any, *, invalid: Invalid = "raise") -> WideLog:
        table = documents(open_table(source))
        refuse_lacking(table, (self.kind, self.user, self.item))
        views, clicks = (ShopEvents(table, self, kind) for kind in (self.view, self.click))
        keys = ItemKeys("impression", "slate", listed=True), ItemKeys("impression", "item")
        return WideLog(ClicksBeside(views, ClicksOnViews(clicks, views), "clicks", *keys), {}, invalid)

    def recognised(self, beginning: Beginning) -> dict[str, Any] | None:
        """Know events by their columns, and by views among the first."""
        rows, items = beginning.rows, self.item.rpartition(".")[0]
        if rows is None or not {self.kind, self.user} <= {*rows.column_names}:
            return None
        listed = any(name.startswith(items) for name in rows.column_names)
        return {} if listed and self.view in pc.unique(rows.column(self.kind)).to_pylist() else None


@READERS.register
@ShopForm.reader
def ga4(source: Any, *, invalid: Invalid = "raise") -> Any:
    """Read Google Analytics 4 as BigQuery exports it: `view_item_list` and the `select_item` that follow.

    An impression is a `view_item_list`: its slate is `items` in the order of `item_list_index`. A click is on the last
    view of that item by the same `user_pseudo_id`, `ga_session_id` and list. Columns: slate, clicks, user, session,
    `list`, `time`. Clicks on what was not viewed before are counted as `click-outside-slate`. Propensities are not
    recorded. The clicks are held in memory.
    """


@READERS.register
@ShopForm.reader
def snowplow(source: Any, *, invalid: Invalid = "raise") -> Any:
    """Read Snowplow's e-commerce events as its analytics SDKs write them: `list_view` and the `list_click` that follow.

    As `ga4`, by `domain_userid`, `domain_sessionid` and the `name` of the action, in the order of `position`.
    """


@READERS.register
@ShopForm.reader
def segment(source: Any, *, invalid: Invalid = "raise") -> Any:
    """Read Segment's tracks of its e-commerce spec: `Product List Viewed` and the `Product Clicked` that follow.

    As `ga4`, by `anonymousId` alone, since clicks do not tell their list, in the order of `position`.
    """


@dataclass(frozen=True)
class ShopEvents(TableOver):
    """The events of one kind, a row each: who, when, and the items in order."""

    table: Table
    form: ShopForm
    kind: str

    @property
    def names(self) -> tuple[str, ...]:
        return ("impression", "slate", *self.who, "list", "time")

    @property
    def who(self) -> tuple[str, ...]:
        """What tells users apart."""
        return ("user", "session") if self.form.session else ("user",)

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        form, session = self.form, "".join(self.form.session[:1])
        read = (form.user, *form.time, form.item, form.clicked, form.rank, *form.lists)
        params = (name for name in self.table.names if name == session or name.startswith(f"{session}."))
        wanted = tuple(name for name in dict.fromkeys([*read, *params]) if name in self.table.names)
        for piece in KeptRows(self.table, form.kind, (self.kind,)).pieces(part, wanted):
            made = self._made(piece.data)
            yield replace(piece, data=pa.record_batch({name: made[name] for name in columns}))

    def _made(self, data: pa.RecordBatch) -> dict[str, pa.Array]:
        form, times = self.form, (name for name in self.form.time if name in data.schema.names)
        time = [event_times(_number(data.column(name)), name) for name in times][:1] or [np.zeros(len(data))]
        items = form.clicked if self.kind == form.click else form.item
        values, row = _items(data, items)
        ranked = items == form.item and form.rank in data.schema.names
        ranks = _items(data, form.rank)[0] if ranked else pa.nulls(len(row), pa.float64())
        order = _order(row, ranks, form.rank)
        who = {"user": _text(data.column(form.user), form.user)}
        who |= {"session": self._session(data)} if form.session else {}
        who["list"] = pc.coalesce(*(_first(data, name) for name in form.lists))
        mixed = _mixed([*who.values()])
        return {
            "impression": pa.array(hashed(hashed(mixed) ^ time[0].view(np.uint64)).view(np.int64)),
            "slate": flat.lists_of(values.take(pa.array(order)), np.bincount(row, minlength=len(data))),
            **who,
            "time": pa.array(time[0]),
        }

    def _session(self, data: pa.RecordBatch) -> pa.Array:
        """Return the session of each event: a column, or the value of that key."""
        column, *key = self.form.session
        if not key or f"{column}.key" not in data.schema.names:
            return _first(data, column)
        keys, row = _items(data, f"{column}.key")
        asked = np.asarray(pc.fill_null(pc.equal(keys, key[0]), False))
        kinds = (f"{column}.value.{kind}_value" for kind in ("int", "string"))
        values = [_items(data, name)[0] for name in kinds if name in data.schema.names]
        found = pc.coalesce(*values, pa.nulls(len(row), pa.large_string()))
        return _of_rows(found.filter(pa.array(asked)), row[asked], len(data))


@dataclass(frozen=True)
class ClicksOnViews(OnePart, TableOver):
    """Clicks with the impression that they are on: the last view before of that item, by that user, in that list."""

    table: ShopEvents
    views: ShopEvents

    @property
    def names(self) -> tuple[str, ...]:
        return ("impression", "item")

    def pieces(self, _part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        data = self._found.select(list(columns))
        yield Piece(data, self.describe(), np.arange(len(data)))

    @cached_property
    def _found(self) -> pa.RecordBatch:
        made = [self._flat(piece.data) for piece in all_pieces(self.table, self.table.names)]
        keys = np.concatenate([np.zeros(0, np.uint64), *(one[0] for one in made)])
        when = np.concatenate([np.zeros(0), *(one[1] for one in made)])
        order = np.lexsort((when, keys))
        of, first, times = *np.unique(keys[order], return_index=True), np.unique(when)
        which = np.searchsorted(of, keys[order])
        places = which * (len(times) + 1) + np.searchsorted(times, when[order])
        seen, impression = np.full(len(keys), -np.inf), np.full(len(keys), -1)
        for piece in all_pieces(self.views, self.views.names) if len(keys) else ():
            key, time, shown_in, _ = self._flat(piece.data)
            own = np.minimum(np.searchsorted(of, key), len(of) - 1)
            place = np.searchsorted(places, own * (len(times) + 1) + np.searchsorted(times, time))
            held = (of[own] == key) & (place < len(keys)) & (which[np.minimum(place, len(keys) - 1)] == own)
            np.maximum.at(seen, place[held], time[held])  # of the views before a click, the last
            last = held.nonzero()[0][seen[place[held]] == time[held]]
            impression[place[last]] = shown_in[last]
        place = np.maximum.accumulate(np.where(np.isfinite(seen), np.arange(len(keys)), -1))  # also of the click before
        impression = np.where(place >= first[which], impression[place], -1)
        items = pa.concat_arrays([pa.array([], pa.large_string()), *(one[3] for one in made)])
        return pa.record_batch({"impression": impression, "item": items.take(pa.array(order))})

    def _flat(self, data: pa.RecordBatch) -> tuple[Codes, Floats, Integers, pa.Array]:
        """Return of each item of events the key of whose and what it is, its time, its impression, and the item."""
        items, row = _items(data, "slate")
        by = (*self.table.who, *(["list"] if self.table.form.by_list else []))
        who = [data.column(name).take(pa.array(row)) for name in by]
        time, impression = (np.asarray(data.column(name))[row] for name in ("time", "impression"))
        return _mixed([items, *who]), time, impression, items


def _mixed(columns: list[pa.Array]) -> Codes:
    """Return a code of the values of several columns together."""
    first, *others = (flat.id_codes(one.fill_null(""), "").view(np.uint64) for one in columns)
    for each in others:
        first = hashed(hashed(first) ^ each)
    return first


def _items(data: pa.RecordBatch, name: str) -> tuple[pa.Array, Integers]:
    """Return the values of a column as texts, those of its lists or one of each row, and the row of each."""
    column = flat.plain_column(data.column(name))
    lists = flat.lists(column if pa.types.is_nested(column.type) else in_lists(column, 1), name)
    return _text(lists.values, name), lists.row


def _first(data: pa.RecordBatch, name: str) -> pa.Array:
    """Return the first value of each row as a text; null where it has none."""
    if name not in data.schema.names:
        return pa.nulls(len(data), pa.large_string())
    return _of_rows(*_items(data, name), len(data))


def _of_rows(values: pa.Array, row: Integers, n: int) -> pa.Array:
    """Return the first value of each row; null where it has none."""
    first = np.full(n, -1)
    first[row[::-1]] = np.arange(len(row))[::-1]
    return values.take(pa.array(first, mask=first < 0))


def _order(row: Integers, rank: pa.Array, name: str) -> Integers:
    """Return the items in the order of their ranks within each event; of events without, as they stand.

    Raises:
        ColumnError: the ranks are no numbers.
    """
    try:
        ranks = np.asarray(_number(rank).cast(pa.float64()).to_numpy(zero_copy_only=False), np.float64)
    except pa.ArrowException as error:
        raise ColumnError(f"{name!r} contains {rank.type} that is no number", "write ranks as numbers") from error
    whole = np.bincount(row, np.isnan(ranks), minlength=row.max(initial=-1) + 1) == 0
    return np.lexsort((np.where(whole[row], ranks, 0.0), row))


def _text(column: pa.Array, name: str) -> pa.Array:
    """Return values as texts.

    Raises:
        ColumnError: they are lists or structs.
    """
    try:
        return column.cast(pa.large_string())
    except pa.ArrowException as error:
        raise ColumnError(f"{name!r} contains {column.type}, not texts", "write one text or number there") from error


def _number(column: pa.Array) -> pa.Array:
    """Return numbers that are written as text as numbers; other texts as they are."""
    if conversions.is_text(column.type):
        try:
            return column.cast(pa.float64())
        except pa.ArrowInvalid:
            return column
    return column
