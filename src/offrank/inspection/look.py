"""How `inspect` looks at a table: as a log, as its shape tells, or as a table of which something is open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from ..errors import ColumnError, EmptyLogError, LogError, OffrankError, RowError
from ..language.registry import Later
from ..log.source import Needs, Source
from ..policies.registry import policy
from ..readers.beginning import Beginning
from ..readers.files import is_paths
from ..readers.log import is_open, read_log
from ..readers.long import LongLog
from ..readers.protection import has_checksums
from ..readers.sampling import sampled
from ..readers.wide import Gaps, WideLog
from .passes import HowRead, look_through, used
from .result import Inspection
from .suggestion import suggestion

if TYPE_CHECKING:
    from ..readers import detect
    from . import unread_table
    from .unread_table import UnreadTable
else:  # what a log that is read as it is needs none of
    detect, unread_table = Later("..readers.detect", __package__), Later(".unread_table", __package__)

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
        return unread_table.describe_unread(beginning, error, columns, format, closed=gaps == "close")
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
    found = source.description if isinstance(source, WideLog | LongLog) else None
    if found is not None and (found.format or isinstance(error, EmptyLogError)):
        return unread_table.describe_unread(beginning, error, columns, format)
    if opened or not isinstance(error, EmptyLogError):
        return None
    closed = gaps == "close"
    shape = detect.roles_of(beginning, columns or {}, closed=closed)
    if shape is None or not shape.instead or shape.layout == "none":  # then the error tells what rules rows break
        return None
    return unread_table.describe_unread(beginning, error, columns, format, closed=closed)


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
