"""`merge`: one result from the states of several evaluations, such as a week from its days."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path

from ..errors import UsageError
from ..evaluation.estimates import refuse_empty
from ..evaluation.result import Result
from ..evaluation.state_file import State, finished, looked_at_daily, merged, well_formed
from ..language.argument import Unwritten
from ..language.outputs import inputs_in, refuse_outputs
from ..running import reproducibility
from .deferred import sums_table


def merge(
    states: str | PathLike[str] | Sequence[str | PathLike[str]],
    *,
    interval: str | None = None,
    state: str | PathLike[str] | None = None,
    overwrite: bool = False,
) -> Result:
    """Combine the states that `evaluate` or `compare` wrote with `state=` into one result for all their logs.

    It is the result that one such job on all these logs with `state=` gives, up to the rounding of sums: estimates,
    intervals, the bootstrap included, and diagnostics. Rows are numbered within their files, so that no day needs to
    know of another. States are refused if they are of different questions, or if two hold the same rows.

    Who merges days looks every day: the intervals of logs of different days hold at every look, if those of the states
    are studentised and no other kind is asked for.

    A table of sums that a warehouse made by the query of `offrank.sql` is read like the state of its rows.

    Parameters:
        states: the files, a glob, or a list; in the order of the logs. Or one table of sums, CSV or Parquet.
        interval: another kind of interval than that of the states: anytime, normal or studentised.
        state: where to write the merged state, to be merged again: a quarter from its months.
        overwrite: replace a file there that offrank did not write.

    Returns:
        The result of all logs together.

    Raises:
        UsageError: there is no such file, or the merged state would replace one of them; or there is no such kind of
            interval, or it needs more than the states hold.
        StateError: a state is damaged, of another version, of another question, or counted twice.
        NoOverlapError: no estimate can be given at all.

    Examples:
        >>> question = ("top(new_score)", "plackett_luce(old_score)", "snips")
        >>> day = offrank.evaluate("offrank-demo/log.parquet", *question, state="day.state")
        >>> offrank.merge(["day.state"])["snips"].value == day["snips"].value
        True
    """
    given = [states] if isinstance(states, str | PathLike) else list(states)
    names = [path for one in given for path in sorted(glob.glob(fspath(one))) or [fspath(one)]]  # noqa: PTH207
    if not names:
        raise UsageError("there are no states to merge", "name the state files that evaluate has written")
    refuse_outputs(state, log=(), read=names, overwrite=overwrite)
    with well_formed():
        if sums_table.tables_in(names):
            result = sums_table.result_of_table(names, interval, state)
        else:
            result = _of_states([State.load(Path(name)) for name in names], interval, state)
    command = reproducibility.call(merge, Unwritten(repr(names)), {"interval": interval, "state": state})
    return replace(refuse_empty(result).with_facts(command=command), read=tuple(inputs_in(names, state)))


def _of_states(every: list[State], interval: str | None, state: str | PathLike[str] | None) -> Result:
    """Return the result of states, whose sum is written to `state`."""
    found, job, asked = merged(every)
    if (kind := interval or looked_at_daily(every)) is not None:
        job = replace(job, spec=job.spec.of_kind(kind))
    result = finished(found, job, asked).result()
    if "baseline" in found.question:
        result = result.comparing(found.question["baseline"])
    if state is not None:
        found.save(Path(state))
    return result.with_facts(log=replace(result.metadata.log, period=found.period or result.metadata.log.period))
