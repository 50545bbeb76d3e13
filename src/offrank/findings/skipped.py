"""`skipped`: rows that were left out while reading."""

from .evidence import OfSkipped
from .registry import Said, finding


@finding("skipped", "Left out while reading", lambda found: found.count)
def skipped(found: OfSkipped) -> Said:
    message = f"{found.count:,} left out for breaking the rule {found.rule!r}."
    return Said("warning", message, "Look at why they break it.")
