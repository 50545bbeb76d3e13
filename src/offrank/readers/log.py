"""`read_log`: from whatever the user has to a lazy source."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args

import pyarrow as pa

from ..errors import ColumnError, EmptyLogError, SpellingError, UsageError
from ..log.schema import Columns, check_renamed
from ..log.source import Source
from ..options import option
from .files import expand, is_paths, suffix
from .formats.criteo import criteo
from .formats.criteo_paper import criteo_paper
from .formats.open_bandit import open_bandit
from .formats.yandex import yandex
from .long import LongLog
from .tables import ArrowTable, CsvTable, MemoryTable, ParquetTable, Table
from .wide import Invalid, WideLog

FORMATS: dict[str, Callable[..., Source]] = {
    "criteo": criteo,
    "criteo_paper": criteo_paper,
    "open_bandit": open_bandit,
    "yandex": yandex,
}
"""Formats of public data sets, by name."""

_SUFFIXES = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".csv": "csv",
}


def read_log(
    source: Any,
    columns: Mapping[str, str] | None = None,
    *,
    format: str | None = None,  # noqa: A002  the word that every reader library uses
    invalid: Invalid = "raise",
) -> Source:
    """A log, to be read lazily: nothing but names is looked at until a job asks for columns.

    - source: a Parquet file, glob or folder; an Arrow IPC file; a CSV file (long layout, `.csv` or
      `.csv.gz`); a list of paths; a pandas, Polars or Arrow table (anything with
      `__arrow_c_stream__`); a list of dicts.
    - columns: role -> the log's own name of that column, `{"slate": "shown"}`.
    - format: `criteo`, `criteo_paper`, `open_bandit` or `yandex` for those data sets; by default from the
      file's suffix.
    - invalid: "raise" at the first row that breaks a rule, or "skip" such rows and count them.

    The layout is wide (a row per impression) where there is a `slate` column, long (a row per
    item) where there are `impression` and `item`.

    Raises:
        UsageError: not something that can be read.
        EmptyLogError: no rows.
        ColumnError: neither layout's columns are there.
    """
    renamed = dict(columns or {})
    check_renamed(renamed)
    if invalid not in get_args(Invalid):
        raise UsageError(f"invalid is {invalid!r}", 'say "raise" or "skip"')
    if format in FORMATS:
        if renamed:
            raise UsageError(f"the columns of the {format} format are fixed", f"leave out {option('columns')}")
        return FORMATS[format](source, invalid=invalid)
    table = _table(source, format)
    if not table.parts():
        raise EmptyLogError(f"{table.describe()} has no rows", "give a log with at least one impression")
    return _layout(table, renamed, invalid)


def _layout(table: Table, renamed: Mapping[str, str], invalid: Invalid) -> Source:
    known = Columns(table.names, renamed, table.describe())
    if known.has("slate") or not (known.has("item") or known.has("impression")):
        known.of("slate")
        return WideLog(table, renamed, invalid)
    for role in ("impression", "item", "position"):
        known.of(role)
    return LongLog(table, renamed, invalid)


def _table(source: Any, kind: str | None) -> Table:
    if is_paths(source):
        return _files(expand(source, None if kind else _SUFFIXES), kind)
    if hasattr(source, "__arrow_c_stream__"):
        return MemoryTable(_of_arrow(source))
    if isinstance(source, Sequence) and all(isinstance(item, Mapping) for item in source):
        return MemoryTable(_of_dicts(source), "list")
    raise UsageError(
        f"cannot read a log from {type(source).__name__}",
        "give a path, a glob, a table (pandas, Polars, Arrow) or a list of dicts",
    )


_MIXED = "write the same kind of value in every row"


def _of_arrow(source: Any) -> pa.Table:
    try:
        return pa.table(source)
    except pa.ArrowException as error:  # pandas columns of mixed objects; the second argument names the column
        raise ColumnError(f"the table cannot be read: {'; '.join(map(str, error.args))}", _MIXED) from error


def _of_dicts(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """A table of every key of any row; pyarrow by itself takes those of the first row and drops the others."""
    names = dict.fromkeys(name for row in rows for name in row)
    return pa.table({str(name): _column(str(name), [row.get(name) for row in rows]) for name in names})


def _column(name: str, values: list[Any]) -> pa.Array:
    try:
        return pa.array(values)
    except (pa.ArrowException, OverflowError) as error:
        raise ColumnError(f"column {name!r} of the list cannot be read: {error}", _MIXED) from error


def _files(paths: tuple[str, ...], kind: str | None) -> Table:
    kinds = {kind} if kind else {_kind(path) for path in paths}
    if len(kinds) > 1:
        raise UsageError(f"the files are of several kinds: {', '.join(sorted(map(str, kinds)))}", "give one kind")
    match kinds.pop():
        case "parquet":
            return ParquetTable(paths)
        case "arrow":
            return ArrowTable(paths)
        case "csv":
            return CsvTable(paths)
        case other:
            known = ", ".join(sorted({*_SUFFIXES.values(), *FORMATS}))
            raise SpellingError(f"unknown format {other!r}", f"formats are {known}")


def _kind(path: str) -> str:
    kind = _SUFFIXES.get(suffix(path))
    if kind is None:
        raise UsageError(
            f"cannot tell the format of {path!r} by its suffix",
            f"name it with {option('format')}: " + ", ".join(sorted({*_SUFFIXES.values(), *FORMATS})),
        )
    return kind
