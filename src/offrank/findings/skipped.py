"""`skipped`: rows and files that were left out while reading."""

from ..formatting import plural
from .evidence import SkippedEvidence
from .registry import Statement, finding

_NAMED = 5
"""Broken files that are named; the result has all of them under `skipped`."""


@finding("skipped", "Left out while reading", lambda found: found.count, cause="rows")
def skipped(found: SkippedEvidence) -> Statement:
    if found.files:
        named = ", ".join(found.files[:_NAMED]) + (" and others" if len(found.files) > _NAMED else "")
        message = f"{plural(found.count, 'file', 'files')} could not be read, left out whole: {named}."
        return Statement("warning", message, "Write what is broken again, or take it from a copy.")
    message = f"{found.count:,} left out for breaking the rule {found.rule!r}."
    return Statement("warning", message, "Look at why they break it.")
