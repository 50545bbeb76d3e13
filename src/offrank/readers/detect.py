"""The one detector: how a source is read if nothing is said of it. Every verb reads by it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import pyarrow as pa

from ..errors import ColumnError
from ..log.schema import LONG_ROLES, ROLES, check_renamed
from ..log.source import engine_of
from ..wording import ColumnNames, Wording, joined
from .beginning import Beginning
from .clicked_indices import column_of, spelled
from .composite_ids import asked_of_pages, composed_rows, ids_together, of_pages
from .conversions import ClicksAs
from .description import Description, RoleEvidence, Unsettled
from .formats.registry import READERS, Reader
from .roles import long, wide
from .roles.scattered import scattered_roles
from .tables import FIRST_ROWS, Table, first_rows, may_be_null, once_only, refuse_all_null
from .unfolding import UnfoldedTable, few_rows
from .without_slates import lacks_lists


def format_of(beginning: Beginning) -> Reader | None:
    """Return the reader of a named standard that knows this source as its own; None if none does, or several do."""
    for general in (False, True):
        readers = [reader for reader in READERS.values() if reader.general == general]
        found = [one for reader in readers if (one := reader.fitting(beginning)) is not None]
        if found:
            return found[0] if len(found) == 1 else None
    return None


def roles_of(beginning: Beginning, said: Mapping[str, str], *, closed: bool = False) -> Description | None:
    """Return the layout of a plain table and the roles of its columns.

    None if its first rows are not known, or if it lacks a column that was said. said: the roles that were given, which
    are not doubted. closed: whether gaps between positions are closed.
    """
    check_renamed(said)
    rows = beginning.rows if beginning.rows is None else composed_rows(beginning.rows, said)
    known = () if rows is None else tuple(rows.column_names)
    if rows is None or not rows.num_rows or not {column_of(name, known) for name in said.values()} <= {*known}:
        return None
    layouts = [
        roles(rows, said)
        for roles, of_layout in ((partial(long.long_roles, closed=closed), LONG_ROLES), (wide.wide_roles, ROLES))
        if said.keys() <= {*of_layout, "position"}
    ]
    best, table = min(layouts, key=_openness, default=None), beginning.table
    if best is None or not (best.lacks or best.unsettled):
        return best
    if best.lacks and "impression" not in said and (together := _together(rows, said)) is not None:
        return together
    if best.lacks and not said and (without := lacks_lists(beginning)) is not None:
        return without
    if rows.num_rows < FIRST_ROWS or table is None or not said.keys() <= LONG_ROLES.keys():
        return best
    return scattered_roles(table, rows, said) or best


def _together(rows: pa.Table, said: Mapping[str, str]) -> Description | None:
    """Return the roles of a long table whose lists are told apart by several columns together; None if none are."""
    ids = ids_together(rows)
    if not ids:
        return None
    known = {**said, "impression": ids[0]}
    found = long.long_roles(composed_rows(rows, known), known)
    roles = {**found.roles, "impression": RoleEvidence(ids[0], "together they form lists", tuple(ids[1:]))}
    if of_pages(ids[0]):
        return replace(found, roles=roles, unsettled=(asked_of_pages(ids[0]), *found.unsettled))
    if len(ids) > 1:
        ways = tuple(Wording("{}", ColumnNames({"impression": name})) for name in ids)
        return replace(found, unsettled=(Unsettled("which columns are the impression", ways), *found.unsettled))
    return replace(found, roles=roles)


def _openness(found: Description) -> tuple[bool, bool, bool, int]:
    """Return what sorts descriptions: what can be read comes first, then what is known to be wrong, and settled."""
    return bool(found.lacks), not found.instead, bool(found.unsettled), -len(found.roles)


def detect_clicks_as(table: Table, said: Mapping[str, str], *, is_wide: bool, rows: pa.Table | None = None) -> ClicksAs:
    """Tell how clicks are written, from the first rows; a stream is not looked at, nor one that is opened for it alone.

    A column that is called as the role and was not given holds numbers, or nothing where there was no click.
    rows: the first rows, if they were read.
    """
    wanted = ("slate", "clicks") if is_wide else ("position", "click", "item", "impression")
    columns, click = tuple(said.get(role, role) for role in wanted), wanted[1]
    plain: ClicksAs = "values" if said else "numbers"
    inner: Any = table.table if isinstance(table, UnfoldedTable) else table
    if click not in said and {*columns} <= {*table.names} and not may_be_null(table, columns[1]):
        return plain
    opened_anew = click not in said and (hasattr(inner, "held") or engine_of(inner) is not None)
    if once_only(table) or opened_anew or not {*columns} <= {*table.names}:
        return plain
    if rows is None or not {*columns} <= {*rows.column_names}:
        rows = (first_rows if click in said else few_rows)(table, tuple(dict.fromkeys(columns)))
    if len(rows) and rows.column(columns[1]).null_count == len(rows):
        refuse_all_null(table, columns[1])
    found = (wide.clicks_in_lists if is_wide else long.clicks_in_rows)(rows, *columns) if len(rows) else plain
    return found if click in said or found == "filled" else plain


def places_said(table: Table, said: Mapping[str, str], *, rows: pa.Table | None = None) -> Mapping[str, str]:
    """Return the columns that were said, the clicks as places with their first number if they hold places.

    rows: the first rows, if they were read.

    Raises:
        ColumnError: the rows do not tell from which number places count.
    """
    clicks, slate = said.get("clicks", ""), said.get("slate", "slate")
    if once_only(table) or not {clicks, slate} <= {*table.names}:
        return said
    if rows is None or not {clicks, slate} <= {*rows.column_names}:
        rows = few_rows(table, (slate, clicks))
    tops = wide.tops_said(rows, slate, clicks)
    if not tops:
        return said
    if len(tops) == 1:
        return {**said, "clicks": spelled(clicks, tops[0])}
    ways = [Wording("{}", ColumnNames({"clicks": spelled(clicks, top)})) for top in tops]
    raise ColumnError(f"positions in {clicks!r} may be counted from 0 or from 1", joined(", or ", ways))
