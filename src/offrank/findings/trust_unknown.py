"""`trust-unknown`: clicks of trust that the log does not tell from the worth of documents."""

import math

from .evidence_clicks import FitEvidence
from .registry import Statement, finding

ERROR = 0.42
"""Standard error of the logarithm of hit above which trust and attraction are not told apart: a factor of 1.5.

By `benchmarks/click_sorted.py`, where hit is right to .15 on the average of logs, most logs are below.
"""


@finding("trust-unknown", "Trust bias", lambda found: found.split > ERROR, cause="click model")
def trust_unknown(found: FitEvidence) -> Statement:
    return Statement(
        "warning",
        "This log does not separate trust in high ranks from the relevance of the documents shown there: too few "
        "documents were clicked at different ranks. The click probability of an attractive document is known to a "
        f"factor of {math.exp(found.split):.1f} (one standard error).",
        "Do not interpret attraction, hit and false separately. Learn trust bias from a log with random orders.",
    )
