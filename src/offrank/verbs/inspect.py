"""`inspect`: how a table is read, which policies may have drawn it, and which command to run next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from os import PathLike, fspath
from typing import Any

from ..errors import ColumnError, EmptyLogError, OffrankError
from ..inspection.passes import HowRead, looked_at
from ..inspection.result import Inspection
from ..inspection.suggestion import suggestion
from ..inspection.unread import UnreadTable, unread
from ..policies.named import policy
from ..readers.beginning import Beginning
from ..readers.detect import roles_of
from ..readers.log import is_open, read_log
from ..readers.long import LongLog
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
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Inspection | UnreadTable:
    """Describe a table before any evaluation: how it is read, what drew it, and what to ask next.

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

    - log, columns, format, gaps, top_k, skip_broken_files: as `read_log` takes them; public data sets are
      recognised by their content.
    - logging: the policy that drew the log, where a person knows it; by default it is looked for.

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
    try:
        source = log if is_open(log) else read_log(log, columns, format=format, invalid="skip", **reading)
    except OffrankError as error:
        return unread(log, error, columns, format)
    source = replace(source, invalid="skip") if isinstance(source, WideLog | LongLog) else source
    found = source.description if isinstance(source, WideLog | LongLog) else None
    try:
        seen, law, sample = looked_at(source, how)
    except (ColumnError, EmptyLogError) as error:
        said = columns or format or is_open(log)
        return _otherwise(log, error, columns, format, found is not None, {**reading, "logging": logging, **how}, said)
    logging = logging or (found.logging if found is not None else "") or None
    if logging not in (None, seen.logging.named):
        seen = _confirmed(seen, repr(policy(logging)))
    seen = replace(seen, path=_path(log), format=format, gaps=gaps, top_k=top_k, given=dict(columns or {}))
    if found is not None:
        seen = replace(seen, format=found.format or format, read_as=found.said)
    return replace(seen, **suggestion(seen, law, source, sample, how)) if seen.logging.seen else seen


def _otherwise(
    log: Any, error: OffrankError, columns: Any, kind: str | None, doubtful: bool, how: dict[str, Any], said: Any
) -> Inspection | UnreadTable:
    """Return what is seen of a log that cannot be read as it was understood. doubtful: whether that was by its shape.

    Raises:
        EmptyLogError: there is no other way, and none of its rows keeps the rules.
    """
    told = None if doubtful or said else _told_by_shape(log)
    if told is not None:
        return inspect(log, told, **how)
    if doubtful or isinstance(error, ColumnError):
        return unread(log, error, columns, kind)
    raise error


def _told_by_shape(log: Any) -> dict[str, str] | None:
    """Return the columns by role as the shape of a table tells, None if something is open."""
    found = roles_of(Beginning.of(log), {})
    sure = found is not None and not (found.lacks or found.unsettled)
    return {role: one.column for role, one in found.roles.items()} if found is not None and sure else None


def _path(log: Any) -> str | None:
    return fspath(log) if isinstance(log, str | PathLike) else None


def _confirmed(seen: Inspection, said: str) -> Inspection:
    """Return the same with the policy that a person names, unless the log contradicts it."""
    if any(one.against and repr(one.policy) == said for one in seen.drawn):
        return seen
    return replace(seen, logging=replace(seen.logging, policy=said, confirmed=True))
