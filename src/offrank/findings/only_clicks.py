"""`only-clicks`: a click model learnt from a log that holds clicked documents only."""

from .evidence_clicks import FitEvidence
from .registry import Statement, finding


@finding("only-clicks", "Clicks", lambda found: not found.skipped, cause="click model")
def only_clicks(_: FitEvidence) -> Statement:
    return Statement(
        "serious",
        "Every document of every session was clicked: what was shown and not clicked is missing from the log, so that "
        "it tells neither how likely a rank is looked at nor how attractive a document is.",
        "Take a log of whole result lists; of clicks alone only counts by query, document and rank can be had.",
    )
