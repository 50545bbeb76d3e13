"""`read_log`: from files, tables or streams to a lazy source."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from ..errors import LogError, UsageError
from ..language.registry import Later
from ..log.source import Source
from ..wording import ColumnNames, Wording
from .decode import Duplicates
from .flat import TEXTS
from .names import CALLED, closeness, order
from .tables import holder, schema_of
from .wide import Gaps, Invalid, ReadOptions, documented

if TYPE_CHECKING:
    from . import described
    from .formats.registry import Reader
else:  # what a log in the documented layout needs none of
    described = Later(".described", __package__)


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
    where: str | None = None,
) -> Source:
    """Open a log for lazy reading: only names are read until a job needs columns.

    The layout is wide (a row per impression) with a column `slate`, long (a row per item) with `impression` and `item`.

    Parameters:
        source: a Parquet, Arrow IPC, ORC, CSV or JSON file, a folder of them (`key=value` folders give columns), a
            glob, an address such as `s3://bucket/folder`, or a list of those; `-` for standard input; a table of a
            DuckDB or SQLite file, `"FILE:TABLE"`; `"duckdb:select ..."`; a pandas, Polars or Arrow table; a list of
            dicts; a `pyarrow.dataset.Dataset`, a Polars LazyFrame, a DuckDB relation, an Ibis table; a Spark
            DataFrame or `"spark:TABLE"`; a stream that can be read once and is never held: a
            `pyarrow.RecordBatchReader`, an iterator of batches, tables or dicts; or a function that opens such a
            stream.
        columns: role -> the log's own name of that column, `{"slate": "shown"}`.
        format: the kind of files (`parquet`, `arrow`, `orc`, `csv`, `tsv`, `json`), by default told by what is in
            them; or a reader of a public data set with its options, `open_bandit(n_items=34)`, as an object or
            spelled.
        invalid: "raise" at the first row that breaks a rule, or "skip" such rows and count them.
        gaps: "close" uses the positions of the long layout as an order only, if some are missing; by default that
            is an error. Click models read the gaps themselves.
        top_k: keep the first slots of each slate, and all candidates. The log then has shorter slates: a column of
            the whole slate (`propensity`, `reward`) is refused, and targets fill as many slots.
        duplicates: how click models read an item that stands in a slate twice. "first": only its first place
            counts; the others are empty ranks, and clicks there are left out. "each": each place is an impression
            of it. Both are counted. By default ("raise") that is an error, as it always is where slates have
            propensities.
        skip_broken_files: leave out each file that cannot be read, with all of its rows, and count it, not raise.
            For this every file is read once, whole, before anything else; the answer is that of the other files
            alone.
        where: a filter of the rows, such as `"explored = true and week in (1, 2)"`: comparisons (`=`, `!=`, `<`, `<=`,
            `>`, `>=`, `in`) of a column with numbers, `true` or `false`, or texts and days in `'...'`, and `and`
            between them. Rows where a value is null are left out. Row groups of Parquet that hold no such row are
            not read.

    Returns:
        A source: what every verb takes as a log. Its rows are read when a verb asks for them.

    Raises:
        UsageError: the source cannot be read. EmptyLogError: there are no rows.
        ColumnError: the columns of neither layout are there. LogError: two columns have the same name.

    Examples:
        >>> offrank.read_log([{"slate": ["a", "b"], "clicks": [1, 0]}])
        list in memory: wide layout, 1 rows
          slate: list<item: string>
          clicks: list<item: int64>
    """
    how, renamed = ReadOptions(invalid, gaps, top_k, duplicates, skip_broken_files, where), columns or {}
    if how == ReadOptions() and format is None and not renamed and (plain := documented(source)) is not None:
        return plain
    found: Source = described.Described.of(source, format, renamed, how).log()
    return found


def opened(
    log: Any,
    columns: Mapping[str, str] | None = None,
    format: str | Reader | None = None,  # noqa: A002  as above
) -> Source:
    """Return a log that is open already, or what `read_log` opens; raise a `UsageError` where an open one is named."""
    if isinstance(log, str | Path) or not is_open(log):  # a name is none
        return read_log(log, columns, format=format)
    if columns:
        raise UsageError(
            "columns are named when a log is opened", Wording("use read_log(..., {})", ColumnNames(columns))
        )
    if format is not None:
        raise UsageError("a format is named when a log is opened", f"use read_log(..., format={str(format)!r})")
    source: Source = log
    return source


def is_open(log: Any) -> bool:
    """Whether a log is open already. Its class is asked: some data frames have attributes of any name, as columns."""
    return hasattr(type(log), "batches")


def period_of(source: Any) -> dict[str, str] | None:
    """Return the column of time of a log, and its `first` and `last` day (UTC); None if reading rows would tell.

    Known are those of Parquet files, from their metadata, and of tables in memory. The column is of dates or times and
    called so, as `ts` or `event_time`, or of texts and called `day` or `date`: a birthday is no day of the log.
    """
    name = time_column(source, ("day", "date"))
    days = [] if name is None else [_DAY.match(str(one)) for one in _ends(holder(source.table), name)]
    named = sorted(one.group() for one in days if one)
    return {"column": str(name), "first": named[0], "last": named[-1]} if days and all(days) else None


def time_column(source: Any, texts: Collection[str] | None = None) -> str | None:
    """Return the column of time of a log; None if there is none. texts: names of texts, by default all called so."""
    table = getattr(source, "table", None)
    schema = None if table is None else schema_of(table)
    kinds = {} if schema is None else dict(zip(schema.names, schema.types, strict=True))
    dated = [name for name, kind in kinds.items() if pa.types.is_timestamp(kind) or pa.types.is_date(kind)]
    others = [name for name, kind in kinds.items() if kind in TEXTS] if texts is None else []
    for some in (dated, others):
        if called := [name for name in some if closeness("time", name) >= CALLED]:
            return min(called, key=partial(order, "time"))
    return next((name for name in kinds if name in (texts or ())), None)


def _ends(held: Any, name: str) -> list[Any]:
    """Return values of a column between which all others are; none if they are not known, or damaged."""
    with suppress(LogError, pa.ArrowException, ValueError, OverflowError):  # whoever reads the rows tells what is wrong
        if not isinstance(held, pa.Table):
            return [*getattr(held, "ends", lambda _: ())(name)]
        both = (pc.min_max(held[name])[end] for end in ("min", "max"))
        utc = pa.timestamp("us")
        return [(one.cast(utc, safe=False) if pa.types.is_temporal(one.type) else one).as_py() for one in both]
    return []


_DAY = re.compile(r"\d{4}-\d\d-\d\d")
