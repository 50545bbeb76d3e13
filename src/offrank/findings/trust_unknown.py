"""`trust-unknown`: clicks of trust that the log does not tell from the worth of documents."""

from .evidence_clicks import FitEvidence
from .registry import Statement, finding

ERROR = 0.35
"""Standard error of the logarithm of hit above which trust and attraction are not told apart."""
LEAST = 0.06
"""Share of the variance of ranks within documents below which hit is off by more than its standard error says.

Between cells of `benchmarks/click_sorted.py` where its intervals hold the truth (0.08) and where too few do (0.05).
"""


@finding(
    "trust-unknown",
    "Trust bias",
    lambda found: found.split > ERROR or found.mobile < LEAST,
    cause="click model",
)
def trust_unknown(found: FitEvidence) -> Statement:
    known = (
        f"documents hardly changed places ({found.mobile:.1%} of the variance of ranks is within documents), so that "
        "what is said of them rests on how worth is spread at each rank"
        if found.mobile < LEAST
        else "too few documents were clicked at different ranks. The chance of a click on an attractive document is "
        f"known to a factor of {1 + found.split:.2f}, one standard error"
    )
    return Statement(
        "warning",
        f"This log does not tell clicks of trust in high ranks from the worth of the documents there: {known}.",
        "Do not read attraction, hit and false each by itself; learn trust bias from a log with random orders.",
    )
