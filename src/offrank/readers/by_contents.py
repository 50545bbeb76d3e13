"""Logs of any shape: opened by the reader of a format, by the names of their columns, or as what is in them tells."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from ..errors import ColumnError, EmptyLogError, OffrankError, UsageError
from ..language.spelling import parse
from ..log.rules import DUPLICATE, NO_TABLE
from ..log.schema import ROLES, Columns, check_renamed
from ..log.source import Source
from ..wording import Option, Wording
from .beginning import Beginning
from .clicked_indices import clicks_of_places
from .column_sets import told_of_all
from .composite_ids import composed
from .description import Description
from .detect import detect_clicks_as, format_of, places_said, roles_of
from .exposures import with_exposures
from .files import folders_in
from .formats.registry import READERS, Reader
from .long import LongLog
from .opening import SUFFIXES, passed_over, sound
from .refusal import not_joined, not_understood
from .roles.columns import groups_of
from .roles.names import CALLED, closeness, may_group
from .row_filter import filtered
from .tables import Table, refuse_mixed
from .unfolding import few_rows, in_order, unfolded
from .wide import Gaps, ReadOptions, WideLog, lacks_candidates

_Log = WideLog | LongLog
_IDS = ("slate", "candidates", "impression", "item")


def understood(
    source: Any,
    format: str | Reader | None,  # noqa: A002  as `read_log` takes it
    renamed: Mapping[str, str],
    how: ReadOptions,
) -> Source:
    """Open what `read_log` takes, whatever its shape. renamed: role -> column, as the user said it.

    Raises:
        OffrankError: as `read_log` does.
    """
    check_renamed(renamed)
    how.check()
    chosen = parse(format, _formats(), "format") if isinstance(format, str) else format
    beginning = source
    if not isinstance(source, Beginning):
        beginning = Beginning.of(source, format, empty=how.skip_broken_files, where=how.where)
    if isinstance(chosen, Reader):
        return _by_reader(chosen, beginning, renamed, how)
    if not (chosen is None or isinstance(chosen, str)):
        raise UsageError(f"format is {chosen!r}, which is not a reader", "name a format, or give a `Reader`")
    beginning = with_exposures(beginning)
    opened: _Log | OffrankError
    try:
        opened = _by_columns(beginning, renamed, how)
    except OffrankError as error:  # why it is no log as its names and what was said tell
        opened = error
    if not (isinstance(opened, OffrankError) or renamed or _lacks_clicks(opened) or lacks_candidates(opened)):
        return opened
    return _detected(beginning, opened, chosen, renamed, how)


def _detected(
    beginning: Beginning, opened: _Log | OffrankError, chosen: str | None, renamed: Mapping[str, str], how: ReadOptions
) -> Source:
    """Open a source as its own shape tells. opened: what is known without, or why it is not a log by its names."""
    lacking = isinstance(opened, OffrankError) or _lacks_clicks(opened)
    known = format_of(beginning) if not chosen and (lacking or not renamed) else None
    if known is not None and (known.general or not renamed):
        log = _by_reader(known, beginning, renamed, how)
        return replace(log, description=log.description or Description(known.layout, format=repr(known)))
    found = roles_of(beginning, renamed, closed=how.gaps == "close")
    settled = found is not None and not (found.lacks or found.unsettled)
    same = isinstance(opened, _Log) and found is not None and (found.layout == "wide") is isinstance(opened, WideLog)
    if found is not None and (settled or same):
        log = _by_columns(beginning, {**found.sure, **renamed}, how)
        return replace(log, description=found) if settled else log
    if not isinstance(opened, OffrankError):
        if found is None or found.instead != DUPLICATE.remedy or how.invalid == "skip" or how.duplicates:
            return opened
        opened = ColumnError(found.lacks, found.instead)
    if beginning.rows is not None and not beginning.rows.num_rows:
        raise EmptyLogError(f"{beginning.named} has no rows", "give a log with at least one impression") from opened
    opened = not_joined(beginning, opened)
    raise opened if found is None else not_understood(beginning, found, renamed, opened)


def _by_reader(reader: Reader, beginning: Beginning, renamed: Mapping[str, str], how: ReadOptions) -> _Log:
    """Open a source by the reader of a named standard."""
    if how.skip_broken_files:
        raise UsageError(f"the {reader} format reads all of its files", Wording("omit {}", Option("skip_broken_files")))
    fixed = UsageError(f"the columns of the {reader} format are fixed", Wording("omit {}", Option("columns")))
    if renamed and not reader.general:
        raise fixed
    found: _Log = reader(beginning.opened if reader.of_tables else beginning.source, invalid=how.invalid)
    if how.where is not None and (beginning.opened.tables or not reader.of_tables):  # which opens no filtered table
        rows = filtered(found.table, how.where)
        found = replace(found, stored=rows) if isinstance(found, WideLog) else replace(found, table=rows)
    own = found.renamed
    if any(own.get(role, name) != name for role, name in renamed.items()):
        raise fixed
    _refuse_absent(found.table, {**own, **renamed})
    told = found.description and replace(found.description, format=repr(reader))
    given: dict[str, Any] = {"renamed": {**own, **renamed}, "description": told}
    return replace(found, top_k=how.top_k, duplicates=how.duplicates or found.duplicates, **given)


def _by_columns(beginning: Beginning, renamed: Mapping[str, str], how: ReadOptions) -> _Log:
    """Open a source whose columns have the names of roles, or were said."""
    table, left_out = sound(beginning.opened.table) if how.skip_broken_files else (beginning.opened.table, {})
    if folders_in(beginning.source):
        left_out |= {f"{NO_TABLE} {path}": 1 for path in passed_over(beginning.source, beginning.opened.kind)}
    if not table.parts():
        raise EmptyLogError(f"{table.describe()} has no rows", "give a log with at least one impression")
    plain = unfolded(table, renamed) if how.skip_broken_files else beginning.unfolded(renamed)
    rows = beginning.rows_as(plain)
    refuse_mixed(beginning.opened.table, (renamed.get(role, role) for role in _IDS))
    table = composed(plain, renamed)
    renamed = places_said(table, renamed, rows=rows)
    table = clicks_of_places(table, renamed)
    wide = _is_wide(table, renamed, how.gaps)
    _refuse_absent(table, renamed)
    given: dict[str, Any] = {"top_k": how.top_k, "duplicates": how.duplicates or "raise", "left_out": left_out}
    given["clicks_as"] = detect_clicks_as(table, renamed, is_wide=wide, rows=rows)
    if may_group(table.names):
        given["groups"] = groups_of(table.names, renamed, partial(few_rows, table), of_items=not wide)
    if not wide:
        return LongLog(table, renamed, how.invalid, gaps=how.gaps, **given)
    if "position" in renamed:
        table = in_order(table, renamed, given["clicks_as"], skip=how.invalid == "skip", close=how.gaps == "close")
    return WideLog(table, renamed, how.invalid, **given)


def _refuse_absent(table: Table, renamed: Mapping[str, str]) -> None:
    """Raise if there is no such column: one that is not needed would be passed over, and another be read instead."""
    known = Columns(table.names, renamed, table.describe())
    try:
        for role in renamed:
            known.of(role)
    except ColumnError as error:
        raise told_of_all(error, table) from None


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
    if role == "clicks" and any(name not in own for name in known.available):
        return True
    several = files is not None and len(files.paths) > 1
    return several or any(
        closeness(role, name) >= CALLED for name in known.available for role in ("click", "kind", "used")
    )


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
