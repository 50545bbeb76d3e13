"""Several columns together: `session+timestamp` is a list, `rank_a+rank_b` what two rankings choose from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import ColumnError
from ..wording import ColumnNames, Wording
from . import flat, names
from .computed_columns import Computed, DerivedTable
from .description import Unsettled
from .roles.columns import BY_CHANCE, FEW, Column, is_constant, of_values
from .roles.runs import positioned
from .tables import Table

_BETWEEN = "\x1f"
_PARTS_TRIED = 6
"""Columns of which two or three are tried together."""


def joined_columns(name: str, known: tuple[str, ...]) -> tuple[str, ...]:
    """Return the columns that a name joins; none if it is a column itself, or if one of them is not there."""
    found = tuple(name.split(names.PLUS))
    return found if name not in known and len(found) > 1 and {*found} <= {*known} else ()


def composed(table: Table, said: Mapping[str, str]) -> Table:
    """Return a table with the id of its lists, or their candidates, where that is several columns together."""
    made = _made(table.names, said)
    return DerivedTable(table, {one: one for one in table.names}, made) if made else table


def composed_rows(rows: pa.Table, said: Mapping[str, str]) -> pa.Table:
    """Return the first rows of such a table."""
    for name, (parts, make) in _made(tuple(rows.column_names), said).items():
        some = rows.select(parts).combine_chunks()
        [batch] = some.to_batches() or [pa.RecordBatch.from_pylist([], some.schema)]  # of no rows there is none
        rows = rows.append_column(name, make(batch))
    return rows


def _made(known: tuple[str, ...], said: Mapping[str, str]) -> dict[str, Computed]:
    """Return how columns that are several together are made."""
    ways = {"impression": _as_one_text, "candidates": _as_one_list}
    named = {said[role]: (joined_columns(said[role], known), make) for role, make in ways.items() if role in said}
    return {name: one for name, one in named.items() if one[0]}


def _as_one_list(rows: pa.RecordBatch) -> pa.Array:
    """Return the distinct items of several lists as one, those of the first list first."""
    each = [flat.lists(rows.column(name), name) for name in rows.schema.names]
    row = np.concatenate([one.row for one in each])
    try:
        values = pa.concat_arrays([one.values for one in each])
    except pa.ArrowInvalid:
        said = f"the ids in {' and '.join(map(repr, rows.schema.names))} differ in their types"
        raise ColumnError(said, "use the same type for item ids in all columns") from None
    order = np.argsort(row, kind="stable")
    keys = np.stack([row[order], flat.id_codes(values, "candidates")[order]])
    kept = order[np.sort(np.unique(keys, axis=1, return_index=True)[1])]
    return flat.lists_of(values.take(pa.array(kept)), np.bincount(row[kept], minlength=rows.num_rows))


def _as_one_text(rows: pa.RecordBatch | pa.Table) -> pa.Array:
    """Return the texts of several columns as one; null where one of them is."""
    texts = [pc.cast(flat.plain_column(one) if isinstance(one, pa.Array) else one, pa.string()) for one in rows.columns]
    return pc.binary_join_element_wise(*texts, _BETWEEN, null_handling="emit_null")


def ids_together(rows: pa.Table) -> list[str]:
    """Return the fewest columns that make lists together, whose positions run from the top without a gap or repeat.

    Each answer makes other lists; of those that make the same ones, the best named.
    """
    columns = of_values(rows)
    places = [
        name for name, one in columns.items() if names.closeness("position", name) >= 2 and len(one.positions) > 0
    ]
    roles = ("impression", "session", "user", "query", "time")
    apart = [name for name in columns if of_pages(name) or any(names.closeness(role, name) >= 2 for role in roles)]
    bytes_in = [name for name in apart if pa.types.is_binary(columns[name].data.type)]  # texts that are not UTF-8
    able = [name for name in apart if name not in {*places, *bytes_in}][:_PARTS_TRIED]
    for size in (2, 3):
        found: dict[bytes, str] = {}
        for parts in combinations(able, size):
            for groups in _lists_made(rows, columns, parts, places):
                found.setdefault(groups, names.PLUS.join(parts))
        if found:
            return list(found.values())
    return []


def of_pages(name: str) -> bool:
    """Whether a name tells of the pages of a list."""
    return any("page" in names.parts(part) for part in name.split(names.PLUS))


def _lists_made(
    rows: pa.Table, columns: Mapping[str, Column], parts: tuple[str, ...], places: list[str]
) -> Iterator[bytes]:
    """Yield the lists that these columns make with a position, if they are certain, as numbers of groups."""
    name = names.PLUS.join(parts)
    joined = _as_one_text(rows.select(parts)).combine_chunks()
    one = Column(name, joined)
    if one.nulls.any():
        return
    alone = [columns[part] for part in parts if part in columns and len(columns[part].groups)]
    if any(is_constant(column, np.zeros(len(joined), np.int64)) for column in alone):
        return  # it tells nothing apart
    for place in places:
        run = positioned({**columns, name: one}, name, place)
        if not run.twice and min(run.begins, run.whole) >= 1 - FEW and run.by_chance >= BY_CHANCE:
            yield one.groups.tobytes()


def asked_of_pages(name: str) -> Unsettled:
    """Return the question about positions that start again on each page."""
    option = Wording("{} (each page then becomes a separate list)", ColumnNames({"impression": name}))
    return Unsettled("which rows form a list: positions start again on each page", (option,))
