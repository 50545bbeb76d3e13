"""Open files, tables, queries and streams as plain tables, whatever their columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ..errors import EmptyLogError, LogError, UsageError
from .contents import kind_of
from .csv_json import CsvJsonTable
from .databases import DATABASES, database, open_database
from .dataset import DatasetTable
from .dialect import Dialect
from .files import Files, find, is_paths, suffix
from .spark import SPARK, SparkTable
from .stored import ArrowTable, OrcTable, ParquetTable
from .streams import SQL, CallTable, IbisTable, LazyTable, OnceTable, QueryTable, RelationTable
from .tables import MemoryTable, Table, arrow_table, refuse_twice, table_of_dicts

SUFFIXES = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".orc": "orc",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
}
_STORED: Mapping[str, Callable[[Files], Table]] = {"parquet": ParquetTable, "arrow": ArrowTable, "orc": OrcTable}


def open_table(source: Any, kind: str | None = None, *, empty: bool = False) -> Table:
    """Open what `read_log` takes as a plain table, whatever its columns.

    kind: the kind of files, by default told by what is in them. empty: whether files may be empty.

    Raises:
        OffrankError: it cannot be read, or is not a table. LogError: two columns have the same name.
    """
    return _read(_table(source, kind if kind in SUFFIXES.values() else None, empty))


def _table(source: Any, kind: str | None = None, empty: bool = False) -> Table:
    if isinstance(source, str) and (named := _spelled(source)) is not None:
        return named
    if is_paths(source):
        return _files(source, kind, empty)
    for names, table in _KINDS:
        if all(hasattr(source, name) for name in names):
            return table(source)
    if isinstance(source, Iterator):
        return OnceTable.of(source)
    if isinstance(source, Sequence) and all(isinstance(item, Mapping) for item in source):
        return MemoryTable(table_of_dicts(source), "list")
    if callable(source):
        return CallTable(source, _table)
    raise UsageError(
        f"cannot read a log from {type(source).__name__}",
        "give a path, a glob, a table (pandas, Polars, Arrow), a list of dicts, or a stream",
    )


def _spelled(source: str) -> Table | None:
    """Return the table of a text that is no path; None if it is one."""
    for prefix, table in _SPELLED.items():
        if source.startswith(prefix):
            return table(source.removeprefix(prefix))
    return database(source)


def _in_memory(source: Any) -> Table:
    return MemoryTable(arrow_table(source))


_SPELLED: Mapping[str, Callable[[str], Table]] = {SQL: QueryTable, SPARK: SparkTable.named}
"""How a text that is no path is read, by what it begins with."""

_KINDS: tuple[tuple[tuple[str, ...], Callable[[Any], Table]], ...] = (
    (("mapInArrow", "sparkSession"), SparkTable.of),
    (("get_fragments", "scanner"), DatasetTable),  # from pyarrow.dataset
    (("collect_schema", "collect_batches"), LazyTable),
    (("sql_query", "project"), RelationTable),
    (("to_pyarrow_batches", "select"), IbisTable),
    (("__arrow_c_stream__", "__len__"), _in_memory),
    (("__arrow_c_stream__",), OnceTable.of),
)
"""How an object of another library is read, by what it has; the first that fits."""


def _files(source: Any, kind: str | None, empty: bool) -> Table:
    files = _found(source, kind, empty)
    chosen = kind or _one_kind(files)
    if kind is None and chosen in _STORED:
        try:
            return _read(_STORED[chosen](files))
        except LogError:
            if _told(files, chosen) == chosen:
                raise
    chosen = _told(files, chosen) if kind is None else kind
    if chosen in DATABASES:
        if len(files.paths) > 1:
            raise UsageError(f"{files.paths[0]} is a database beside other files", "give one table: FILE:TABLE")
        return open_database(files.paths[0], chosen)
    if chosen in _STORED:
        return _STORED[chosen](files)
    return CsvJsonTable(files, chosen, dialect=Dialect.of(files.head(files.paths[0]), chosen))


def by_columns(paths: Sequence[str]) -> list[list[str]]:
    """Return the files that have the same columns together; none where they are too many to look at.

    Raises:
        OffrankError: one cannot be read.
    """
    found: dict[tuple[str, ...], list[str]] = {}
    for path in paths if len(paths) <= _LOOKED_AT else ():
        found.setdefault(tuple(sorted(open_table(path).names)), []).append(path)
    return [*found.values()]


_LOOKED_AT = 100
"""The most files whose columns are compared."""


def _read(table: Table) -> Table:
    """Return a table whose columns can be read."""
    refuse_twice(table.names, table.describe())
    return table


def _found(source: Any, kind: str | None, empty: bool) -> Files:
    """Find the files; of a folder those whose suffix tells what they are, else those in `.json`, else all."""
    if kind is not None:
        return find(source, empty=empty)
    for suffixes in (SUFFIXES.keys() - {".json"}, {".json"}):
        try:
            return find(source, suffixes, empty=empty)
        except EmptyLogError:
            raise
        except LogError:
            pass
    return find(source, empty=empty)


def _one_kind(files: Files) -> str:
    """Return the kind of all of the files, by their suffixes or their first bytes."""
    kinds: dict[str, str] = {}
    for path in files.paths:
        kinds.setdefault(SUFFIXES.get(suffix(path)) or _content(files, path), path)
    if len(kinds) > 1:
        named = ", ".join(f"{kind} ({path})" for kind, path in sorted(kinds.items()))
        raise UsageError(f"the files are of several kinds: {named}", "give those of one kind, such as by a glob")
    return next(iter(kinds))


def _told(files: Files, kind: str) -> str:
    """Return the kind of the first file by its first bytes; of tables of text, which its suffix says."""
    found = _content(files, files.paths[0])
    bracket = files.head(files.paths[0]).lstrip()[:1] in (b"[", b"{")
    return kind if found == "csv" and (kind == "tsv" or (kind == "json" and bracket)) else found


def _content(files: Files, path: str) -> str:
    head = files.head(path)
    found = kind_of(head, path)
    if found in (*_STORED, *DATABASES) and files.packed(path):
        raise LogError(f"{path} is a packed file of the kind {found}", "unpack it, such as by `gunzip`")
    return found
