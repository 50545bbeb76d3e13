"""`counted-propensities`: logging probabilities that were estimated by counts in the log itself."""

from .evidence import ComparisonEvidence, EstimateEvidence
from .registry import Statement, finding


@finding("counted-propensities", "Counted propensities", lambda found: found.counted, cause=("weights", "counting"))
def of_estimate(_: EstimateEvidence) -> Statement:
    return Statement(
        "note",
        "The propensities were estimated by counting in the log itself, and the intervals do not include their error.",
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
        "The propensities were estimated by counting in the log itself, and the intervals do not include their error.",
        "Log the scores behind the slates, and use plackett_luce(scores).",
    )
