"""The log has no information about items that were not shown."""

from .evidence import LogEvidence
from .registry import Statement, finding


@finding("shown-only", "Candidates", lambda log: log.shown_only, cause="rows")
def shown_only(_: LogEvidence) -> Statement:
    """Every impression shows all of its candidates, or the log lists none."""
    return Statement(
        "note",
        "Every impression shows all of its candidates, so policies can only reorder what was shown.",
        "If there were more candidates, log them all in the column `candidates`.",
    )
