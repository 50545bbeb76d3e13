"""`skipped`: rows and files that were left out while reading."""

from ..formatting import plural
from .evidence import SkippedEvidence
from .registry import Statement, finding

_NAMED = 5
"""Broken files that are named; the result has all of them under `skipped`."""


@finding("skipped", "Rows left out", lambda found: found.count, cause="rows")
def skipped(found: SkippedEvidence) -> Statement:
    if found.files:
        named = ", ".join(found.files[:_NAMED]) + (" and others" if len(found.files) > _NAMED else "")
        message = (
            f"{plural(found.count, 'file', 'files')} could not be read and "
            f"{'was' if found.count == 1 else 'were'} left out: {named}."
        )
        return Statement("warning", message, "Write the damaged files again, or restore them from a copy.")
    message = f"{found.count:,} left out for breaking the rule {found.rule!r}."
    return Statement("warning", message, "Find out why they break it.")
