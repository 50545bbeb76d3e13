"""`inspect`: how a table is read, which policies may have drawn it, and which command to run next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from os import PathLike, fspath
from typing import Any

from ..errors import ColumnError, EmptyLogError, LogError, OffrankError
from ..inspection.passes import HowRead, looked_at
from ..inspection.result import Inspection
from ..inspection.suggestion import suggestion
from ..inspection.unread import UnreadTable, unread
from ..log.source import Source
from ..policies.named import policy
from ..readers.beginning import Beginning
from ..readers.detect import roles_of
from ..readers.files import is_paths
from ..readers.log import is_open, read_log
from ..readers.long import LongLog
from ..readers.protection import protected
from ..readers.sampling import SAMPLE_ABOVE, sampled
from ..readers.wide import Gaps, WideLog
from ..running.executors import Executor, Progress


def inspect(
    log: Any,
    columns: Mapping[str, str] | None = None,
    *,
    format: str | None = None,  # noqa: A002  as in `read_log`
    gaps: Gaps = "raise",
    top_k: int | None = None,
    skip_broken_files: bool = False,
    logging: str | None = None,
    sample_above: int | None = SAMPLE_ABOVE,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Inspection | UnreadTable:
    """Describe a table before any evaluation: how it is read, which policy generated it, and what to run next.

    A table that can be opened and is not read as a log yet gives an `UnreadTable`: its columns with their first values,
    what is open, and the options that settle it. Any other gives an `Inspection`, in a few passes: the role of each
    column; rows, slots, candidates, ties, duplicates, rows that break a rule; which probabilities were logged; which
    logging policies fit; how strongly rows depend on each other; and the command to run next.

    First, rows of one context are compared: where they never differ, nothing was drawn. Then logging
    policies are fitted to a random sample of the slates, by maximum likelihood: uniform, and for
    each score Plackett-Luce with its temperature, sorted, and sorted with a share of uniform slates. One fits if no
    other makes the slates a thousand times likelier, if its calibration finds nothing, and if rows of one context
    repeat what they show as often as it says. What that proves is `result.logging`: its policy and its status. Columns
    that follow what was shown, such as bookings, are not tried. The command is tried before it is suggested.

    Parameters:
        log: as `read_log` takes them; public data sets are recognised by their content.
        columns: role -> the log's own name of that column.
        format: the kind of files, or a reader of a public data set.
        gaps: what to do with missing positions.
        top_k: keep the first slots of each slate.
        skip_broken_files: leave out files that cannot be read, and count them.
        logging: the policy that drew the log, where a person knows it; by default it is looked for.
        sample_above: bytes of files above which all that is found is of a sample of whole lists; None: all rows are
            read. Impressions and clicks that are joined are always read whole.
        executor: what reads the log: any `concurrent.futures.Executor`; by default threads, one per core.
        progress: called with (parts done, all parts) of the log, as they are read.

    Returns:
        An `Inspection`, or an `UnreadTable` where the table is no log yet.

    Raises:
        UsageError: the argument cannot be read. ColumnError: a column was said that is not there.
        LogError: it is no table, or none of its rows keeps the rules.

    Examples:
        >>> inspection = offrank.inspect("offrank-demo/log.parquet")
        >>> [column.name for column in inspection.columns if column.use == "score"]
        ['old_score', 'new_score', 'naive_score']
    """
    how: HowRead = {"executor": executor, "progress": progress}
    reading: dict[str, Any] = {"gaps": gaps, "top_k": top_k, "skip_broken_files": skip_broken_files}
    said = {"path": _path(log), "format": format, "gaps": gaps, "top_k": top_k, "given": dict(columns or {})}
    beginning = Beginning.of(log, format, empty=skip_broken_files)
    try:
        source = log if is_open(log) else read_log(beginning, columns, format=format, invalid="skip", **reading)
    except OffrankError as error:
        return unread(beginning, error, columns, format, closed=gaps == "close")
    try:
        return _looked(source, logging, sample_above, said, how)
    except (LogError, ColumnError) as error:
        told = None if columns or format or is_open(log) else _told_by_shape(source, beginning)
        if told is not None:
            return inspect(log, told, **reading, sample_above=sample_above, logging=logging, **how)
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
        return unread(beginning, error, columns, format)
    if opened or not isinstance(error, EmptyLogError):
        return None
    closed = gaps == "close"
    shape = roles_of(beginning, columns or {}, closed=closed)
    if shape is None or not shape.instead or shape.layout == "none":  # then the error tells what rules rows break
        return None
    return unread(beginning, error, columns, format, closed=closed)


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
        said = {**said, "checksums": protected(source.table)}
        source, sample = sampled(replace(source, invalid="skip"), sample_above)
    seen, law, rows = looked_at(source, how)
    logging = logging or (found.logging if found is not None else "") or None
    if logging is not None and (logging != seen.logging.named or not seen.logging.known):
        seen = _confirmed(seen, repr(policy(logging)))
    seen = replace(seen, sample=sample, **said)
    if found is not None:
        seen = replace(seen, format=found.format or seen.format, read_as=found.said)
    return replace(seen, **suggestion(seen, law, source, rows, how)) if seen.logging.seen else seen


def _told_by_shape(source: Source, beginning: Beginning) -> dict[str, str] | None:
    """Return the columns of a long table by role as its shape tells, where its names misled; None if not sure."""
    if not isinstance(source, LongLog) or source.description is not None:
        return None
    found = roles_of(beginning, {})
    if found is None or found.lacks or found.unsettled:
        return None
    return {role: one.column for role, one in found.roles.items()}


def _path(log: Any) -> str | list[str] | None:
    if not is_paths(log):
        return None
    return fspath(log) if isinstance(log, str | PathLike) else [*map(fspath, log)]


def _confirmed(seen: Inspection, said: str) -> Inspection:
    """Return the same with the policy that a person names, unless the log contradicts it."""
    if any(one.against and repr(one.policy) == said for one in seen.drawn):
        return seen
    return replace(seen, logging=replace(seen.logging, policy=said, confirmed=True))
