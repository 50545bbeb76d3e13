"""`skipped`: rows that were left out while reading."""

from .evidence import OfSkipped
from .registry import Statement, finding


@finding("skipped", "Left out while reading", lambda found: found.count)
def skipped(found: OfSkipped) -> Statement:
    message = f"{found.count:,} left out for breaking the rule {found.rule!r}."
    return Statement("warning", message, "Look at why they break it.")
