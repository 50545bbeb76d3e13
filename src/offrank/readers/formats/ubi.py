"""User Behavior Insights (UBI 1.0 to 1.3), as OpenSearch, Solr and Elasticsearch plugins write it.

Queries: query_id, user_query, client_id, query_response_hit_ids or query_response_object_ids, timestamp ...
Events: action_name, query_id, client_id, session_id, event_attributes.object.object_id, ... timestamp.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ...errors import ColumnError, LogError, UsageError
from .. import arrow
from ..beginning import Beginning
from ..files import expand
from ..joining import ClicksBeside, ItemKeys, KeptRows
from ..opening import open_table
from ..tables import Piece, Table
from ..wide import Invalid, WideLog
from .registry import READERS, Reader

_HITS = ("query_response_hit_ids", "query_response_object_ids")
_QUERY = {"query": "user_query", "user": "client_id", "session": "session_id"}
_OBJECT = "event_attributes.object.object_id"
_SOURCE = "_source"


@READERS.register
@Reader.of("events")
def ubi(
    source: Any,
    *,
    events: str = "",
    clicked: str = "click",
    clicked_id: str = _OBJECT,
    invalid: Invalid = "raise",
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
    hits = next((name for name in _HITS if name in queries.names), None)
    if hits is None or "query_id" not in queries.names:
        raise ColumnError(
            f"{queries.describe()} has no columns query_id and {_HITS[0]}", "give the exported index ubi_queries"
        )
    made = {"query_id": "query_id", "slate": hits} | {
        role: name for role, name in _QUERY.items() if name in queries.names
    }
    taken = {*made.values(), *made}
    shown = Extracted(queries, made | {name: name for name in queries.names if name not in taken})
    kept = KeptRows(happened, "action_name", tuple(clicked.split("|")))
    clicks = Extracted(kept, {"query_id": "query_id", "object_id": clicked_id})
    keys = ItemKeys("query_id", "slate"), ItemKeys("query_id", "object_id")
    return WideLog(ClicksBeside(shown, clicks, *keys, "clicks"), {}, invalid)


@ubi.recognised
def _recognised(beginning: Beginning) -> Mapping[str, Any] | None:
    try:
        queries, happened = _tables(beginning.source, "")
    except (UsageError, LogError, TypeError):
        return None
    known = "query_id" in queries.names and any(name in queries.names for name in _HITS)
    return {} if known and {"action_name", "query_id"} <= {*happened.names} else None


def _tables(source: Any, events: str) -> tuple[Table, Table]:
    """Return the queries and the events."""
    if events:
        each = [source, events]
    elif isinstance(source, str | Path):
        each = [str(path) for path in expand(source)]
    else:
        each = list(source) if isinstance(source, Sequence) else []
    if len(each) != 2:
        raise UsageError("UBI is two files, queries and events", "give both, as a list or in one folder")
    first, second = (IndexDocuments.of(open_table(one)) for one in each)
    return (second, first) if "action_name" in first.names else (first, second)


@dataclass(frozen=True)
class Extracted:
    """Columns of a table under other names; a path with dots leads into its structs. made: name -> path."""

    table: Table
    made: Mapping[str, str]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.made)

    def parts(self) -> int:
        return self.table.parts()

    def describe(self) -> str:
        return self.table.describe()

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        whole = {name: _column_of(self.made[name], self.table.names) for name in columns}
        for piece in self.table.pieces(part, tuple(dict.fromkeys(whole.values()))):
            data = {name: _inside(piece, whole[name], self.made[name]) for name in columns}
            yield replace(piece, data=pa.record_batch(data) if data else piece.data)


@dataclass(frozen=True)
class IndexDocuments:
    """An exported index: each row holds its document in the struct `_source`."""

    table: Table
    fields: tuple[str, ...]

    @classmethod
    def of(cls, table: Table) -> Table:
        """Return the documents of an exported index; any other table as it is."""
        if _SOURCE not in table.names:
            return table
        first = next(table.pieces(0, (_SOURCE,)), None)
        kind = None if first is None else first.data.column(_SOURCE).type
        return cls(table, tuple(kind.names)) if kind is not None and pa.types.is_struct(kind) else table

    @property
    def names(self) -> tuple[str, ...]:
        return self.fields

    def parts(self) -> int:
        return self.table.parts()

    def describe(self) -> str:
        return self.table.describe()

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        for piece in self.table.pieces(part, (_SOURCE,)):
            data = {name: _inside(piece, _SOURCE, f"{_SOURCE}.{name}") for name in columns}
            yield replace(piece, data=pa.record_batch(data) if data else piece.data)


def _column_of(path: str, names: Sequence[str]) -> str:
    """Return the column that a path begins with: the longest that is one."""
    parts = path.split(".")
    found = (".".join(parts[:end]) for end in range(len(parts), 0, -1))
    return next((name for name in found if name in names), parts[0])


def _inside(piece: Piece, column: str, path: str) -> pa.Array:
    """Return a column, or a field inside its structs; nulls where a row has no such field."""
    found = piece.data.column(column)
    for name in path.removeprefix(column).split(".")[1:]:
        if not pa.types.is_struct(found.type):
            raise ColumnError(
                f"{piece.file}: {path!r} leads nowhere: {found.type} holds no {name!r}", "name another field"
            )
        if name not in found.type.names:
            return pa.nulls(len(found), pa.string())
        found = pc.struct_field(found, name)
    return arrow.plain(found) if not pa.types.is_nested(found.type) else found
