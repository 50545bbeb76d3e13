"""`skipped`: rows that were left out while reading."""

from .evidence import OfSkipped
from .registry import Said, finding


@finding("skipped", "Left out while reading")
def skipped(found: OfSkipped) -> Said | None:
    if not found.count:
        return None
    message = f"{found.count:,} left out for breaking the rule {found.rule!r}."
    return Said("warning", message, "Look at why they break it.")
