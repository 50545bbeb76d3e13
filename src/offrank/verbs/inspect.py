"""`inspect`: how a table is read, which policies may have drawn it, and which command to run next."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..inspection.look import look
from ..inspection.passes import HowRead
from ..inspection.result import Inspection
from ..inspection.unread_table import UnreadTable
from ..readers.sampling import SAMPLE_ABOVE
from ..readers.wide import Gaps, ReadOptions
from ..running.executors import Executor, Progress


def inspect(
    log: Any,
    columns: Mapping[str, str] | None = None,
    *,
    format: str | None = None,  # noqa: A002  as in `read_log`
    gaps: Gaps = "raise",
    top_k: int | None = None,
    skip_broken_files: bool = False,
    where: str | None = None,
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
        where: a filter of the rows, as `read_log` takes it.
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
    reading = ReadOptions("skip", gaps, top_k, None, skip_broken_files, where)
    return look(log, columns, format, reading, logging, sample_above, how)
