"""`mostly-rejected`: clicks that have nothing to be compared with."""

from ..formatting import percent
from ..wording import Option, Wording
from .evidence import ComparisonEvidence
from .registry import Statement, finding

MOSTLY = 0.95
"""Share of the clicks."""


@finding(
    "mostly-rejected", "Comparisons", lambda found: not found.pairwise and found.rejected > MOSTLY, cause="measure"
)
def mostly_rejected(found: ComparisonEvidence) -> Statement:
    return Statement(
        "warning",
        f"{percent(found.rejected, 1)} of the clicks have nothing to be compared with: the logging policy was nearly "
        "deterministic, so the metric describes only its few random contexts.",
        Wording("Look at the groups with {}, or log more randomly.", Option("by", "COLUMN")),
    )
