"""`counted-propensities`: logging probabilities that were estimated by counts in the log itself."""

from .evidence import ComparisonEvidence, EstimateEvidence
from .registry import Statement, finding


@finding("counted-propensities", "Counted propensities", lambda found: found.counted, cause=("weights", "counting"))
def of_estimate(_: EstimateEvidence) -> Statement:
    return Statement(
        "note",
        "The logging probabilities were counted in the log itself, so their own error is not in the intervals.",
        "Log propensities with every impression.",
    )


@finding(
    "counted-propensities",
    "Counted propensities",
    lambda found: found.counted and not found.pairwise,
    cause=("weights", "counting"),
)
def of_comparison(_: ComparisonEvidence) -> Statement:
    return Statement(
        "note",
        "The logging probabilities were counted in the log itself; their error is not in the intervals.",
        "Log the scores behind the slates, and use plackett_luce(scores).",
    )
