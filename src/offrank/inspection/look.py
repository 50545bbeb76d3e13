"""How `inspect` looks at a table: as a log, as its shape tells, or as a table of which something is open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ColumnError, EmptyLogError, LogError, OffrankError, RowError
from ..language.registry import Later
from ..log.source import Needs, Source
from ..policies.registry import policy
from ..readers.beginning import Beginning
from ..readers.clicked_indices import column_of
from ..readers.files import is_paths
from ..readers.log import is_open, read_log
from ..readers.log_columns import LogColumn, first_look
from ..readers.long import LongLog
from ..readers.protection import has_checksums
from ..readers.sampling import sampled
from ..readers.wide import Gaps, WideLog
from ..wording import Wording
from .passes import HowRead, look_through, used
from .result import Inspection
from .suggestion import suggestion
from .unread_table import UnreadTable

if TYPE_CHECKING:
    from ..readers import detect, without_slates
else:  # what a log that is read as it is needs none of
    detect, without_slates = (Later(f"..readers.{name}", __package__) for name in ("detect", "without_slates"))

Reading = Mapping[str, Any]
"""How a table is read: `gaps`, `top_k`, `skip_broken_files` and `where`, as `read_log` takes them."""


def look(
    log: Any,
    columns: Mapping[str, str] | None,
    format: str | None,  # noqa: A002  as in `read_log`
    reading: Reading,
    logging: str | None,
    sample_above: int | None,
    how: HowRead,
) -> Inspection | UnreadTable:
    """Return what is found in a table, or what is open about it.

    Raises:
        OffrankError: see `offrank.inspect`.
    """
    gaps, said = reading["gaps"], {"path": _path(log), "format": format, "given": dict(columns or {})}
    said |= {name: reading[name] for name in ("gaps", "top_k", "where")}
    beginning = Beginning.of(log, format, empty=reading["skip_broken_files"], where=reading["where"])
    try:
        source = log if is_open(log) else read_log(beginning, columns, format=format, invalid="skip", **reading)
    except OffrankError as error:
        return _unread(beginning, error, columns, format, closed=gaps == "close")
    try:
        return _looked(source, logging, sample_above, said, how)
    except (LogError, ColumnError) as error:
        told = None if columns or format or is_open(log) else _told_by_shape(source, beginning)
        if told is not None:
            return look(log, told, None, reading, logging, sample_above, how)
        known = _read_wrongly(source, error, beginning, columns, format, gaps, opened=is_open(log))
        if known is None:
            raise
        return known


def _read_wrongly(
    source: Source,
    error: OffrankError,
    beginning: Beginning,
    columns: Mapping[str, str] | None,
    format: str | None,  # noqa: A002
    gaps: Gaps,
    *,
    opened: bool,
) -> UnreadTable | None:
    """Return what is known of a table whose rows cannot be read, where how it was read may be at fault; None if not."""
    found, empty = (
        source.description if isinstance(source, WideLog | LongLog) else None,
        isinstance(error, EmptyLogError),
    )
    if found is None or not (found.format or empty):
        shape = detect.roles_of(beginning, columns or {}, closed=gaps == "close") if empty and not opened else None
        if shape is None or not shape.instead or shape.layout == "none":  # then the error tells what rules rows break
            return None
    return _unread(beginning, error, columns, format, closed=gaps == "close")


def _looked(
    source: Source, logging: str | None, sample_above: int | None, said: Mapping[str, Any], how: HowRead
) -> Inspection:
    """Return what is found in a log, or in a sample of it, and the command to run next. said: fields that are known.

    Raises:
        LogError: no row is valid, or a table of a named standard cannot be read.
    """
    sample, found = None, None
    if isinstance(source, WideLog | LongLog):
        found = source.description
        said = {**said, "checksums": has_checksums(source.table)}
        source, sample = sampled(replace(source, invalid="skip"), sample_above)
    seen, law, rows = look_through(source, how)
    logging = logging or (found.logging if found is not None else "") or None
    if logging is not None and (logging != seen.logging.named or not seen.logging.known):
        seen = _confirmed(seen, repr(policy(logging)))
    seen = replace(seen, sample=sample, **said)
    if found is not None:
        seen = replace(seen, format=found.format or seen.format, read_as=found.said)
    seen = replace(seen, first_broken=_first_broken(source, seen) if seen.broken else "")
    return replace(seen, **suggestion(seen, law, source, rows, how)) if seen.logging.seen else seen


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


def _told_by_shape(source: Source, beginning: Beginning) -> dict[str, str] | None:
    """Return the columns of a long table by role as its shape tells, where its names misled; None if not sure."""
    if not isinstance(source, LongLog) or source.description is not None:
        return None
    found = detect.roles_of(beginning, {})
    if found is None or found.lacks or found.unsettled:
        return None
    return {role: one.column for role, one in found.roles.items()} if found.columns else None


def _path(log: Any) -> str | list[str] | None:
    if not is_paths(log):
        return None
    return fspath(log) if isinstance(log, str | PathLike) else [*map(fspath, log)]


def _confirmed(seen: Inspection, said: str) -> Inspection:
    """Return the same with the policy that a person names, unless the log contradicts it."""
    if any(one.against and repr(one.policy) == said for one in seen.drawn):
        return seen
    return replace(seen, logging=replace(seen.logging, policy=said, confirmed=True))


def _unread(
    beginning: Beginning,
    error: OffrankError,
    columns: Mapping[str, str] | None,
    kind: str | None,
    *,
    closed: bool = False,
) -> UnreadTable:
    """Return the description of a table that could not be read as a log.

    error: what `read_log` said of it. closed: whether gaps between positions were to be closed.

    Raises:
        OffrankError: that error, where it is no table either, or where a column was said that it does not have.
    """
    log, said = beginning.source, dict(columns or {})
    if beginning.table is None and beginning.several and not said:
        return _several(beginning, error, kind)
    if beginning.table is None or beginning.rows is None or not beginning.rows.num_rows:
        raise error
    found = detect.roles_of(beginning, said, closed=closed)
    if found is None or {column_of(one, beginning.table.names) for one in said.values()} - {*beginning.table.names}:
        raise error
    path = str(log) if isinstance(log, str | PathLike) else None
    where, roles = beginning.table.describe(), {role: one.column for role, one in found.roles.items()}
    known = None if said or kind else detect.format_of(beginning)
    if known is not None:
        return UnreadTable(where, first_look(beginning.rows), _told(error), layout=known.layout, path=path)
    why = (
        ": ".join(filter(None, (found.lacks, found.instead)))
        or " and ".join(f"it is not clear {one.what}" for one in found.unsettled)
        or _told(error)
    )
    shape = found.unsettled, found.layout, path, said, roles, found.command
    return UnreadTable(where, first_look(beginning.rows), why, *shape)


def _told(error: OffrankError) -> str:
    """Return what an error says, with its remedy."""
    return Wording("{}: {}", error.message, error.remedy) if error.remedy else error.message


def _several(beginning: Beginning, error: OffrankError, kind: str | None) -> UnreadTable:
    """Return the description of files that are no one table: the columns of each.

    Raises:
        OffrankError: what was said of them, where none of them is a table.
    """
    columns: list[LogColumn] = []
    for each in beginning.several[:_DESCRIBED_FILES]:
        rows, where = Beginning.of(each, kind).rows, each if isinstance(each, str) else each.describe()
        if rows is not None and rows.num_rows:
            columns += [replace(one, name=f"{one.name} ({Path(where).name})") for one in first_look(rows)]
    if not columns:
        raise error
    without, known = (None, None) if kind else (without_slates.lacks_lists(beginning), detect.format_of(beginning))
    why = _told(error) if without is None else f"{without.lacks}: {without.instead}"
    layout = next((one.layout for one in (known, without) if one is not None), "none")
    source = ", ".join(map(str, log)) if isinstance(log := beginning.source, list) else str(log)
    command = "" if without is None else without.command
    return UnreadTable(source, tuple(columns), why, layout=layout, path=source, command=command)


_DESCRIBED_FILES = 8
"""Files of a folder that are described."""
