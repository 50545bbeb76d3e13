"""What a source is: found once, by the reader of a format, by the names of its columns, or as what is in it tells."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import pyarrow as pa

from ..errors import ColumnError, EmptyLogError, LogError, OffrankError, UsageError
from ..language.spelling import parse
from ..log.rules import BROKEN_FILE, DUPLICATE, NO_TABLE
from ..log.schema import LONG_ROLES, ROLES, Columns, check_renamed
from ..log.source import Source, engine_of
from ..wording import ColumnNames, Option, Wording, joined
from . import flat
from .column_sets import told_of_all
from .composite_ids import asked_of_pages, composed, composed_rows, ids_together, of_pages
from .description import ClicksAs, Description, Unsettled
from .files import Files, folders_in
from .formats.registry import READERS, Reader
from .joining import ExposedLists, free_name
from .long import LongLog
from .names import CALLED, SURE_FIT, closeness, may_group
from .opening import SUFFIXES, Beginning, passed_over
from .roles import long, wide
from .roles.clicked_index import clicks_of_places, column_of, spelled
from .roles.columns import groups_of
from .row_filter import filtered
from .sampling import scattered_roles
from .tables import FIRST_ROWS, Table, all_pieces, few_rows, first_rows, may_be_null, once_only, refuse_mixed
from .unfolding import UnfoldedTable, in_order, unfolded
from .unfolding.table import Reshaped
from .wide import ReadOptions, WideLog, lacks_candidates
from .without_slates import exposure_columns, lacks_lists, not_joined, not_understood

_Log = WideLog | LongLog
_IDS = ("slate", "candidates", "impression", "item")


@dataclass(frozen=True)
class Described:
    """A source, and what was said of it: what it is read as is found when that is first asked for, and once.

    format, how: as `read_log` takes them. said: role -> column.
    """

    beginning: Beginning
    format: str | Reader | None
    said: Mapping[str, str]
    how: ReadOptions

    @classmethod
    def of(cls, source: Any, format: str | Reader | None, said: Mapping[str, str], how: ReadOptions) -> Described:  # noqa: A002
        """Look at what `read_log` takes, whatever its shape; raise a `UsageError` if columns are not named by role."""
        if not isinstance(said, Mapping):
            raise UsageError(f"columns is {said!r}, not columns by role", 'write columns={"slate": "NAME"}')
        opened = Beginning(source, format, how.skip_broken_files, how.where, how.invalid == "skip")
        return cls(opened, format, dict(said), how)

    @cached_property
    def standard(self) -> Reader | None:
        """The reader of a named standard that knows it as its own, if nothing else was said; None if several do."""
        for general in () if self.format else (False, True):
            readers = [reader for reader in READERS.values() if reader.general == general]
            found = [one for reader in readers if (one := reader.fitting(self.beginning)) is not None]
            if found:
                return found[0] if len(found) == 1 else None
        return None

    @cached_property
    def description(self) -> Description | None:
        """The layout of a plain table and the roles of its columns, as its first rows tell.

        None if these are not known, or if it lacks a column that was said. What was said is not doubted.
        """
        check_renamed(self.said)
        beginning, said = self.beginning, self.said
        rows = beginning.rows if beginning.rows is None else composed_rows(beginning.rows, said)
        known = () if rows is None else tuple(rows.column_names)
        if rows is None or not rows.num_rows or not {column_of(name, known) for name in said.values()} <= {*known}:
            return None
        best, table = wide.roles_of(rows, said, closed=self.how.gaps == "close"), beginning.table
        if best is None or best.settled:
            return best
        if best.lacks and "impression" not in said and (together := _together(rows, said)) is not None:
            return together
        if best.lacks and not said and (without := lacks_lists(beginning)) is not None:
            return without
        if rows.num_rows < FIRST_ROWS or table is None or not said.keys() <= LONG_ROLES.keys():
            return best
        return scattered_roles(table, rows, said) or best

    def log(self) -> Source:
        """Open it; raise an `OffrankError` as `read_log` does."""
        found, where = self._log(), self.how.where
        return found if where is None else replace(found, where=" ".join(where.split()))

    def _log(self) -> _Log:
        check_renamed(self.said)
        self.how.check()
        chosen = parse(self.format, _formats(), "format") if isinstance(self.format, str) else self.format
        if isinstance(chosen, Reader):
            return self._by_reader(chosen)
        if not (chosen is None or isinstance(chosen, str)):
            raise UsageError(f"format is {chosen!r}, which is not a reader", "name a format, or give a `Reader`")
        beginning = _with_exposures(self.beginning)
        this = self if beginning is self.beginning else replace(self, beginning=beginning)
        opened: _Log | OffrankError
        try:
            opened = this._by_columns(self.said)
        except OffrankError as error:  # why it is no log as its names and what was said tell
            opened = error
        if isinstance(opened, OffrankError) or self.said or _lacks_clicks(opened) or lacks_candidates(opened):
            return this._detected(opened)
        return opened

    def _detected(self, opened: _Log | OffrankError) -> _Log:
        """Open it as its own shape tells. opened: what is known without, or why it is not a log by its names."""
        lacking, how = isinstance(opened, OffrankError) or _lacks_clicks(opened), self.how
        known = self.standard if lacking or not self.said else None
        if known is not None and (known.general or not self.said):
            log = self._by_reader(known)
            told = log.description if log.description.format else Description(known.layout, format=repr(known))
            return replace(log, description=told)
        found = self.description
        alike = (
            isinstance(opened, _Log) and found is not None and (found.layout == "wide") is isinstance(opened, WideLog)
        )
        if found is not None and (found.settled or alike):
            return self._by_columns({**found.sure, **self.said}, found if found.settled else None)
        if not isinstance(opened, OffrankError):
            if found is None or found.instead != DUPLICATE.remedy or how.invalid == "skip" or how.duplicates:
                return opened
            opened = ColumnError(found.lacks, found.instead)
        beginning, table = self.beginning, self.beginning.table
        if table is not None and beginning.rows is not None and not beginning.rows.num_rows:
            raise EmptyLogError(
                f"{table.describe()} has no rows", "give a log with at least one impression"
            ) from opened
        if isinstance(opened, ColumnError) and not (self.said or beginning.several):
            beginning.refuse_unreadable()
        opened = not_joined(beginning, opened)
        raise opened if found is None else not_understood(beginning, found, self.said, opened)

    def _by_reader(self, reader: Reader) -> _Log:
        """Open it by the reader of a named standard."""
        beginning, said, how = self.beginning, self.said, self.how
        if how.skip_broken_files:
            remedy = Wording("omit {}", Option("skip_broken_files"))
            raise UsageError(f"the {reader} format reads all of its files", remedy)
        fixed = UsageError(f"the columns of the {reader} format are fixed", Wording("omit {}", Option("columns")))
        if said and not reader.general:
            raise fixed
        found: _Log = reader(beginning if reader.of_tables else beginning.source, invalid=how.invalid)
        if how.where is not None and (beginning.tables or not reader.of_tables):  # which opens no filtered table
            found = replace(found, stored=filtered(found.table, how.where))
        own = found.renamed
        if any(own.get(role, name) != name for role, name in said.items()):
            raise fixed
        _refuse_absent(found.table, {**own, **said})
        told = found.description
        told = told if told.layout == "none" else replace(told, format=repr(reader))
        given: dict[str, Any] = {"renamed": {**own, **said}, "description": told}
        if how.gaps == "close":
            if not isinstance(found, LongLog):
                remedy = Wording("omit {}", Option("gaps", "close"))
                raise UsageError(f"the {reader} format has whole lists, without gaps to close", remedy)
            given["gaps"] = how.gaps
        return replace(found, top_k=how.top_k, duplicates=how.duplicates or found.duplicates, **given)

    def _by_columns(self, renamed: Mapping[str, str], found: Description | None = None) -> _Log:
        """Open it by columns that have the names of roles, or that are known as theirs. found: what its shape tells."""
        beginning, how = self.beginning, self.how
        table, left_out = sound(beginning.stored) if how.skip_broken_files else (beginning.stored, {})
        if folders_in(beginning.source):
            left_out |= {f"{NO_TABLE} {path}": 1 for path in passed_over(beginning.source, beginning.kind)}
        if not table.parts():
            raise EmptyLogError(f"{table.describe()} has no rows", "give a log with at least one impression")
        plain = unfolded(table, renamed) if how.skip_broken_files else beginning.unfolded(renamed)
        rows = beginning.rows_as(plain)
        refuse_mixed(beginning.stored, (renamed.get(role, role) for role in _IDS))
        table = composed(plain, renamed)
        is_wide = self._is_wide(table, renamed)
        clicks_as, tops = _clicks_as(table, renamed, rows, is_wide=is_wide)
        renamed = {**renamed, "clicks": _from_top(renamed["clicks"], tops)} if tops else renamed
        table = clicks_of_places(table, renamed)
        _refuse_absent(table, renamed)
        groups = {}
        if may_group(table.names):
            groups = groups_of(table.names, renamed, partial(few_rows, table), of_items=not is_wide)
        told = replace(found or Description(), clicks_as=clicks_as, groups=groups, left_out=left_out)
        given: dict[str, Any] = {"top_k": how.top_k, "duplicates": how.duplicates or "raise", "description": told}
        if not is_wide:
            return LongLog(table, renamed, how.invalid, gaps=how.gaps, **given)
        if "position" in renamed:
            table = in_order(table, renamed, clicks_as, skip=how.invalid == "skip", close=how.gaps == "close")
        return WideLog(table, renamed, how.invalid, **given)

    def _is_wide(self, table: Table, renamed: Mapping[str, str]) -> bool:
        """Whether a row is an impression; the layout must be complete."""
        known = Columns(table.names, renamed, table.describe())
        found = known.has("slate") or not (known.has("item") or known.has("impression"))
        for role in ("slate",) if found else ("impression", "item", "position"):
            known.of(role)
        if found and self.how.gaps == "close" and "position" not in renamed:
            raise UsageError(
                "gaps can be closed only in the long layout, or between positions in a named column",
                Wording("omit {}", Option("gaps", "close")),
            )
        return found


def _with_exposures(beginning: Beginning) -> Beginning:
    """Return the beginning of the lists with their exposures, where a source is two such tables; else it itself.

    Raises:
        ColumnError: they are of several experiments. LogError: they do not join, or there are none.
    """
    if not isinstance(beginning.source, list | tuple) or len(beginning.source) != 2:
        return beginning
    try:
        tables = [unfolded(table) for table in beginning.tables]
    except OffrankError:
        return beginning
    found = [exposure_columns(table.names) for table in tables]
    if len(tables) != 2 or (found[0] is None) == (found[1] is None):
        return beginning
    (shown, _), (exposures, by) = sorted(zip(tables, found, strict=True), key=lambda pair: pair[1] is not None)
    if by is None:
        return beginning
    user = max(shown.names, key=lambda name: (name == by.user, closeness("user", name)), default="")
    if user != by.user and closeness("user", user) < SURE_FIT:
        return beginning
    made = free_name(by.variation, shown.names)
    times = [max(table.names, key=partial(closeness, "time")) for table in (shown, exposures)]
    both = all(closeness("time", name) >= SURE_FIT for name in times)
    joined = ExposedLists(shown, exposures, made, by, user, (times[0], times[1]) if both else None)
    first_rows(joined, (made,))  # what does not fit is said here: whoever looks at a table takes it for none
    return Beginning(joined, where=beginning.where)


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
    return {kind: partial(lambda kind: kind, kind) for kind in SUFFIXES.values()} | dict(READERS)


def _together(rows: pa.Table, said: Mapping[str, str]) -> Description | None:
    """Return the roles of a long table whose lists are told apart by several columns together; None if none are."""
    ids = ids_together(rows)
    if not ids:
        return None
    known = {**said, "impression": ids[0]}
    found = long.long_roles(composed_rows(rows, known), known)
    roles = {**found.roles, "impression": ids[0]}
    if of_pages(ids[0]):
        return replace(found, roles=roles, unsettled=(asked_of_pages(ids[0]), *found.unsettled))
    if len(ids) > 1:
        ways = tuple(Wording("{}", ColumnNames({"impression": name})) for name in ids)
        return replace(found, unsettled=(Unsettled("which columns are the impression", ways), *found.unsettled))
    return replace(found, roles=roles)


def _clicks_as(
    table: Table, said: Mapping[str, str], rows: pa.Table | None, *, is_wide: bool
) -> tuple[ClicksAs, tuple[int, ...]]:
    """Tell from the first rows how clicks are written, and which numbers the first place may have, if as places.

    A column that is called as the role and was not given holds numbers, or nothing where there was no click. A stream
    is not looked at, nor one that is opened for it alone. rows: the first rows, if they were read.
    """
    wanted = ("slate", "clicks") if is_wide else ("position", "click", "item", "impression")
    columns, click = tuple(said.get(role, role) for role in wanted), wanted[1]
    plain: ClicksAs = "values" if said else "numbers"
    if not {*columns} <= {*table.names} or once_only(table):
        return plain, ()
    inner: Any = table.table if isinstance(table, UnfoldedTable) else table
    opened_anew = hasattr(inner, "held") or engine_of(inner) is not None
    if click not in said and (opened_anew or not may_be_null(table, columns[1])):
        return plain, ()
    if rows is None or not {*columns} <= {*rows.column_names}:
        rows = (first_rows if click in said else few_rows)(table, tuple(dict.fromkeys(columns)))
    tops = wide.tops_said(rows, *columns) if click in said and is_wide else ()
    if tops or not len(rows):
        return plain, tops
    if all(map(_all_null, rows.column(columns[1]).chunks)):
        _refuse_all_null(table, columns[1])
    found = (wide.clicks_in_lists if is_wide else long.clicks_in_rows)(rows, *columns)
    return found if click in said or found == "filled" else plain, ()


def _from_top(clicks: str, tops: Sequence[int]) -> str:
    """Return how a column of places is named; raise a `ColumnError` if the rows do not tell from where they count."""
    if len(tops) == 1:
        return spelled(clicks, tops[0])
    ways = [Wording("{}", ColumnNames({"clicks": spelled(clicks, top)})) for top in tops]
    raise ColumnError(f"positions in {clicks!r} may be counted from 0 or from 1", joined(", or ", ways))


def _refuse_all_null(table: Table, clicks: str) -> None:
    """Raise a `ColumnError` if the column of the clicks is null in all rows."""
    if all(_all_null(piece.data.column(0)) for piece in all_pieces(table, (clicks,))):
        said = f"{clicks!r} is null in all rows of {table.describe()}, so nothing says what was clicked"
        raise ColumnError(said, "write the clicks, 0 where an item was not clicked, or name the column that has them")


def _all_null(column: pa.Array) -> bool:
    """Whether a column holds nulls alone, or lists of them."""
    column = flat.plain_column(column)
    values = flat.lists(column, "clicks").values if pa.types.is_nested(column.type) else column
    return values.null_count == len(values) > 0 or column.null_count == len(column)


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
