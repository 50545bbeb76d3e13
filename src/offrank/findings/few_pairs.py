"""`few-pairs`: ranks whose examination is estimated from few clicks."""

from .advice import ranks
from .evidence_clicks import HarvestEvidence
from .registry import Statement, finding

FEW_CLICKS = 30
"""Number of clicks on documents that were also shown at other ranks."""


@finding("few-pairs", "Ranks", cause="click model")
def few_pairs(found: HarvestEvidence) -> Statement | None:
    few = [linked and clicks < FEW_CLICKS for linked, clicks in zip(found.linked, found.clicks, strict=True)]
    if not any(few):
        return None
    return Statement(
        "warning",
        f"The curve at {ranks(few)} is based on fewer than {FEW_CLICKS} clicks on documents that were also shown at "
        "other ranks.",
        "Log more: the estimates at these ranks are mostly noise.",
    )
