"""Open files, tables, queries and streams as plain tables, whatever their columns."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import Any

import pyarrow as pa

from ..errors import ColumnError, EmptyLogError, LogError, OffrankError, UsageError
from ..log.rules import BROKEN_FILE
from ..wording import Option, Wording
from .column_sets import LOOKED_AT
from .file_kinds import kind_of, spoilt, stored
from .files import SPARK, SQL, Files, expand, find, folders_in, is_paths, suffix, unread_files
from .parquet_orc_arrow import ArrowTable, OrcTable, ParquetTable
from .tables import MemoryTable, Table, all_pieces, refuse_twice, row_count, table_of_dicts
from .unfolding import documents
from .unfolding.table import Reshaped

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
_SPELLED = {SQL: ".streams:QueryTable", SPARK: ".spark:SparkTable.named"}
"""What opens a text that is no path, by what that begins with."""
_KINDS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("mapInArrow", "sparkSession"), ".spark:SparkTable.of"),
    (("get_fragments", "scanner"), ".databases:DatasetTable"),  # from pyarrow.dataset
    (("collect_schema", "collect_batches"), ".streams:LazyTable"),
    (("sql_query", "project"), ".streams:RelationTable"),
    (("to_pyarrow_batches", "select"), ".streams:IbisTable"),
    (("__arrow_c_stream__", "__len__"), ".tables:MemoryTable.of"),
    (("__arrow_c_stream__",), ".streams:OnceTable.of"),
)
"""What opens an object of another library, by what that has; the first that fits."""


def _by_name(name: str) -> Callable[..., Any]:
    """Return what opens tables of one kind, whose module is imported when there is something of that kind."""
    module, _, inside = name.partition(":")
    found: Callable[..., Any] = attrgetter(inside)(importlib.import_module(module, __package__))
    return found


def open_table(source: Any, kind: Any = None, *, empty: bool = False, ragged: bool = False) -> Table:
    """Open what `read_log` takes as a plain table, whatever its columns; a table is returned as it is.

    kind: the kind of files, by default, and if it is none, told by what is in them. empty: whether files may be empty,
    and streams have no rows. ragged: whether lines of CSV with more or fewer cells than the first are left out.

    Raises:
        OffrankError: it cannot be read, or is not a table. LogError: two columns have the same name.
    """
    if isinstance(source, Opened):
        return source.stored
    if hasattr(type(source), "pieces") and not hasattr(type(source), "batches"):  # which a log has
        return source
    return _read(_table(source, kind if kind in SUFFIXES.values() else None, empty, ragged))


@dataclass(frozen=True)
class Opened:
    """A source that is opened once, when that is first asked for, by whoever looks at it and whoever reads it.

    kind, empty, ragged: as `open_table` takes them. where: a filter of its rows.
    """

    source: Any
    kind: Any = None
    empty: bool = False
    where: str | None = None
    ragged: bool = False

    @property
    def stored(self) -> Table:
        """The source as a plain table; raise an `OffrankError` if it is none."""
        if isinstance(self._found, OffrankError):
            raise self._found
        return self._found

    @cached_property
    def tables(self) -> Sequence[Table]:
        """The tables of a source that holds several; see `tables_of`."""
        return tables_of(self.source)

    @cached_property
    def _found(self) -> Table | OffrankError:
        try:
            table = open_table(self.source, self.kind, empty=self.empty, ragged=self.ragged)
            return table if self.where is None else _by_name(".row_filter:filtered")(table, self.where)
        except OffrankError as error:
            return error


def _table(source: Any, kind: str | None = None, empty: bool = False, ragged: bool = False) -> Table:
    if isinstance(source, str) and (named := _spelled(source)) is not None:
        return named
    if is_paths(source):
        return _spelled_alone(source) or _files(source, kind, empty, ragged)
    reader = isinstance(source, pa.RecordBatchReader)
    for names, table in () if reader else _KINDS:
        if all(hasattr(source, name) for name in names):
            return _by_name(table)(source)
    if isinstance(source, Iterator):
        return _by_name(".streams:OnceTable.of")(source, empty=empty and reader)
    if isinstance(source, Sequence) and all(isinstance(item, Mapping) for item in source):
        return MemoryTable(table_of_dicts(source), "list")
    if callable(source):
        return _returned(source) if empty else _by_name(".streams:CallTable")(source, _table)
    raise UsageError(
        f"cannot read a log from {type(source).__name__}",
        "give a path, a glob, a table (pandas, Polars, Arrow), a list of dicts, or a stream",
    )


def _returned(source: Callable[[], Any]) -> Table:
    """Return what a function returns, which is not called again where that has no rows."""
    first = _table(source(), empty=True)
    return _by_name(".streams:CallTable")(source, _table, [first]) if row_count(first) != 0 else first


def _spelled(source: str) -> Table | None:
    """Return the table of a text that is no path; None if it is one."""
    for prefix, table in _SPELLED.items():
        if source.startswith(prefix):
            return _by_name(table)(source.removeprefix(prefix))
    return _by_name(".databases:database")(source) if ":" in source else None


def _spelled_alone(source: Any) -> Table | None:
    """Return the table of a list with one text that is no path, or raise a `ColumnError`; None if it holds paths."""
    tables = [_spelled(one) for one in source if isinstance(one, str)] if not isinstance(source, str | Path) else []
    if len(tables) > 1 and any(tables):
        raise ColumnError(
            f"{', '.join(map(str, source))} are several tables", "give one table, or impressions and their clicks"
        )
    return tables[0] if tables else None


def _files(source: Any, kind: str | None, empty: bool, ragged: bool) -> Table:
    files = _found(source, kind, empty)
    chosen = kind or _one_kind(files)
    if kind is None and chosen in _STORED:
        try:
            return _read(_STORED[chosen](files))
        except LogError:
            if _told(files, chosen) == chosen:
                raise
    chosen = _told(files, chosen) if kind is None else kind
    if chosen not in SUFFIXES.values():
        if len(files.paths) > 1:
            raise UsageError(
                f"{files.paths[0]} is a database, but other files were given too", "give one table: FILE:TABLE"
            )
        return _by_name(".databases:open_database")(files.paths[0], chosen)
    if chosen in _STORED:
        return _STORED[chosen](files)
    return _by_name(".csv_json:CsvJsonTable.of")(files, chosen, ragged)


def passed_over(source: Any, kind: Any = None) -> list[str]:
    """Return the files in the folders that `source` names that are no part of the log: notes, or not of its kind.

    kind: the format that was said, if any.
    """
    told = kind if kind in (None, *SUFFIXES.values()) else "that of a reader"
    return unread_files(source, _found(source, told, True).paths) if folders_in(source) else []


def tables_of(source: Any) -> Sequence[Table]:
    """Return the tables of a source that holds several; none where it is a single table, or of too many files.

    Files with the same columns are one table, and so is each table of a list, with or without rows.

    Raises:
        OffrankError: one cannot be read.
    """
    if isinstance(source, Opened):
        return source.tables
    if not is_paths(source):
        each = [*source] if isinstance(source, Sequence) and not any(isinstance(one, Mapping) for one in source) else []
        return [open_table(one, empty=not is_paths(one)) for one in each] if len(each) > 1 else []
    each = [source] if isinstance(source, str | Path) else [*source]
    spelled = {one: table for one in map(str, each) if (table := _spelled(one)) is not None}
    paths = expand([one for one in map(str, each) if one not in spelled]) if len(spelled) < len(each) else ()
    if len(paths) == 1 and not spelled:
        return _of_database(paths[0])
    found: dict[tuple[str, ...], list[tuple[str, Table]]] = {}
    for path in paths if len(paths) <= LOOKED_AT else ():
        table = open_table(path)
        found.setdefault(tuple(sorted(documents(table).names)), []).append((path, table))
    if len(spelled) + len(found) < 2:
        return []
    several = [one[0][1] if len(one) == 1 else open_table([path for path, _ in one]) for one in found.values()]
    return [*spelled.values(), *several]


def _of_database(path: str) -> Sequence[Table]:
    """Return the tables of a database file; none of any other."""
    kind = stored(Files((path,)).head(path))
    if kind is None or kind in _STORED:
        return []
    found: Sequence[Table] = _by_name(".databases:tables_of_database")(path, kind)
    return found


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
        except LogError as error:
            if isinstance(error, EmptyLogError) or error.__cause__ is not None:  # a store that fails is asked once
                raise
    return find(source, empty=empty)


def _one_kind(files: Files) -> str:
    """Return the kind of all of the files, by their suffixes or their first bytes."""
    kinds: dict[str, str] = {}
    for path in files.paths:
        kinds.setdefault(SUFFIXES.get(suffix(path)) or _content(files, path), path)
    if len(kinds) > 1:
        named = ", ".join(f"{kind} ({path})" for kind, path in sorted(kinds.items()))
        raise UsageError(f"the files are of several kinds: {named}", "give files of one kind, for example by a glob")
    return next(iter(kinds))


def _told(files: Files, kind: str) -> str:
    """Return the kind of the first file by its first bytes; of tables of text, which its suffix says."""
    found = _content(files, files.paths[0])
    bracket = files.head(files.paths[0]).lstrip()[:1] in (b"[", b"{")
    return kind if found == "csv" and (kind == "tsv" or (kind == "json" and bracket)) else found


def _content(files: Files, path: str) -> str:
    head = files.head(path)
    found = kind_of(head, path)
    if stored(head) is None and spoilt(head):
        raise _by_name(".dialect:byte_0")(path, head, found)
    if stored(head) is not None and files.packed(path):
        raise LogError(f"{path} is a compressed file of kind {found}", "unpack it, for example with `gunzip`")
    return found


def sound(table: Table) -> tuple[Table, dict[str, int]]:
    """Return a table without its broken files, and what was left out: rule and name of each.

    Every file is read once, all columns of it: that which is left out depends on the files alone.

    Raises:
        UsageError: the table is not of files.
        LogError: all files are broken.
    """
    given: Any = table
    if isinstance(table, Reshaped):  # of which some rows are read
        inner, left_out = sound(table.table)
        return replace(given, table=inner), left_out
    files: Any = getattr(table, "files", None)
    if not isinstance(files, Files):
        raise UsageError(
            f"{table.describe()} has no files that could be skipped", Wording("omit {}", Option("skip_broken_files"))
        )
    each = [replace(given, files=replace(files, paths=(path,))) for path in files.paths]
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        found = list(threads.map(_fault, each))
    broken = {path: error for path, error in zip(files.paths, found, strict=True) if error is not None}
    kept = tuple(path for path in files.paths if path not in broken)
    if not kept:
        raise next(iter(broken.values()))
    return replace(given, files=replace(files, paths=kept)), {f"{BROKEN_FILE} {path}": 1 for path in broken}


def _fault(table: Table) -> LogError | None:
    """Read a table; return the error of the first rows that cannot be read."""
    try:
        for _ in all_pieces(table, table.names):
            pass
    except LogError as error:
        return error
    return None
