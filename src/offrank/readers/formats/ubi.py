"""User Behavior Insights (UBI 1.0 to 1.3), as OpenSearch, Solr and Elasticsearch plugins write it.

Queries: query_id, user_query, client_id, query_response_hit_ids or query_response_object_ids, timestamp ...
Events: action_name, query_id, client_id, session_id, event_attributes.object.object_id, ... timestamp.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...errors import OffrankError, UsageError
from ..beginning import Beginning
from ..computed_columns import DerivedTable
from ..joining import ClicksBeside, ItemKeys, KeptRows
from ..opening import open_table, tables_of
from ..tables import Table, refuse_lacking
from ..unfolding import documents
from ..wide import Invalid, WideLog
from .registry import READERS, Reader

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
    queries, happened = _tables(source, events)
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
def _recognised(beginning: Beginning) -> Mapping[str, Any] | None:
    try:
        queries, happened = _tables(beginning.opened, "")
    except OffrankError:
        return None
    known = "query_id" in queries.names and any(name in queries.names for name in _HITS)
    return {} if known and {"action_name", "query_id"} <= {*happened.names} else None


def _tables(source: Any, events: str) -> tuple[Table, Table]:
    """Return the queries and the events."""
    each = [open_table(source), open_table(events)] if events else tables_of(source)
    if len(each) != 2:
        raise UsageError("UBI is two tables, queries and events", "give both, as a list or in one folder")
    first, second = map(documents, each)
    return (second, first) if "action_name" in first.names else (first, second)
