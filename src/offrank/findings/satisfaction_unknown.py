"""`satisfaction-unknown`: documents hardly change places, so that clicks below them tell little of satisfaction."""

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
        f"Documents hardly changed places ({found.moving:.0%} of the variance of ranks is within documents). What "
        "happens below a document that is always shown low tells little of whether it satisfies: satisfactions there "
        "come out too high, too often beyond their intervals, and so does relevance.",
        "Compare documents by their attraction, or take a log in which documents change places.",
    )
