"""`huge-inverse-propensity`: a shown slate that correct propensities would hardly ever show."""

from .evidence import LogEvidence
from .registry import Statement, finding

UNLIKELY = 100.0
"""Times the impressions. A weight of uniform has an expectation of at most 1, so that of n correct ones the largest
exceeds t n in at most one log of t (Markov's inequality)."""


@finding("huge-inverse-propensity", "Inverse propensities", cause="weights")
def huge_inverse_propensity(log: LogEvidence) -> Statement | None:
    times = log.largest_weight / log.impressions
    if not times > UNLIKELY:
        return None
    return Statement(
        "warning",
        f"The propensity of one shown slate is {log.largest_weight:.3g} times smaller than under a uniform policy. "
        f"At most one in {times:,.0f} correct logs of {log.impressions:,.0f} impressions contains such a slate, and "
        "it could outweigh all others.",
        "Check that the smallest propensity belongs to the slate that was shown.",
    )
