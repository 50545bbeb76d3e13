"""The log has no information about items that were not shown."""

from .evidence import OfLog
from .registry import Said, finding


@finding("shown-only", "Candidates", lambda log: log.shown_only)
def shown_only(_: OfLog) -> Said:
    """Every impression shows all of its candidates, or the log lists none."""
    return Said(
        "note",
        "Every impression shows all of its candidates: policies can only be judged as other orders of what was shown.",
        "If there were more candidates, log them all in the column `candidates`.",
    )
