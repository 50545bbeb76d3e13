"""Open files, tables, queries and streams as plain tables, whatever their columns, and look at their beginning."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from operator import attrgetter
from pathlib import Path
from typing import Any

import pyarrow as pa

from ..errors import ColumnError, EmptyLogError, LogError, OffrankError, UsageError
from .column_sets import LOOKED_AT
from .file_kinds import HEAD, kind_of, known_kinds, spoilt, stored
from .files import SPARK, SQL, Files, expand, find, folders_in, is_paths, refuse_too_long, suffix, unread_files
from .parquet_orc_arrow import ArrowTable, OrcTable, ParquetTable
from .tables import MemoryTable, Table, few_rows, first_rows, once_only, refuse_twice, row_count, table_of_dicts
from .unfolding import documents, unfolded

SUFFIXES: Mapping[str, str] = {
    suffix: kind for kind, one in known_kinds()["read"].items() for suffix in one.get("suffixes", ())
}
_STORED: Mapping[str, Callable[[Files], Table]] = {"parquet": ParquetTable, "arrow": ArrowTable, "orc": OrcTable}
_SPELLED = {SQL: ".streams:QueryTable", SPARK: ".databases:SparkTable.named"}
"""What opens a text that is no path, by what that begins with."""
_KINDS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("mapInArrow", "sparkSession"), ".databases:SparkTable.of"),
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
    if isinstance(source, Beginning):
        return source.stored
    if hasattr(type(source), "pieces") and not hasattr(type(source), "batches"):  # which a log has
        return source
    return _read(_table(source, kind if kind in SUFFIXES.values() else None, empty, ragged))


@dataclass(frozen=True)
class Beginning:
    """A source that is opened once, by whoever looks at it and whoever reads it, and what is looked at of it.

    Nothing is read before it is asked for, and nothing twice. kind, empty, ragged: as `open_table` takes them. where: a
    filter of its rows.
    """

    source: Any
    kind: Any = None
    empty: bool = False
    where: str | None = None
    ragged: bool = False

    def __post_init__(self) -> None:
        refuse_too_long(self.source)

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

    @property
    def table(self) -> Table | None:
        """The source as a plain table; None where it is none, or where its first rows cannot be read."""
        return self._looked[0]

    @property
    def rows(self) -> pa.Table | None:
        """The first rows; None where there is no table, and of a stream that can be read once only."""
        return self._looked[1]

    def unfolded(self, said: Mapping[str, str]) -> Table:
        """Return the source as a plain table, or raise an `OffrankError`. said: the roles that were given."""
        return unfolded(self.stored, said, self._few_rows)

    def _few_rows(self, table: Table, *which: Any) -> pa.Table:
        """Return `few_rows` of unfolding, read once of what was opened."""
        return self._few(*which) if table is self.stored else few_rows(table, *which)

    @cached_property
    def _few(self) -> Callable[..., pa.Table]:
        return cache(partial(few_rows, self.stored))

    def rows_as(self, table: Table) -> pa.Table | None:
        """Return the first rows of the source as this table has them, if they were read so; None if not."""
        found = self.rows if "_looked" in vars(self) else None
        return found if found is not None and table == self.table else None

    @property
    def names(self) -> tuple[str, ...]:
        """The columns; none where it is no table."""
        return () if self.table is None else self.table.names

    @property
    def paths(self) -> tuple[str, ...]:
        """Its files, if it has any."""
        return () if self._files is None else self._files.paths

    @property
    def several(self) -> Sequence[str | Table]:
        """Its files, or its tables where it has no files; none where it is one."""
        try:
            found: Sequence[str | Table] = self.paths or self.tables
        except OffrankError:
            return ()
        return found if len(found) > 1 else ()

    @cached_property
    def head(self) -> bytes:
        """The first bytes of the first file, unpacked."""
        try:
            return b"" if self._files is None else self._files.head(self._files.paths[0])
        except (OffrankError, OSError):
            return b""

    @cached_property
    def text(self) -> str:
        """The first bytes as text; empty where they are not UTF-8."""
        try:
            whole = self.head if len(self.head) < HEAD else self.head[: self.head.rfind(b"\n") + 1]
            return "" if b"\0" in whole else whole.decode("utf-8-sig")
        except UnicodeDecodeError:
            return ""

    @cached_property
    def _looked(self) -> tuple[Table | None, pa.Table | None]:
        try:
            return self._read()
        except OffrankError:
            return None, None

    def _read(self) -> tuple[Table, pa.Table | None]:
        table = self.unfolded({})
        return table, None if once_only(table) else first_rows(table)

    def refuse_unreadable(self) -> None:
        """Raise if its first rows cannot be read, so that nobody knows what they hold.

        Raises:
            OffrankError: what was wrong with them.
        """
        if self.table is None:
            self._read()

    @cached_property
    def _files(self) -> Files | None:
        try:
            return find(self.source, empty=self.empty) if is_paths(self.source) else None
        except (OffrankError, OSError):
            return None


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
            raise UsageError(f"{files.paths[0]} is a database, given with other files", "give one table: FILE:TABLE")
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
    if isinstance(source, Beginning):
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
