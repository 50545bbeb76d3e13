"""`only-clicks`: a click model learnt from a log that holds clicked documents only."""

from .evidence_clicks import FitEvidence
from .registry import Statement, finding


@finding("only-clicks", "Clicks", lambda found: not found.skipped, cause="click model")
def only_clicks(_: FitEvidence) -> Statement:
    return Statement(
        "serious",
        "Every document of every session was clicked: documents without a click are missing from the log, so "
        "neither examination nor attractiveness can be estimated.",
        "Use a log of whole result lists. From clicks alone, only counts by query, document and rank can be computed.",
    )
