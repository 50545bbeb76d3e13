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
        f"Starting from other assignments of the sessions changes the weights by up to {found.divided:.2f}. This "
        "log does not tell which sessions follow which component: the weights are poorly determined, and the "
        "components are less certain than their intervals say.",
        "Rely on the mixture's predictions, not on its weights; or use a log with more sessions per document.",
    )
