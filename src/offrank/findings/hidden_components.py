"""`hidden-components`: a mixture whose weights depend on where learning began."""

from .evidence_clicks import FitEvidence
from .registry import Statement, finding

FARTHEST = 0.1
"""Difference of the weights at which learning ends above which they are unknown.

Of 144 logs of benchmarks/mixture_weights.py, the weights of those below err by .05 on average, of those above by .16 to
.28.
"""


@finding("hidden-components", "Components of a mixture", lambda found: found.divided > FARTHEST, cause="click model")
def hidden_components(found: FitEvidence) -> Statement:
    return Statement(
        "warning",
        f"Begun from other divisions of the sessions, learning ends at weights up to {found.divided:.2f} apart. This "
        "log does not tell which sessions follow which component: the weights are hardly known, and the tables of the "
        "components are less certain than their intervals say.",
        "Rely on what the mixture predicts, not on its weights; or take a log with more sessions of each document.",
    )
