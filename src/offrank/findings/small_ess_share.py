"""`small-ess-share`: a small part of the log dominates the estimate."""

from .advice import CLOSER, items_help
from .evidence import EstimateEvidence
from .low_ess import FEW_EFFECTIVE
from .registry import Statement, finding

SMALL_SHARE = 0.01
"""Share of the impressions."""


@finding("small-ess-share", "Effective sample size", cause=("effective size", "weights"))
def small_ess_share(found: EstimateEvidence) -> Statement | None:
    if found.ess * found.ess_ratio < FEW_EFFECTIVE or not found.ess < SMALL_SHARE * found.n:
        return None
    more = items_help(found.slots, found.kind)
    further = f", {CLOSER}, or use an estimator that assumes more about users" if more else f", or {CLOSER}"
    return Statement(
        "note",
        f"Effective sample size: {found.ess:,.0f} of {found.n:,} impressions. Most of the log says nothing about "
        "this policy.",
        f"Log more{further}.",
    )
