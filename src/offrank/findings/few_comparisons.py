"""`few-comparisons`: too few clicks that could be compared."""

from .evidence import OfComparison
from .registry import Said, finding

FEW = 100.0
"""Clicked impressions."""


@finding("few-comparisons", "Comparisons", lambda found: found.ess < FEW)
def few_comparisons(found: OfComparison) -> Said:
    message = f"The comparisons are worth {found.ess:.0f} clicked impressions."
    return Said("serious", message, "Log more, or log more randomly.")
