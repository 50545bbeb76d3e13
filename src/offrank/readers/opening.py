"""Open files, tables, queries and streams as plain tables, whatever their columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ..errors import EmptyLogError, LogError, UsageError
from ..wording import Option, Wording
from .csv_json import CsvJsonTable
from .dataset import DatasetTable
from .files import Files, find, is_paths, suffix
from .spark import SPARK, SparkTable
from .stored import ArrowTable, ParquetTable
from .streams import SQL, CallTable, IbisTable, LazyTable, OnceTable, QueryTable, RelationTable
from .tables import MemoryTable, Table, arrow_table, refuse_twice, table_of_dicts

SUFFIXES = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
}
_UNREAD = {".avro": "Avro", ".orc": "ORC"}
_REWRITE = "export Parquet, or read it with a library that gives Arrow batches: read_log(lambda: batches)"


def open_table(source: Any, kind: str | None = None, *, empty: bool = False) -> Table:
    """Open what `read_log` takes as a plain table, whatever its columns.

    kind: the kind of files, by default from their suffixes. empty: whether files may be empty.

    Raises:
        OffrankError: it cannot be read, or is not a table. LogError: two columns have the same name.
    """
    table = _table(source, kind if kind in SUFFIXES.values() else None, empty)
    refuse_twice(table.names, table.describe())
    return table


def _table(source: Any, kind: str | None = None, empty: bool = False) -> Table:
    for prefix, spelled in _SPELLED.items():
        if isinstance(source, str) and source.startswith(prefix):
            return spelled(source.removeprefix(prefix))
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
    kinds = {kind} if kind else {_kind(path) for path in files.paths}
    if len(kinds) > 1:
        raise UsageError(f"the files are of several kinds: {', '.join(sorted(map(str, kinds)))}", "give one kind")
    chosen = str(kinds.pop())
    if chosen in ("parquet", "arrow"):
        return ParquetTable(files) if chosen == "parquet" else ArrowTable(files)
    return CsvJsonTable(files, chosen)


def _found(source: Any, kind: str | None, empty: bool) -> Files:
    """Find the files; those that end in `.json` count in a folder of which nothing else can be read."""
    if kind is not None:
        return find(source, empty=empty)
    try:
        return find(source, SUFFIXES.keys() - {".json"}, empty=empty)
    except EmptyLogError:
        raise
    except LogError as error:
        try:
            return find(source, {".json"}, empty=empty)
        except LogError:
            raise error from None


def _kind(path: str) -> str:
    kind = SUFFIXES.get(suffix(path))
    if suffix(path) in _UNREAD:
        raise UsageError(f"{path!r} is in a format that is not read: {_UNREAD[suffix(path)]}", _REWRITE)
    if kind is None:
        raise UsageError(
            f"cannot tell the format of {path!r} by its suffix",
            Wording("name it with {}: ", Option("format"))
            + ", ".join(sorted({*SUFFIXES.values()}))
            + ", or a public one such as open_bandit",
        )
    return kind
