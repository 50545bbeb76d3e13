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
        "This log does not tell clicks of trust in high ranks from the worth of the documents there: too few documents "
        "were clicked at different ranks. The chance of a click on an attractive document is known to a factor of "
        f"{math.exp(found.split):.1f}, one standard error.",
        "Do not read attraction, hit and false each by itself; learn trust bias from a log with random orders.",
    )
