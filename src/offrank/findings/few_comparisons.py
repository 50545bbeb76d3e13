"""`few-comparisons`: too few clicks that could be compared."""

from .evidence import ComparisonEvidence
from .registry import Statement, finding

FEW = 100.0
"""Clicked impressions."""


@finding("few-comparisons", "Comparisons", lambda found: found.ess < FEW, cause="measure")
def few_comparisons(found: ComparisonEvidence) -> Statement:
    message = f"The effective sample size of the comparisons is {found.ess:.0f} clicked impressions."
    return Statement("serious", message, "Log more, or log more randomly.")
