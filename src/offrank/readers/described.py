"""Description of a log's columns: the role of each, and its possible uses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from ..errors import ColumnError, OffrankError, UsageError
from ..log.schema import LONG_ROLES, ROLES
from ..log.source import Source
from ..running.engines import engine_of
from ..running.executors import Progress
from ..wording import ColumnNames, Wording
from . import arrow
from .long import LongLog
from .opening import open_table
from .tables import Table
from .unfolding import unfolded
from .wide import WideLog

LIKE = {
    "propensity": ("pscore", "propensities", "propensity_score", "action_prob", "logging_prob"),
    "query": ("query_id", "qid", "search_term", "search_query"),
    "user": ("user_id", "uid", "member_id", "customer_id"),
    "session": ("session_id", "visit_id"),
    "clicks": ("clicked", "click", "is_click"),
    "click": ("clicks", "clicked", "is_click"),
    "reward": ("revenue", "conversion"),
    "inclusion": ("sampling_rate", "sample_rate", "keep_prob"),
}
"""Common names for each role; they are suggestions, never used without the user's instruction."""


ROLE_WORDS = {
    "impression": ("impression_id", "ranking_id", "srch_id", "search_id", "request_id", "query_id", "session_id"),
    "item": ("item_id", "prop_id", "doc_id", "document_id", "product_id", "sku", "object_id"),
    "position": ("rank", "pos", "slot", "ordinal"),
    "slate": ("items", "shown", "ranking", "list", "results", "slates"),
}
"""Common names of the columns that every log has, suggested where a table is not understood."""
_DESCRIBED, _SHORT = 12, 60
"""Columns, and characters of their first values, that are shown of such a table."""

USES = ("ranking", "score", "group")
HOLDS = 0.99
"""Minimum share of rows with valid values for a column to be useful: some rows may break a rule."""


@dataclass(frozen=True)
class LogColumn:
    """A column of a log: its name, its type and its use.

    use: a role; `score` and `ranking` beside the candidates; `group` for a value per impression; otherwise empty. like:
    the role that commonly has this name, if that role has no column.
    """

    name: str
    type: str
    use: str = ""
    like: str = ""


def described(log: Source, progress: Progress | None = None) -> tuple[LogColumn, ...]:
    """Describe the columns of a log in its own order, from all of its rows.

    Raises:
        UsageError: the log is not from `read_log`.
        LogError: it cannot be read.
    """
    if not isinstance(log, WideLog | LongLog):
        raise UsageError(f"cannot look at the columns of {type(log).__name__}", "give a log from read_log")
    known = LONG_ROLES if isinstance(log, LongLog) else ROLES
    role_of = {log.renamed.get(role, role): role for role in known}
    role_of |= {log.renamed[role]: role for role in ("position",) if role in log.renamed}
    own = {role: name for name, role in role_of.items() if name in log.table.names}
    first = next(log.table.pieces(0, log.table.names), None)
    if first is None:
        return ()
    types = dict(zip(log.table.names, first.data.schema.types, strict=True))
    asked = [name for name in types if name not in role_of]
    plain = {name for name in asked if isinstance(log, WideLog) and not pa.types.is_nested(types[name])}
    asked = [name for name in asked if name not in plain]
    asked = asked if {"slate", "impression"} & set(own) else []  # the reader of a public data set makes them
    engine, count = engine_of(log.table), partial(_counted, log.table, asked, own)
    rows, holds = 0, Counter[tuple[str, str]]()
    if asked:
        parts = log.table.parts()
        for done, found in enumerate(map(count, range(parts)) if engine is None else engine.each(count, progress), 1):
            rows, holds = rows + found[0], holds + found[1]
            if progress is not None and engine is None:
                progress(done, parts)
    columns = []
    for name in log.table.names:
        holding_for = (use for use in USES if rows and holds[name, use] >= HOLDS * rows)
        use = "group" if name in plain else next(holding_for, "")
        near = next((role for role in known if name.lower() in LIKE.get(role, ()) and role not in own), "")
        like = "" if name in role_of else near
        columns.append(LogColumn(name, _type(types[name]), role_of.get(name, use), like))
    return tuple(columns)


def _counted(
    table: Table, asked: Sequence[str], own: Mapping[str, str], part: int
) -> tuple[int, Counter[tuple[str, str]]]:
    """Return the rows of one part, and those in which each of these columns could have each use."""
    rows, holds, count = 0, Counter[tuple[str, str]](), _wide if "slate" in own else _long
    beside = [own[role] for role in ("slate", "impression", "candidates") if role in own]
    for piece in table.pieces(part, (*beside, *asked)):
        rows += len(piece.data)
        for name in asked:
            holds.update({(name, use): valid for use, valid in count(piece.data, name, own)})
    return rows, holds


def _wide(data: pa.RecordBatch, name: str, own: Mapping[str, str]) -> Iterator[tuple[str, int]]:
    """Count the rows in which a column holds a ranking of candidates, or a number for each."""
    beside = own.get("candidates", own["slate"])
    try:
        items = arrow.id_lists(data.column(beside), beside)
        found = arrow.lists(data.column(name), name)
    except ColumnError:
        return
    values = found.values
    held = ~(found.null | found.rows_where(arrow.nulls(values)))
    if _is_number(values.type):
        finite = np.isfinite(arrow.numbers(values, name))
        yield "score", int((held & (found.lengths == items.lengths) & ~found.rows_where(~finite)).sum())
    if not (pa.types.is_floating(values.type) or pa.types.is_nested(values.type)):
        ranked = replace(found, values=arrow.codes(values, name))
        outside = (items.places(ranked) == -2).any(axis=1)
        yield "ranking", int((held & (found.lengths > 0) & ~outside & ~ranked.twice()).sum())


def _long(data: pa.RecordBatch, name: str, own: Mapping[str, str]) -> Iterator[tuple[str, int]]:
    """Whether a column holds a number for each item, or a value for the whole impression."""
    column, impression = data.column(name), arrow.codes(data.column(own["impression"]), own["impression"])
    if pa.types.is_nested(column.type):
        return
    number = _is_number(column.type)
    values = arrow.numbers(column, name) if number else arrow.codes(column, name)
    same = impression[1:] == impression[:-1]
    if not (same & (values[1:] != values[:-1])).sum() > (1 - HOLDS) * len(data):
        yield "group", len(data)
    elif number:
        yield "score", int(np.isfinite(values).sum())


def _type(kind: pa.DataType) -> str:
    """Return a type in words: `list of double`."""
    return (
        f"list of {_type(kind.value_type)}" if pa.types.is_nested(kind) and hasattr(kind, "value_type") else str(kind)
    )


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def not_understood(log: Any, error: OffrankError, columns: Mapping[str, str] | None, **how: Any) -> OffrankError:
    """Return the error about a table that is not read as a log: what is in it, and which columns may have which role.

    Of what is no table, it is the first error itself.
    """
    if not isinstance(error, ColumnError):
        return error
    try:
        table = unfolded(open_table(log, how.get("format")), columns)
        first = next(table.pieces(0, table.names), None)
    except (OffrankError, StopIteration):
        return error
    if first is None:
        return error
    rows = first.data.slice(0, 2)
    shown = [
        f"{name} ({_type(rows.schema.field(name).type)}): {_values(rows, name)}" for name in table.names[:_DESCRIBED]
    ]
    more = f", and {len(table.names) - _DESCRIBED} columns more" if len(table.names) > _DESCRIBED else ""
    roles = {role: _near(role, table.names) for role in ("impression", "item", "position", "click", "slate", "query")}
    fitting = {role: name for role, name in roles.items() if name and role not in (columns or {})}
    lists = {"item", "position"} <= {*table.names, *fitting, *(columns or {})}
    alone = lists and "impression" not in {*table.names, *fitting, *(columns or {})}
    return ColumnError(
        f"{table.describe()} is not understood: a row is an impression with the column `slate`, or an item with "
        f"`impression`, `item` and `position`. It has {'; '.join(shown)}{more}",
        "give every list that was shown an id of its own in a column `impression`"
        if alone
        else "say which column is which"
        + Wording(", perhaps {}" if fitting else ": {}", ColumnNames(fitting or {"slate": "NAME"})),
    )


def _values(rows: pa.RecordBatch, name: str) -> str:
    said = ", ".join(repr(value) for value in rows.column(name).to_pylist())
    return said if len(said) <= _SHORT else f"{said[:_SHORT]}..."


def _near(role: str, names: Sequence[str]) -> str:
    """Return the column that commonly has a role, if it is not called so."""
    known = (*ROLE_WORDS.get(role, ()), *LIKE.get(role, ()))
    return "" if role in names else next((name for word in known for name in names if name.lower() == word), "")
