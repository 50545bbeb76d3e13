"""`read_log`: from files, tables or streams to a lazy source."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, get_args

from ..errors import EmptyLogError, LogError, OffrankError, UsageError
from ..log.schema import Columns, check_renamed
from ..log.source import Source
from ..spelling import parse
from ..wording import Option, Wording
from .broken import sound
from .csv_json import CsvJsonTable
from .dataset import DatasetTable
from .decode import Duplicates
from .files import Files, find, is_paths, suffix
from .formats.registry import READERS, Reader
from .long import LongLog
from .recognition import recognised
from .spark import SPARK, SparkTable
from .stored import ArrowTable, ParquetTable
from .streams import SQL, CallTable, IbisTable, LazyTable, OnceTable, QueryTable, RelationTable
from .tables import MemoryTable, Table, arrow_table, refuse_twice, table_of_dicts
from .wide import Gaps, Invalid, WideLog

_SUFFIXES = {
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


def read_log(
    source: Any,
    columns: Mapping[str, str] | None = None,
    *,
    format: str | Reader | None = None,  # noqa: A002  the word that every reader library uses
    invalid: Invalid = "raise",
    gaps: Gaps = "raise",
    top_k: int | None = None,
    duplicates: Duplicates | None = None,
    skip_broken_files: bool = False,
) -> Source:
    """Open a log for lazy reading: only names are read until a job needs columns.

    - source: a Parquet, Arrow IPC, CSV, TSV or JSON file, a folder of them (`key=value` folders give columns), a
      glob, an address such as `s3://bucket/folder`, or a list of those; `"duckdb:select ..."`; a pandas, Polars or
      Arrow table; a list of dicts; a `pyarrow.dataset.Dataset`, a Polars LazyFrame, a DuckDB relation, an Ibis table;
      a Spark DataFrame or `"spark:TABLE"`; a stream that can be read once and is never held: a
      `pyarrow.RecordBatchReader`, an iterator of batches, tables or dicts; or a function that opens such a stream.
    - columns: role -> the log's own name of that column, `{"slate": "shown"}`.
    - format: the kind of files (`parquet`, `arrow`, `csv`, `tsv`, `json`), by default from their suffix; or a reader of
      a public data set with its options, `open_bandit(n_items=34)`, as an object or spelled. By default, files that are
      not a log in another way are recognised as such a data set by how they begin.
    - gaps: "close" uses the positions of the long layout as an order only, if some are missing; by default that is an
      error. Click models read the gaps themselves.
    - top_k: keep the first slots of each slate, and all candidates. The log then has shorter slates: a column of
      the whole slate (`propensity`, `reward`) is refused, and targets fill as many slots.
    - duplicates: how click models read an item that stands in a slate twice. "first": only its first place counts; the
      others are empty ranks, and clicks there are left out. "each": each place is an impression of it. Both are
      counted. By default ("raise") that is an error, as it always is where slates have propensities.
    - invalid: "raise" at the first row that breaks a rule, or "skip" such rows and count them.
    - skip_broken_files: leave out each file that cannot be read, with all of its rows, and count it, not raise. For
      this every file is read once, whole, before anything else; the answer is that of the other files alone.

    The layout is wide (a row per impression) with a column `slate`, long (a row per item) with `impression` and `item`.

    Raises:
        UsageError: the source cannot be read.
        EmptyLogError: there are no rows.
        ColumnError: the columns of neither layout are there. LogError: two columns have the same name.

    Examples:
        >>> offrank.read_log([{"slate": ["a", "b"], "clicks": [1, 0]}])
        list in memory: wide layout, 1 rows
          slate: list<item: string>
          clicks: list<item: int64>
    """
    reading = ReadOptions(dict(columns or {}), invalid, gaps, top_k, duplicates, skip_broken_files)
    return reading.opened(source, format)[0]


@dataclass(frozen=True)
class ReadOptions:
    """How a log is read: the arguments of `read_log`."""

    renamed: Mapping[str, str]
    invalid: Invalid = "raise"
    gaps: Gaps = "raise"
    top_k: int | None = None
    duplicates: Duplicates | None = None
    skip_broken_files: bool = False

    def opened(self, source: Any, kind: str | Reader | None) -> tuple[Source, str | Reader | None]:
        """Return a log and its format: as given, or that of the public data set that it is recognised as."""
        self._check()
        chosen = parse(kind, _formats(), "format") if isinstance(kind, str) else kind
        if isinstance(chosen, Reader):
            return self._data_set(source, chosen), kind
        if not (chosen is None or isinstance(chosen, str)):
            raise UsageError(f"format is {chosen!r}, which is no reader", "name a format, or give a `Reader`")
        try:
            return self._table(source, chosen), kind
        except OffrankError:
            plain = self.gaps == "raise" and not (kind or self.renamed or self.skip_broken_files)
            known = recognised(source) if plain else None
            if known is None:
                raise
        return self._data_set(source, READERS[known]), known

    def _check(self) -> None:
        """Refuse choices that there are not."""
        check_renamed(self.renamed)
        if self.invalid not in get_args(Invalid):
            raise UsageError(f"invalid is {self.invalid!r}", 'say "raise" or "skip"')
        if self.gaps not in get_args(Gaps):
            raise UsageError(f"gaps is {self.gaps!r}", 'say "raise" or "close"')
        if self.duplicates not in (None, *get_args(Duplicates)):
            raise UsageError(f"duplicates is {self.duplicates!r}", 'say "first", "each" or "raise"')
        if self.top_k is not None and self.top_k < 1:
            raise UsageError(f"top_k is {self.top_k!r}", "give 1 or more")

    def _data_set(self, source: Any, reader: Reader) -> Source:
        """Open a public data set; options that its reader has no use for are refused."""
        if self.skip_broken_files:
            raise UsageError(
                f"the {reader} format reads all of its files", Wording("leave out {}", Option("skip_broken_files"))
            )
        if self.renamed:
            raise UsageError(
                f"the columns of the {reader} format are fixed", Wording("leave out {}", Option("columns"))
            )
        found: WideLog = reader(source, invalid=self.invalid)
        return replace(found, top_k=self.top_k, duplicates=self.duplicates or found.duplicates)

    def _table(self, source: Any, kind: str | None) -> Source:
        table = _named_once(_table(source, kind, self.skip_broken_files))
        table, left_out = sound(table) if self.skip_broken_files else (table, {})
        if not table.parts():
            raise EmptyLogError(f"{table.describe()} has no rows", "give a log with at least one impression")
        wide = _is_wide(table, self.renamed, self.gaps)
        how: dict[str, Any] = {"top_k": self.top_k, "duplicates": self.duplicates or "raise", "left_out": left_out}
        if wide:
            return WideLog(table, self.renamed, self.invalid, **how)
        return LongLog(table, self.renamed, self.invalid, gaps=self.gaps, **how)


def opened(log: Any) -> Source:
    """Return a log that is open already, or what `read_log` opens."""
    source: Source = log if is_open(log) else read_log(log)
    return source


def is_open(log: Any) -> bool:
    """Whether a log is open already. Its class is asked: some data frames have attributes of any name, as columns."""
    return hasattr(type(log), "batches")


def _formats() -> Mapping[str, Callable[..., Any]]:
    """Return the makers of format spellings by name: file formats and readers of public data."""
    return {kind: partial(_itself, kind) for kind in dict.fromkeys(_SUFFIXES.values())} | dict(READERS)


def _itself(kind: str) -> str:
    return kind


def _is_wide(table: Table, renamed: Mapping[str, str], gaps: Gaps) -> bool:
    """Whether a row is an impression; the layout must be complete."""
    known = Columns(table.names, renamed, table.describe())
    wide = known.has("slate") or not (known.has("item") or known.has("impression"))
    for role in ("slate",) if wide else ("impression", "item", "position"):
        known.of(role)
    if wide and gaps == "close":
        raise UsageError(
            "gaps can be closed in the long layout alone", Wording("leave out {}", Option("gaps", "close"))
        )
    return wide


def open_table(source: Any, kind: str | None = None) -> Table:
    """Open what `read_log` takes as a plain table, whatever its columns.

    Raises:
        OffrankError: it cannot be read, or is not a table.
    """
    return _named_once(_table(source, kind if kind in _SUFFIXES.values() else None))


def _named_once(table: Table) -> Table:
    """Return a table whose columns have different names.

    Raises:
        LogError: two have the same.
    """
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
        return find(source, _SUFFIXES.keys() - {".json"}, empty=empty)
    except EmptyLogError:
        raise
    except LogError as error:
        try:
            return find(source, {".json"}, empty=empty)
        except LogError:
            raise error from None


def _kind(path: str) -> str:
    kind = _SUFFIXES.get(suffix(path))
    if suffix(path) in _UNREAD:
        raise UsageError(f"{path!r} is in a format that is not read: {_UNREAD[suffix(path)]}", _REWRITE)
    if kind is None:
        raise UsageError(
            f"cannot tell the format of {path!r} by its suffix",
            Wording("name it with {}: ", Option("format")) + ", ".join(sorted(_formats())),
        )
    return kind
