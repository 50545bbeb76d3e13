"""Description of a log's columns: the role of each, and its possible uses."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
import pyarrow as pa

from ..errors import ColumnError, UsageError
from ..log.schema import LONG_ROLES, ROLES
from ..log.source import Source, engine_of
from ..running.executors import Progress
from . import flat
from .conversions import is_json, is_number, some_lists
from .json_text import BadCell
from .long import LongLog
from .names import DICTIONARY
from .tables import Table, first_piece
from .wide import WideLog

_SAMPLE = 24
"""Characters of a first value that are shown."""
COLUMN_USES = ("ranking", "score", "group")
HOLDS = 0.99
"""Minimum share of rows with valid values for a column to be useful: some rows may break a rule."""


_MAY_BE = {"candidates": HOLDS, "score": 0.5}
"""What a column may hold that is not read, and the share of rows from which it is told."""


@dataclass(frozen=True)
class LogColumn:
    """A column of a log: its name, its type and its use.

    use: a role; `score` and `ranking` beside the candidates; `group` for a value per impression; otherwise empty. like:
    the role that commonly has this name, if that role has no column; or what it may hold, though it is not read:
    `candidates`, a `score` that is missing in some rows, or the `log_propensity` of a list. samples: first values, cut
    where long.
    """

    name: str
    type: str
    use: str = ""
    like: str = ""
    samples: tuple[str, ...] = field(default=(), compare=False)


def describe_columns(log: Source, progress: Progress | None = None) -> tuple[LogColumn, ...]:
    """Describe the columns of a log in its own order, from all of its rows.

    Raises:
        UsageError: the log is not from `read_log`.
        LogError: it cannot be read.
    """
    if not isinstance(log, WideLog | LongLog):
        raise UsageError(f"cannot read the columns of {type(log).__name__}", "give a log from read_log")
    known = LONG_ROLES if isinstance(log, LongLog) else ROLES
    role_of = {role: role for role in known if role not in log.renamed}
    named = {**log.description.groups, **log.renamed}
    role_of |= {name: role for role, name in named.items() if role in (*known, "position")}
    own = {role: name for name, role in role_of.items() if name in log.table.names}
    first = first_piece(log.table, log.table.names)
    if first is None:
        return ()
    types = dict(zip(log.table.names, first.data.schema.types, strict=True))
    asked = [name for name in types if name not in role_of]
    listed = {name for name in asked if pa.types.is_nested(types[name]) or is_json(first.data.column(name))}
    plain = {name for name in asked if isinstance(log, WideLog) and name not in listed}
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
        holding_for = (use for use in COLUMN_USES if rows and holds[name, use] >= HOLDS * rows)
        use = "group" if name in plain else next(holding_for, "")
        called = name.lower().rpartition(".")[2] if use == "score" else name.lower()
        able = (role for role in known if role not in own and (role != "slot_propensity" or use == "score"))
        near = next((role for role in able if called in DICTIONARY.get(f"LIKE_{role.upper()}", ())), "")
        fits = (what for what, least in _MAY_BE.items() if rows and not use and holds[name, what] >= least * rows)
        map_of_numbers = "score" if pa.types.is_map(types[name]) and is_number(types[name].item_type) else ""
        like = "" if name in role_of else near or next(fits, map_of_numbers)
        if (
            use == "group"
            and "propensity" not in own
            and _LOGARITHM.search(name)
            and _negative(first.data.column(name))
        ):
            like = "log_propensity"
        shown = _samples(first.data, name)
        columns.append(LogColumn(name, type_in_words(types[name]), role_of.get(name, use), like, shown))
    return tuple(columns)


_LOGARITHM = re.compile("(^|_)(log_?(p|pi|prob|prop|lik)[a-z]*|lp|ll)(_|$)", re.IGNORECASE)
"""Names of logarithms of probabilities."""


def _negative(column: pa.Array) -> bool:
    """Whether a column holds fractions, none of them above 0."""
    fractions = pa.types.is_floating(column.type) and column.null_count < len(column)
    return fractions and bool(-np.inf < np.nanmax(flat.numbers(column, ""), initial=-np.inf) <= 0)


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
        items = flat.id_lists(data.column(beside), beside)
    except (ColumnError, BadCell):
        return
    if (found := some_lists(data.column(name), name, None, pa.float64())) is None:
        return
    values = found.values
    held = ~(found.null | found.rows_where(flat.nulls(values)))
    if is_number(values.type):
        numbers = flat.numbers(values, name)
        if "candidates" not in own and any((numbers == found.place + top).all() for top in (0, 1)):
            return  # it counts the places of the slate, and tells nothing of the items
        finite = np.isfinite(numbers)
        yield "score", int((held & (found.lengths == items.lengths) & ~found.rows_where(~finite)).sum())
    if not (pa.types.is_floating(values.type) or pa.types.is_nested(values.type)):
        ranked = replace(found, values=flat.id_codes(values, name))
        outside = items.places(ranked).outside
        yield "ranking", int((held & (found.lengths > 0) & ~outside & ~ranked.places(ranked).twice).sum())
        if "candidates" not in own and (found.lengths > items.lengths).any():
            yield "candidates", int((held & ~ranked.places(items).outside).sum())


def _long(data: pa.RecordBatch, name: str, own: Mapping[str, str]) -> Iterator[tuple[str, int]]:
    """Whether a column holds a number for each item, or a value for the whole impression."""
    column, impression = data.column(name), flat.id_codes(data.column(own["impression"]), own["impression"])
    if pa.types.is_nested(column.type):
        return
    number = is_number(column.type)
    values = flat.numbers(column, name) if number else flat.id_codes(column, name)
    order = np.argsort(impression, kind="stable")  # rows of one impression may be scattered
    impression, ordered = impression[order], values[order]
    same = impression[1:] == impression[:-1]
    if not (same & (ordered[1:] != ordered[:-1])).sum() > (1 - HOLDS) * same.sum():
        yield "group", len(data)
    elif number:
        yield "score", int(np.isfinite(values).sum())


def first_look(rows: pa.Table) -> tuple[LogColumn, ...]:
    """Return the columns of a table of which no role is known."""
    first = rows.slice(0, 100).combine_chunks()
    batch = first.to_batches()[0]
    return tuple(
        LogColumn(name, type_in_words(kind), samples=_samples(batch, name))
        for name, kind in zip(rows.schema.names, rows.schema.types, strict=True)
    )


def _samples(rows: pa.RecordBatch, name: str, most: int = 2) -> tuple[str, ...]:
    """Return the first values of a column that are not null, as texts of bounded length."""
    found = rows.column(name)
    known = np.flatnonzero(~flat.nulls(found))[:most].tolist()
    return tuple(_cut(flat.show_value(found, row)) for row in known)


def _cut(text: str) -> str:
    return text if len(text) <= _SAMPLE else f"{text[: _SAMPLE - 3]}..."


def type_in_words(kind: pa.DataType) -> str:
    """Return a type in words: `list of double`."""
    nested = pa.types.is_nested(kind) and hasattr(kind, "value_type")
    return f"list of {type_in_words(kind.value_type)}" if nested else str(kind)
