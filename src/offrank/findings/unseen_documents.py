"""`unseen-documents`: what a click model has never seen."""

from __future__ import annotations

from .evidence import OfEstimate
from .registry import Said, finding

UNKNOWN = 0.01
"""Share of what the target shows."""
MOSTLY_UNKNOWN = 0.2


@finding("unseen-documents", "Unseen documents")
def unseen_documents(found: OfEstimate) -> Said | None:
    if found.kind != "model" or not found.control < 1 - UNKNOWN:
        return None
    return Said(
        "serious" if found.control < 1 - MOSTLY_UNKNOWN else "warning",
        f"{1 - found.control:.0%} of what the target shows was never shown in the log that the model has learnt from, "
        "and counts as clicked like an average document.",
        "Learn from a log that shows more of it, or by items alone (by=None) where queries are rare.",
    )
