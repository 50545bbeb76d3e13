"""The error about a table that is not read as a log: what is in it, what fits, and the options that settle it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from ..errors import ColumnError, OffrankError, UsageError
from ..wording import ColumnNames, Option, Wording, joined, nearest
from . import flat
from .beginning import Beginning
from .column_sets import FileTable, differing, headed, one_of, sets_of
from .description import Description
from .log_columns import type_in_words
from .roles.wide import wide_roles
from .tables import Table, first_rows
from .without_slates import lacks_lists

_DESCRIBED, _SHORT = 12, 60
"""Columns, and characters of their first values, that are shown of such a table."""


def not_understood(
    beginning: Beginning, found: Description, said: Mapping[str, str], error: OffrankError
) -> OffrankError:
    """Return the error about a table that could not be read by what was said. error: what failed first."""
    rows, table = beginning.rows, beginning.table
    if rows is None or table is None or not isinstance(error, ColumnError):
        return error
    if found.instead:
        return ColumnError(f"{table.describe()}: {found.lacks}", found.remedy)
    named = {said.get(role, role) for role in ("impression", "item")} <= {*table.names}
    if found.lacks and (named or "slate" in said or nearest("slate", table.names, _NEAR)):
        return error  # which says it better
    more = f", and {len(table.names) - _DESCRIBED} more columns" if len(table.names) > _DESCRIBED else ""
    columns = "; ".join(_column(rows, name) for name in table.names[:_DESCRIBED])
    return ColumnError(
        Wording("{} is not understood: {}. It has {}{}", table.describe(), _open(found), columns, more), _remedy(found)
    )


def not_joined(beginning: Beginning, error: OffrankError) -> OffrankError:
    """Return the error about two tables of which none is a log, and that do not join. error: what failed first."""
    without = lacks_lists(beginning) if isinstance(error, ColumnError) else None
    if without is not None:
        return ColumnError(without.lacks, without.remedy)
    try:
        tables = beginning.tables if isinstance(error, ColumnError | UsageError) else []
        if len(tables) != 2:
            return _of_sets(tables, error)
        for table in tables:
            found = wide_roles(first_rows(table), {})
            if found.instead:
                return ColumnError(f"{table.describe()}: {found.lacks}", found.remedy)
    except OffrankError:
        return error
    mine, theirs = ({*table.names} for table in tables)
    if 2 * len(mine & theirs) >= max(len(mine), len(theirs)):  # they are two logs, not impressions and their clicks
        return _of_sets(tables, error)
    said = [f"{table.describe()} has {', '.join(table.names)}" for table in tables]
    join = "events(impression=NAME, item=NAME, position=NAME, click_impression=NAME, click_item=NAME)"
    return ColumnError(
        f"these are two tables, and it is not clear how clicks in one refer to items in the other: {'; '.join(said)}",
        Wording(
            "give the impressions and their clicks, and name the columns that join them: {}", Option("format", join)
        ),
    )


def _of_sets(tables: Sequence[Table], error: OffrankError) -> OffrankError:
    """Return the error about files whose columns differ; of other tables what failed first."""
    files = [table for table in tables if isinstance(table, FileTable)]
    sets = sets_of((path, table.names) for table in files for path in table.files.paths)
    told = isinstance(error, ColumnError) and len(files) == len(tables) and len(sets) > 1 and headed(sets)
    return ColumnError(differing(sets), one_of(sets)) if told else error


def _open(found: Description) -> str:
    """Return what is not known of a table."""
    known = ", ".join(f"{role}={one.column}" for role, one in found.roles.items())
    asked = " and ".join(each.what for each in found.unsettled)
    what = "; ".join(part for part in (asked and f"it is not clear {asked}", found.lacks) if part)
    return f"{what} (read so far: {known})" if known else what


def _remedy(found: Description) -> str:
    """Return the options that settle what is open, the likeliest first."""
    if not found.unsettled:
        if {"item", "slate"} & found.roles.keys():
            role = "click" if "item" in found.roles else "clicks"
            return Wording("if a column has it, name it: {}", ColumnNames({role: "NAME"}))
        own = "give every list shown its own id; if it has one, name it: {}"
        return Wording(own, ColumnNames(_EXAMPLE))
    first = {role: name for each in found.unsettled for role, name in each.columns[0].items()}
    others = [option for each in found.unsettled for option in each.options[1:]]
    return Wording("use {}", ColumnNames(first)) + joined("", [Wording(", or {}", one) for one in others])


_NEAR = 0.85
"""How near a name must be to be taken for a slip; `state` is none."""
_EXAMPLE = {"impression": "NAME", "item": "NAME", "position": "NAME", "click": "NAME"}


def _column(rows: pa.Table, name: str) -> str:
    """Describe a column: its type, and its first values."""
    shown = ", ".join(repr(value) for value in flat.in_python(rows.column(name).slice(0, 2)))
    shown = shown if len(shown) <= _SHORT else f"{shown[:_SHORT]}..."
    return f"{name} ({type_in_words(rows.schema.field(name).type)}): {shown}"
