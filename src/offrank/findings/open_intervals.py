"""`open-intervals`: ranks whose interval has no upper end."""

import math

from .advice import ranks
from .evidence_clicks import HarvestEvidence
from .registry import Statement, finding


@finding("open-intervals", "Ranks", cause="click model")
def open_intervals(found: HarvestEvidence) -> Statement | None:
    open_ = [linked and math.isinf(high) for linked, high in zip(found.linked, found.high, strict=True)]
    if not any(open_):
        return None
    return Statement(
        "warning",
        f"The interval at {ranks(open_)} has no upper end: too few of the documents that were clicked at rank 1 "
        "were shown at other ranks.",
        "Log more: rank 1 needs clicks on documents that were also shown at other ranks.",
    )
