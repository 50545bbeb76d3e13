"""`skipped`: rows and files that were left out while reading."""

from ..formatting import plural
from ..log.rules import NO_TABLE, NOT_DRAWN
from .evidence import SkippedEvidence
from .registry import Statement, finding

_NAMED = 5
"""Broken files that are named; the result has all of them under `skipped`."""

_IS = "is no table and was not read", "are no tables and were not read"


@finding("skipped", "Rows left out", lambda found: found.count, cause="rows")
def skipped(found: SkippedEvidence) -> Statement:
    if found.files:
        named = ", ".join(found.files[:_NAMED]) + (" and others" if len(found.files) > _NAMED else "")
        if found.rule == NO_TABLE:
            message = f"{plural(found.count, 'file', 'files')} beside those of the log {_IS[found.count > 1]}: {named}."
            return Statement("note", message, "Name the files of the log if one of these belongs to it.")
        message = (
            f"{plural(found.count, 'file', 'files')} could not be read and "
            f"{'was' if found.count == 1 else 'were'} left out: {named}."
        )
        return Statement("warning", message, "Write the damaged files again, or restore them from a copy.")
    if found.rule == NOT_DRAWN.code:
        message = f"{plural(found.count, 'row was', 'rows were')} not shown at random and not read."
        return Statement("note", message, "Nothing need be done: the answer is of the rows that were drawn.")
    message = f"{found.count:,} left out for breaking the rule {found.rule!r}."
    return Statement("warning", message, "Find out why they break it.")
