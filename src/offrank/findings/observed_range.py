"""`observed-range`: a guarantee that relies on the observed range."""

from .evidence import EstimateEvidence
from .registry import Statement, finding


@finding("observed-range", "Range of the values", lambda found: found.method == "bernstein", cause="method")
def observed_range(_: EstimateEvidence) -> Statement:
    return Statement(
        "note",
        "The empirical Bernstein interval needs the range of the values, and the observed range is used.",
        "The interval is guaranteed only if no larger weight can occur, as with clip(...).",
    )
