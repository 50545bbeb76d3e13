"""`satisfaction-unknown`: documents hardly change places, so that clicks below them tell little of satisfaction."""

from ..formatting import percent
from .evidence_clicks import FitEvidence
from .registry import Statement, finding

LEAST = 0.1
"""Share of the variance of ranks within documents below which satisfactions at the bottom are too high.

Between the worlds of `benchmarks/click_coverage.py` where intervals hold the truth in too few logs (0.05) and in
enough (0.2).
"""


@finding("satisfaction-unknown", "Satisfaction", lambda found: found.moving < LEAST, cause="click model")
def satisfaction_unknown(found: FitEvidence) -> Statement:
    return Statement(
        "warning",
        f"Documents rarely changed ranks ({percent(found.moving, 0)} of the variance of ranks is within "
        "documents). Clicks "
        "below a document that is always shown low say little about whether it satisfies: its satisfaction and "
        "relevance are overestimated, too often beyond their intervals.",
        "Compare documents by their attractiveness, or use a log in which documents change ranks.",
    )
