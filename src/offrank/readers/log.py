"""`read_log`: from files, tables or streams to a lazy source."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, get_args

import pyarrow as pa
import pyarrow.compute as pc

from ..errors import ColumnError, EmptyLogError, LogError, OffrankError, UsageError
from ..language.spelling import parse
from ..log.rules import DUPLICATE, NO_TABLE
from ..log.schema import ROLES, Columns, check_renamed
from ..log.source import Source
from ..wording import ColumnNames, Option, Wording
from . import arrow
from .beginning import Beginning
from .broken_files import sound
from .clicked_indices import clicks_of_places
from .column_sets import told_of_all
from .composite_ids import composed
from .conversions import is_text
from .decode import Duplicates
from .description import Description
from .detect import detect_clicks_as, format_of, places_said, roles_of
from .exposures import with_exposures
from .files import Files, folders_in
from .formats.registry import READERS, Reader
from .long import LongLog
from .opening import SUFFIXES, passed_over
from .parquet_orc_arrow import ParquetTable
from .refusal import not_joined, not_understood
from .roles.columns import groups_of
from .roles.names import closeness, may_group, order
from .tables import Table, holder, schema_of
from .unfolding import few_rows, in_order, unfolded
from .wide import Gaps, Invalid, WideLog


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
    how, renamed = _How(invalid, gaps, top_k, duplicates, skip_broken_files), dict(columns or {})
    if how == _How() and format is None and not renamed and (plain := _documented(source)) is not None:
        return plain
    check_renamed(renamed)
    how.check()
    chosen = parse(format, _formats(), "format") if isinstance(format, str) else format
    beginning = source if isinstance(source, Beginning) else Beginning.of(source, format, empty=skip_broken_files)
    if isinstance(chosen, Reader):
        return _by_reader(chosen, beginning.source, renamed, how)
    if not (chosen is None or isinstance(chosen, str)):
        raise UsageError(f"format is {chosen!r}, which is not a reader", "name a format, or give a `Reader`")
    beginning = with_exposures(beginning)
    opened: _Log | OffrankError
    try:
        opened = _by_columns(beginning, renamed, how)
    except OffrankError as error:  # why it is no log as its names and what was said tell
        opened = error
    if not (isinstance(opened, OffrankError) or _lacks_clicks(opened) or _lacks_candidates(opened)):
        return opened
    return _detected(beginning, opened, chosen, renamed, how)


_Log = WideLog | LongLog


@dataclass(frozen=True)
class _How:
    """How `read_log` was told to read."""

    invalid: Invalid = "raise"
    gaps: Gaps = "raise"
    top_k: int | None = None
    duplicates: Duplicates | None = None
    skip_broken_files: bool = False

    def check(self) -> None:
        """Refuse choices that there are not."""
        if self.invalid not in get_args(Invalid):
            raise UsageError(f"invalid is {self.invalid!r}", 'use "raise" or "skip"')
        if self.gaps not in get_args(Gaps):
            raise UsageError(f"gaps is {self.gaps!r}", 'use "raise" or "close"')
        if self.duplicates not in (None, *get_args(Duplicates)):
            raise UsageError(f"duplicates is {self.duplicates!r}", 'use "first", "each" or "raise"')
        if self.top_k is not None and self.top_k < 1:
            raise UsageError(f"top_k is {self.top_k!r}", "give 1 or more")


def _documented(source: Any) -> WideLog | None:
    """Return the log of a Parquet file in the documented wide layout: the plain case; None of any other source.

    No other column could be meant for one of the layout, or be made of others. No row is read: columns of text, which
    may hold lists or objects, are looked at when one of them is asked for.
    """
    path = str(Path(source)) if isinstance(source, str | Path) else ""
    if not path.endswith(".parquet") or {":", "="} & {*path} or not os.path.isfile(path):  # noqa: PTH113  a name?
        return None
    table = ParquetTable(Files((path,)))
    try:
        kinds = {one.name: one.type for one in table.schema}
        listed = {name for name, kind in kinds.items() if isinstance(kind, arrow.LISTS)}
        if len(kinds) < len(table.schema) or not {"slate", "clicks", *({"candidates"} & kinds.keys())} <= listed:
            return None
        numbered, nested = re.search("[0-9]", "".join(kinds)), any("struct<" in str(kind) for kind in kinds.values())
        if numbered or nested or may_group(kinds) or not table.parts() or table.may_be_null("clicks"):
            return None
    except (OffrankError, UnicodeError):  # whoever looks at the file tells what is wrong
        return None
    log = WideLog(table, {}, texts=frozenset(name for name, kind in kinds.items() if is_text(kind)))
    return None if "candidates" not in kinds and _lacks_candidates(log) else log


def _detected(
    beginning: Beginning, opened: _Log | OffrankError, chosen: str | None, renamed: Mapping[str, str], how: _How
) -> Source:
    """Open a source as its own shape tells. opened: what is known without, or why it is not a log by its names."""
    known = format_of(beginning) if not (chosen or renamed) else None
    if known is not None:
        log = _by_reader(known, beginning.opened if known.of_tables else beginning.source, renamed, how)
        return replace(log, description=log.description or Description(known.layout, format=repr(known)))
    found = roles_of(beginning, renamed, closed=how.gaps == "close")
    if found is not None and not (found.lacks or found.unsettled):
        log = _by_columns(beginning, {**found.columns, **renamed}, how)
        return replace(log, description=found)
    if not isinstance(opened, OffrankError):
        if found is None or found.instead != DUPLICATE.remedy or how.invalid == "skip" or how.duplicates:
            return opened
        opened = ColumnError(found.lacks, found.instead)
    if beginning.rows is not None and not beginning.rows.num_rows:
        raise EmptyLogError(f"{beginning.named} has no rows", "give a log with at least one impression") from opened
    opened = not_joined(beginning, opened)
    raise opened if found is None else not_understood(beginning, found, renamed, opened)


def _by_reader(reader: Reader, source: Any, renamed: Mapping[str, str], how: _How) -> _Log:
    """Open a source by the reader of a named standard."""
    if how.skip_broken_files:
        raise UsageError(f"the {reader} format reads all of its files", Wording("omit {}", Option("skip_broken_files")))
    if renamed:
        raise UsageError(f"the columns of the {reader} format are fixed", Wording("omit {}", Option("columns")))
    found: _Log = reader(source, invalid=how.invalid)
    told = found.description and replace(found.description, format=repr(reader))
    return replace(found, top_k=how.top_k, duplicates=how.duplicates or found.duplicates, description=told)


def _by_columns(beginning: Beginning, renamed: Mapping[str, str], how: _How) -> _Log:
    """Open a source whose columns have the names of roles, or were said."""
    table, left_out = sound(beginning.opened.table) if how.skip_broken_files else (beginning.opened.table, {})
    if folders_in(beginning.source):
        left_out |= {f"{NO_TABLE} {path}": 1 for path in passed_over(beginning.source, beginning.opened.kind)}
    if not table.parts():
        raise EmptyLogError(f"{table.describe()} has no rows", "give a log with at least one impression")
    plain = unfolded(table, renamed) if how.skip_broken_files else beginning.unfolded(renamed)
    rows = beginning.rows_as(plain)
    table = composed(plain, renamed)
    renamed = places_said(table, renamed, rows=rows)
    table = clicks_of_places(table, renamed)
    wide = _is_wide(table, renamed, how.gaps)
    known = Columns(table.names, renamed, table.describe())
    try:
        for role in renamed:
            known.of(role)  # one that is not needed would be passed over, and another be read instead of it
    except ColumnError as error:
        raise told_of_all(error, table) from None
    given: dict[str, Any] = {"top_k": how.top_k, "duplicates": how.duplicates or "raise", "left_out": left_out}
    given["clicks_as"] = detect_clicks_as(table, renamed, is_wide=wide, rows=rows)
    if may_group(table.names):
        given["groups"] = groups_of(table.names, renamed, partial(few_rows, table), of_items=not wide)
    if not wide:
        return LongLog(table, renamed, how.invalid, gaps=how.gaps, **given)
    if "position" in renamed:
        table = in_order(table, renamed, given["clicks_as"], skip=how.invalid == "skip", close=how.gaps == "close")
    return WideLog(table, renamed, how.invalid, **given)


def _lacks_clicks(log: _Log) -> bool:
    """Whether a log has no clicks and no reward under their names, but may have them elsewhere.

    A column is called so, or tells kinds of rows, or there are several files, some of which may hold the clicks.
    Beside a slate, lists of any name may be clicks by their values.
    """
    known = Columns(log.table.names, log.renamed, "")
    role = "clicks" if isinstance(log, WideLog) else "click"
    if known.has(role) or known.has("reward"):
        return False
    files, own = getattr(log.table, "files", None), {*ROLES, "position"}
    if role == "clicks" and not log.renamed and any(name not in own for name in known.available):
        return True
    several = files is not None and len(files.paths) > 1
    return several or any(
        closeness(role, name) >= _CALLED for name in known.available for role in ("click", "kind", "used")
    )


def _lacks_candidates(log: _Log) -> bool:
    """Whether a wide log has no candidates under their name, but a column that is called as they are."""
    if not isinstance(log, WideLog) or "candidates" in log.stored.names or log.renamed:
        return False
    return any(closeness("candidates", name) >= _CALLED for name in log.stored.names)


def opened(log: Any, columns: Mapping[str, str] | None = None) -> Source:
    """Return a log that is open already, or what `read_log` opens.

    Raises:
        UsageError: it is open already, and columns were said.
    """
    if isinstance(log, str | Path) or not is_open(log):  # a name is none
        return read_log(log, columns)
    if columns:
        raise UsageError(
            "columns are named when a log is opened", Wording("use read_log(..., {})", ColumnNames(columns))
        )
    source: Source = log
    return source


def is_open(log: Any) -> bool:
    """Whether a log is open already. Its class is asked: some data frames have attributes of any name, as columns."""
    return hasattr(type(log), "batches")


def _formats() -> Mapping[str, Callable[..., Any]]:
    """Return the makers of format spellings by name: file formats and readers of public data."""
    return {kind: partial(_itself, kind) for kind in dict.fromkeys(SUFFIXES.values())} | dict(READERS)


def _itself(kind: str) -> str:
    return kind


def _is_wide(table: Table, renamed: Mapping[str, str], gaps: Gaps) -> bool:
    """Whether a row is an impression; the layout must be complete."""
    known = Columns(table.names, renamed, table.describe())
    wide = known.has("slate") or not (known.has("item") or known.has("impression"))
    for role in ("slate",) if wide else ("impression", "item", "position"):
        known.of(role)
    if wide and gaps == "close" and "position" not in renamed:
        raise UsageError(
            "gaps can be closed only in the long layout, or between positions in a named column",
            Wording("omit {}", Option("gaps", "close")),
        )
    return wide


def period_of(source: Any) -> dict[str, str] | None:
    """Return the column of time of a log, and its `first` and `last` day (UTC); None if reading rows would tell.

    Known are those of Parquet files, from their metadata, and of tables in memory. The column is of dates or times and
    called so, as `ts` or `event_time`, or of texts and called `day` or `date`: a birthday is no day of the log.
    """
    table = getattr(source, "table", None)
    held, schema = (None, None) if table is None else (holder(table), schema_of(table))
    kinds = [] if schema is None else [*zip(schema.names, schema.types, strict=True)]
    dated = [name for name, kind in kinds if pa.types.is_timestamp(kind) or pa.types.is_date(kind)]
    times = [name for name in sorted(dated, key=partial(order, "time")) if closeness("time", name) >= _CALLED]
    times = times or [name for name, _ in kinds if name in ("day", "date")]
    days = [_DAY.match(str(one)) for one in _ends(held, times[0])] if times else []
    named = sorted(one.group() for one in days if one)
    return {"column": times[0], "first": named[0], "last": named[-1]} if days and all(days) else None


def _ends(held: Any, name: str) -> list[Any]:
    """Return values of a column between which all others are; none if they are not known, or damaged."""
    with suppress(LogError, pa.ArrowException, ValueError, OverflowError):  # whoever reads the rows tells what is wrong
        if not isinstance(held, pa.Table):
            return [*getattr(held, "ends", lambda _: ())(name)]
        both = (pc.min_max(held[name])[end] for end in ("min", "max"))
        utc = pa.timestamp("us")
        return [(one.cast(utc, safe=False) if pa.types.is_temporal(one.type) else one).as_py() for one in both]
    return []


_CALLED = 3
"""How well a name must fit a role to look at the first rows, or to be of a row's time: `release_date` fits less."""
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
