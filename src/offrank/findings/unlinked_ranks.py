"""`unlinked-ranks`: ranks that cannot be compared with the first."""

from .advice import ranks
from .evidence_clicks import HarvestEvidence
from .registry import Statement, finding


@finding("unlinked-ranks", "Ranks", cause="click model")
def unlinked_ranks(found: HarvestEvidence) -> Statement | None:
    missing = [not linked for linked in found.linked]
    if not any(missing):
        return None
    return Statement(
        "serious",
        f"The log does not connect {ranks(missing)} to rank 1: no document was shown and clicked at both, or at "
        "ranks in between.",
        "Log rankings that vary more, or cut the slates there.",
    )
