"""Logs of events: impressions and clicks as two tables, or as one stream of rows of several kinds; and UBI."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ...errors import LogError, OffrankError, UsageError
from ...wording import Option, Wording
from ..computed_columns import DerivedTable
from ..joining import ClicksBeside, ItemKeys, KeptRows, free_name
from ..long import LongLog
from ..names import group_columns
from ..opening import Beginning, open_table, tables_of
from ..roles.events import first_impressions, guess, join_columns, kinds_of, time_of
from ..roles.wide import wide_roles
from ..tables import Table, first_piece, first_rows, once_only, refuse_lacking
from ..unfolding import documents, in_order, unfolded
from ..wide import Invalid, WideLog
from .registry import READERS, Reader


@READERS.register
@Reader.of("events", general=True, of_tables=True)
def events(
    source: Any,
    *,
    clicks: str = "",
    kind: str = "",
    shown: str = "",
    clicked: str = "click",
    impression: str = "impression",
    item: str = "item",
    position: str = "",
    slate: str = "",
    click_impression: str = "",
    click_item: str = "",
    time: str = "",
    invalid: Invalid = "raise",
) -> WideLog | LongLog:
    """Read impressions and the clicks on them, which are other rows: of a second table, or of another kind.

    - source: one table with rows of several kinds, or the impressions alone with `clicks`, or a list of two tables:
      the one without `position` and `slate` holds the clicks.
    - clicks: where the clicks are. kind: the column that tells the kinds of rows apart; shown, clicked: its values of
      impressions and of clicks, several with `|` between them.
    - impression, item: the columns that name an impression and an item of it. position: its rank, by default the
      column `position`. slate: the list of items, if a row is an impression; position then holds the list of ranks, if
      they are not in order. click_impression, click_item: how the table of the clicks calls them.
    - time: a column of both with the time; an item that was only clicked before it was shown has no click then.

    Each item has a click or none. Others are counted: repeats as `click-repeated`, clicks on what no impression showed
    as `click-outside-slate`, clicks before the impression as `click-before-impression`. Rows of other kinds are not
    read. The clicks are held in memory, 24 bytes each.

    Raises:
        UsageError: the options do not say what is an impression and what a click.
        ColumnError: there is no such column. LogError: no click is on an item that was shown.
    """
    own = ItemKeys(impression, slate or item, time, listed=bool(slate))
    theirs = ItemKeys(click_impression or impression, click_item or item, time)
    impressions, clicking = _tables(source, clicks, (kind, shown, clicked), slate or position or "position")
    for table, wanted in (
        (impressions, (*own.all, *([position] if position else [] if slate else ["position"]))),
        (clicking, theirs.all),
    ):
        refuse_lacking(table, wanted)
    if kind and not once_only(clicking) and first_piece(clicking, (kind,)) is None:
        there = pc.unique(first_rows(_open(clicks or source), (kind,))[kind]).to_pylist()[:_KINDS]
        raise LogError(f"no row has {clicked!r} in {kind!r}", f"name the clicks, clicked= one of {there}")
    made = "clicks" if slate else "click"
    table = ClicksBeside(impressions, clicking, free_name(made, impressions.names), own, theirs)
    if not slate:
        roles = {"impression": impression, "item": item, "position": position or "position", made: table.made}
        return LongLog(table, roles | group_columns(table.names, roles.values()), invalid)
    roles = {"slate": slate, made: table.made} | ({"position": position} if position else {})
    if not once_only(impressions):
        beside = wide_roles(first_rows(impressions), {"slate": slate, "clicks": table.made}).columns
        roles |= {role: name for role, name in beside.items() if role == "candidates"}
    ordered = in_order(table, roles, "numbers", skip=invalid == "skip", close=False) if position else table
    return WideLog(ordered, roles | group_columns(table.names, {impression, *roles.values()}), invalid)


@events.recognised
def _recognised(beginning: Beginning) -> Mapping[str, Any] | None:
    """Rows of several kinds, or two tables of which one has impressions and the other joins them."""
    rows = beginning.rows
    kinds = None if rows is None else kinds_of(rows)
    if rows is not None and kinds is not None:
        shown, clicks = (_of_kinds(rows, kinds["kind"], kinds[each]) for each in ("shown", "clicked"))
        said = _joined(shown, clicks, certain=True)
        kinds = {name: value for name, value in kinds.items() if (name, value) != ("clicked", "click")}
        return None if said is None else kinds | said
    try:
        two = _two(beginning)
    except OffrankError:
        return None
    rows_of_two = [first_rows(table) for table in two]
    if not all(map(len, rows_of_two)):
        return None
    ways = (rows_of_two, rows_of_two[::-1])
    for certain in (True, False):
        found = [said for way in ways if (said := _joined(*way, certain=certain)) is not None]
        if found:
            return found[0] if len(found) == 1 else None
    return None


def _joined(shown: pa.Table, clicks: pa.Table, *, certain: bool) -> dict[str, str] | None:
    """Return the options by which clicks join what was shown. certain: whether columns of the same name do not do."""
    seen = first_impressions(shown) if len(shown) and len(clicks) else None
    if seen is None:
        return None
    said = join_columns(seen, clicks) if certain else guess(seen, clicks)
    return said if said is None or not certain else said | time_of(seen, clicks, said)


def _of_kinds(rows: pa.Table, column: str, kinds: str) -> pa.Table:
    """Return the rows of some kinds, with the columns that they fill."""
    kept = rows.filter(
        pc.is_in(rows.column(column).cast(pa.large_string()), pa.array(kinds.split("|"), pa.large_string()))
    )
    return kept.select([name for name in kept.column_names if kept.column(name).null_count < len(kept)])


def _tables(source: Any, clicks: str, kinds: tuple[str, str, str], rank: str) -> tuple[Table, Table]:
    """Return the impressions and the clicks. rank: the column that only impressions have."""
    column, shown, clicked = kinds
    if column:
        if not shown:
            raise UsageError(
                f"it is not clear which rows of {column!r} are impressions",
                Wording("name them: {}", Option("format", f"events(kind={column}, shown=impression, clicked=click)")),
            )
        whole = _open(source)
        return (
            KeptRows(whole, column, tuple(shown.split("|"))),
            KeptRows(_open(clicks) if clicks else whole, column, tuple(clicked.split("|"))),
        )
    if clicks:
        return _open(source), _open(clicks)
    first, second = _two(source)
    if rank in first.names and rank in second.names:
        raise UsageError(f"both tables have a column {rank!r}", "give the impressions, and the clicks as clicks=")
    return (first, second) if rank in first.names else (second, first)


_KINDS = 8
"""Kinds of rows that an error names."""


def _two(source: Any) -> tuple[Table, Table]:
    """Open two tables: a list of two, or files with two sets of columns.

    Raises:
        OffrankError: they are not two.
    """
    found = tables_of(source)
    if len(found) != 2:
        raise UsageError(
            "impressions and clicks are two tables, or rows of several kinds",
            Wording("name the rows of clicks: {}", Option("format", "events(clicks='clicks.parquet')")),
        )
    return _open(found[0]), _open(found[1])


def _open(source: Any) -> Table:
    return unfolded(open_table(source))


_HITS = ("query_response_hit_ids", "query_response_object_ids")
_QUERY = {"query": "user_query", "user": "client_id", "session": "session_id"}
_OBJECT = "event_attributes.object.object_id"


@READERS.register
@Reader.of("events", of_tables=True)
def ubi(
    source: Any, *, events: str = "", clicked: str = "click", clicked_id: str = _OBJECT, invalid: Invalid = "raise"
) -> WideLog:
    """Read User Behavior Insights: what each query returned, and the clicks on it.

    - source: the file of the queries and that of the events, as a list or in one folder; or the queries, with `events`.
      NDJSON or Parquet, as the two indices are exported; each line may hold its document in `_source`.
    - clicked: the `action_name` of a click, several with `|` between them. clicked_id: the path, in an event, to
      the id of the object that was clicked.

    An impression is a query: its slate is what it returned, top first. Columns: slate, clicks, `query` (what the user
    typed), `user` (client_id), `session` where it is written, `query_id`, and the query's others. UBI holds no
    propensities and no candidates that were not returned. A list that came back empty showed nothing: such rows break
    the rule `empty-slate`.

    Raises:
        UsageError: the events are not there. LogError: no click is on what was returned.
    """
    queries, happened = _of_ubi(source, events)
    hits = next((name for name in _HITS if name in queries.names), _HITS[0])
    refuse_lacking(queries, ("query_id", hits), "give the exported index ubi_queries")
    remedy = f"name another field: clicked_id= one of {', '.join(happened.names)}"
    refuse_lacking(happened, ("action_name", clicked_id), remedy)
    made = {"query_id": "query_id", "slate": hits}
    made |= {role: name for role, name in _QUERY.items() if name in queries.names}
    others = {name: name for name in queries.names if name not in {*made, *made.values()}}
    keys = ItemKeys("query_id", "slate", listed=True), ItemKeys("query_id", clicked_id)
    clicks = KeptRows(happened, "action_name", tuple(clicked.split("|")))
    return WideLog(ClicksBeside(DerivedTable(queries, made | others), clicks, "clicks", *keys), {}, invalid)


@ubi.recognised
def _is_ubi(beginning: Beginning) -> Mapping[str, Any] | None:
    try:
        queries, happened = _of_ubi(beginning, "")
    except OffrankError:
        return None
    known = "query_id" in queries.names and any(name in queries.names for name in _HITS)
    return {} if known and {"action_name", "query_id"} <= {*happened.names} else None


def _of_ubi(source: Any, events: str) -> tuple[Table, Table]:
    """Return the queries and the events."""
    each = [open_table(source), open_table(events)] if events else tables_of(source)
    if len(each) != 2:
        raise UsageError("UBI is two tables, queries and events", "give both, as a list or in one folder")
    first, second = map(documents, each)
    return (second, first) if "action_name" in first.names else (first, second)
