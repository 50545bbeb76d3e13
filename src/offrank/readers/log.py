"""`read_log`: from files, tables or streams to a lazy source."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, get_args

import pyarrow as pa

from ..errors import ColumnError, EmptyLogError, UsageError
from ..log.schema import Columns, check_renamed
from ..log.source import Source
from ..options import option
from ..spelling import parse
from .broken import sound
from .dataset import TEXT, FileTable
from .decode import Duplicates
from .files import Files, find, is_paths, suffix
from .formats.registry import Reader, readers
from .long import LongLog
from .stored import ArrowTable, ParquetTable
from .tables import LazyTable, MemoryTable, Table
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

    - source: a Parquet, Arrow IPC, CSV, TSV or JSON lines file, a folder of them (`key=value` folders give columns), a
      glob, an address such as `s3://bucket/folder`, or a list of those; a pandas, Polars or Arrow table (anything with
      `__arrow_c_stream__`), a Polars LazyFrame, a `pyarrow.dataset.Dataset`; a list of dicts; an iterator of
      tables or dicts, which is read into memory.
    - columns: role -> the log's own name of that column, `{"slate": "shown"}`.
    - format: the kind of files (`parquet`, `arrow`, `csv`, `tsv`, `json`), by default from their suffix; or a reader of
      a public data set with its options, `open_bandit(n_items=34)`, as an object or spelled.
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

    The layout is wide (a row per impression) where there is a `slate` column, long (a row per
    item) where there are `impression` and `item`.

    Raises:
        UsageError: the source cannot be read.
        EmptyLogError: there are no rows.
        ColumnError: the columns of neither layout are there.

    Examples:
        >>> offrank.read_log([{"slate": ["a", "b"], "clicks": [1, 0]}])
        list in memory: wide layout, 1 rows
          slate: list<item: string>
          clicks: list<item: int64>
    """
    renamed = dict(columns or {})
    check_renamed(renamed)
    _check_choices(invalid, gaps, duplicates, top_k)
    chosen = parse(format, _formats(), "format") if isinstance(format, str) else format
    if isinstance(chosen, Reader):
        _refuse_beside(chosen, renamed, skip_broken_files)
        found: WideLog = chosen(source, invalid=invalid)
        return replace(found, top_k=top_k, duplicates=duplicates or found.duplicates)
    table = _table(source, chosen, skip_broken_files)
    table, left_out = sound(table) if skip_broken_files else (table, {})
    if not table.parts():
        raise EmptyLogError(f"{table.describe()} has no rows", "give a log with at least one impression")
    wide = _is_wide(table, renamed, gaps)
    how: dict[str, Any] = {"top_k": top_k, "duplicates": duplicates or "raise", "left_out": left_out}
    return WideLog(table, renamed, invalid, **how) if wide else LongLog(table, renamed, invalid, gaps=gaps, **how)


def _refuse_beside(chosen: Reader, renamed: Mapping[str, str], skip_broken_files: bool) -> None:
    """Refuse options that the reader of a public data set has no use for."""
    if skip_broken_files:
        raise UsageError(f"the {chosen} format reads all of its files", f"leave out {option('skip_broken_files')}")
    if renamed:
        raise UsageError(f"the columns of the {chosen} format are fixed", f"leave out {option('columns')}")


def _check_choices(invalid: str, gaps: str, duplicates: str | None, top_k: int | None) -> None:
    """Refuse choices that there are not."""
    if invalid not in get_args(Invalid):
        raise UsageError(f"invalid is {invalid!r}", 'say "raise" or "skip"')
    if gaps not in get_args(Gaps):
        raise UsageError(f"gaps is {gaps!r}", 'say "raise" or "close"')
    if duplicates not in (None, *get_args(Duplicates)):
        raise UsageError(f"duplicates is {duplicates!r}", 'say "first", "each" or "raise"')
    if top_k is not None and top_k < 1:
        raise UsageError(f"top_k is {top_k!r}", "give 1 or more")


def opened(log: Any) -> Source:
    """Return a log that is open already, or what `read_log` opens."""
    source: Source = log if hasattr(log, "batches") else read_log(log)
    return source


def _formats() -> Mapping[str, Callable[..., Any]]:
    """Return the makers of format spellings by name: file formats and readers of public data."""
    return {kind: partial(_itself, kind) for kind in dict.fromkeys(_SUFFIXES.values())} | dict(readers())


def _itself(kind: str) -> str:
    return kind


def _is_wide(table: Table, renamed: Mapping[str, str], gaps: Gaps) -> bool:
    """Whether a row is an impression; the layout must be complete."""
    known = Columns(table.names, renamed, table.describe())
    wide = known.has("slate") or not (known.has("item") or known.has("impression"))
    for role in ("slate",) if wide else ("impression", "item", "position"):
        known.of(role)
    if wide and gaps == "close":
        raise UsageError("gaps can be closed in the long layout alone", f"leave out {option('gaps', 'close')}")
    return wide


def _table(source: Any, kind: str | None, empty: bool = False) -> Table:
    if is_paths(source):
        return _files(find(source, None if kind else _SUFFIXES.keys() - {".json"}, empty=empty), kind)
    if hasattr(source, "get_fragments") and hasattr(source, "scanner"):  # from pyarrow.dataset
        return FileTable.of(source)
    if hasattr(source, "collect_schema") and hasattr(source, "collect_batches"):
        return LazyTable(source)
    if hasattr(source, "__arrow_c_stream__"):
        return MemoryTable(_of_arrow(source))
    where, rows = ("stream", list(source)) if isinstance(source, Iterator) else ("list", source)
    if isinstance(rows, Sequence) and all(isinstance(item, Mapping) for item in rows):
        return MemoryTable(_of_dicts(rows), where)
    if where == "stream":
        return MemoryTable(_of_stream(rows), where)
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
    except TypeError as error:
        raise UsageError(f"cannot read a table from {type(source).__name__}", "give tables or dicts") from error


def _of_stream(tables: Sequence[Any]) -> pa.Table:
    found = [_of_arrow(one) for one in tables]
    try:
        return pa.concat_tables([one.cast(found[0].schema) for one in found])
    except (pa.ArrowException, ValueError) as error:
        raise ColumnError(f"the tables of the stream differ: {error}", "give tables of the same columns") from error


def _of_dicts(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Make a table with every key of any row; pyarrow alone would drop keys missing from the first row."""
    names = dict.fromkeys(name for row in rows for name in row)
    return pa.table({str(name): _column(str(name), [row.get(name) for row in rows]) for name in names})


def _column(name: str, values: list[Any]) -> pa.Array:
    try:
        return pa.array(values)
    except (pa.ArrowException, OverflowError) as error:
        raise ColumnError(f"column {name!r} of the list cannot be read: {error}", _MIXED) from error


def _files(files: Files, kind: str | None) -> Table:
    kinds = {kind} if kind else {_kind(path) for path in files.paths}
    if len(kinds) > 1:
        raise UsageError(f"the files are of several kinds: {', '.join(sorted(map(str, kinds)))}", "give one kind")
    chosen = kinds.pop()
    if chosen in ("parquet", "arrow"):
        return ParquetTable(files) if chosen == "parquet" else ArrowTable(files)
    if packed := [path for path in files.paths if path.endswith((".zst", ".bz2")) and chosen in TEXT]:
        raise UsageError(f"{packed[0]} is packed in a way that is not read", "pack it with gzip, or write Parquet")
    return FileTable(files, str(chosen))


def _kind(path: str) -> str:
    kind = _SUFFIXES.get(suffix(path))
    if kind is None:
        raise UsageError(
            f"cannot tell the format of {path!r} by its suffix",
            f"name it with {option('format')}: " + ", ".join(sorted(_formats())),
        )
    return kind
