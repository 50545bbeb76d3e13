"""How `inspect` looks at a table: as a log, as its shape tells, or as a table of which something is open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from ..errors import ColumnError, EmptyLogError, LogError, OffrankError, RowError
from ..log.source import Needs, Source
from ..policies.registry import policy
from ..readers.described import Described
from ..readers.description import Description
from ..readers.files import is_paths
from ..readers.log import is_open
from ..readers.log_columns import LogColumn, first_look
from ..readers.long import LongLog
from ..readers.names import PLUS
from ..readers.opening import SUFFIXES, Beginning
from ..readers.protection import has_checksums
from ..readers.roles.clicked_index import column_of
from ..readers.sampling import sampled
from ..readers.wide import ReadOptions, WideLog
from ..readers.without_slates import lacks_lists
from ..wording import Wording
from .passes import HowRead, look_through, used
from .result import Inspection
from .suggestion import first_slots, suggestion
from .unread_table import UnreadTable


def look(
    log: Any,
    columns: Mapping[str, str] | None,
    format: str | None,  # noqa: A002  as in `read_log`
    reading: ReadOptions,
    logging: str | None,
    sample_above: int | None,
    how: HowRead,
) -> Inspection | UnreadTable:
    """Return what is found in a table, or what is open about it.

    Raises:
        OffrankError: see `offrank.inspect`.
    """
    found, opened = Described.of(log, format, columns or {}, reading), is_open(log)
    said: dict[str, Any] = {"path": _path(log), "format": format, "given": found.said}
    said |= {"gaps": reading.gaps, "top_k": reading.top_k, "where": reading.where}
    try:
        source = log if opened else found.log()
    except OffrankError as error:
        return _unread(found, error)
    if not opened and isinstance(source, WideLog) and not {"candidates"} & {*source.renamed, *source.table.names}:
        together = found.description and found.description.roles.get("candidates")
        if together and PLUS in together:  # two rankings beside the slate, both of which are then read as such
            columns = {**(columns or {}), "candidates": together}
            return look(log, columns, format, reading, logging, sample_above, how)
    try:
        return _looked(source, logging, sample_above, said, how)
    except (LogError, ColumnError) as error:
        told = None if columns or format or opened else _told_by_shape(source, found)
        if told is not None:
            return look(log, told, None, reading, logging, sample_above, how)
        if not _read_wrongly(source, error, None if opened else found):
            raise
        return _unread(found, error)


def _read_wrongly(source: Source, error: OffrankError, found: Described | None) -> bool:
    """Whether how a table was read may be at fault where its rows cannot be read. found: what it is, if it is known."""
    told = source.description if isinstance(source, WideLog | LongLog) else Description()
    empty = isinstance(error, EmptyLogError)
    if told.format or (told.layout != "none" and empty):
        return True
    shape = found.description if empty and found is not None else None
    return shape is not None and bool(shape.instead) and shape.layout != "none"  # else the error tells what rows break


def _looked(
    source: Source, logging: str | None, sample_above: int | None, said: Mapping[str, Any], how: HowRead
) -> Inspection:
    """Return what is found in a log, or in a sample of it, and the command to run next. said: fields that are known.

    Raises:
        LogError: no row is valid, or a table of a named standard cannot be read.
    """
    sample, found = None, Description()
    if isinstance(source, WideLog | LongLog):
        found = source.description
        said = {**said, "checksums": has_checksums(source.table)}
        source, sample = sampled(replace(source, invalid="skip"), sample_above)
    seen, law, rows = look_through(source, how)
    logging = logging or found.logging or None
    if logging is not None and (logging != seen.logging.named or not seen.logging.known):
        said_law = repr(policy(logging))
        if not any(one.against and repr(one.policy) == said_law for one in seen.drawn):  # which the log contradicts
            seen = replace(seen, logging=replace(seen.logging, policy=said_law, confirmed=True))
    seen = replace(seen, sample=sample, **said)
    seen = replace(seen, format=found.format or seen.format, read_as=found.said)
    seen = replace(seen, first_broken=_first_broken(source, seen) if seen.broken else "")
    if not seen.logging.seen:
        return seen
    asked = suggestion(seen, law, source, rows, how)
    if "declined" in asked and seen.logging.known and not seen.written and isinstance(source, WideLog | LongLog):
        of_one = suggestion(seen, law, replace(source, top_k=1), first_slots(rows), how, firsts=True)
        asked = of_one if "next" in of_one else asked
    return replace(seen, **asked)


def _first_broken(source: Source, seen: Inspection) -> str:
    """Return where the first row stands that breaks a rule, with its column and value; nothing where none is found."""
    roles = {*seen.written, "candidates"} | ({"reward"} if seen.overview.earned is not None else set())
    scores, rankings = (frozenset(used(seen.columns, use)) for use in ("score", "ranking"))
    try:
        checked = replace(source, invalid="raise").select(Needs(frozenset(roles), scores=scores, rankings=rankings))  # type: ignore[type-var]
        for part in range(checked.parts()):
            for _ in checked.batches(part):
                pass
    except OffrankError as error:
        return str(error.message) if isinstance(error, RowError) else ""
    return ""


def _told_by_shape(source: Source, found: Described) -> dict[str, str] | None:
    """Return the columns of a long table by role as its shape tells, where its names misled; None if not sure."""
    shape = found.description if isinstance(source, LongLog) and source.description.layout == "none" else None
    if shape is None or not (shape.settled and shape.columns):
        return None
    return dict(shape.roles)


def _path(log: Any) -> str | list[str] | None:
    if not is_paths(log):
        return None
    return fspath(log) if isinstance(log, str | PathLike) else [*map(fspath, log)]


def _unread(described: Described, error: OffrankError) -> UnreadTable:
    """Return the description of a table that could not be read as a log. error: what `read_log` said of it.

    Raises:
        OffrankError: that error, where it is no table either, or where a column was said that it does not have.
    """
    beginning, said = described.beginning, described.said
    log, table, rows = beginning.source, beginning.table, beginning.rows
    if table is None and beginning.several and not said:
        return _several(described, error)
    found = described.description
    if found is None or table is None or rows is None:
        raise error
    if {column_of(one, table.names) for one in said.values()} - {*table.names}:
        raise error
    if isinstance(described.format, str) and described.format not in SUFFIXES.values():  # which was said
        found = Description(found.layout, lacks=_told(error))
    elif (known := None if said else described.standard) is not None:
        found = Description(known.layout, lacks=_told(error))
    path = str(log) if isinstance(log, str | PathLike) else None
    shape = found.unsettled, found.layout, path, said, dict(found.roles), found.command
    return UnreadTable(table.describe(), first_look(rows), found.why or _told(error), *shape)


def _told(error: OffrankError) -> str:
    """Return what an error says, with its remedy."""
    return Wording("{}: {}", error.message, error.remedy) if error.remedy else error.message


def _several(described: Described, error: OffrankError) -> UnreadTable:
    """Return the description of files that are no one table: the columns of each.

    Raises:
        OffrankError: what was said of them, where none of them is a table.
    """
    columns, beginning, kind = list[LogColumn](), described.beginning, described.format
    for each in beginning.several[:_DESCRIBED_FILES]:
        rows, where = Beginning(each, kind).rows, each if isinstance(each, str) else each.describe()
        if rows is not None and rows.num_rows:
            columns += [replace(one, name=f"{one.name} ({Path(where).name})") for one in first_look(rows)]
    if not columns:
        raise error
    without, known = None if kind else lacks_lists(beginning), described.standard
    layout = next((one.layout for one in (known, without) if one is not None), "none")
    source = ", ".join(map(str, log)) if isinstance(log := beginning.source, list) else str(log)
    why, command = (without.why, without.command) if without is not None else (_told(error), "")
    return UnreadTable(source, tuple(columns), why, layout=layout, path=source, command=command)


_DESCRIBED_FILES = 8
"""Files of a folder that are described."""
