"""`low-ess`: a small effective sample size."""

from .advice import log_more
from .evidence import EstimateEvidence
from .registry import Statement, finding

FEW_EFFECTIVE = 100.0
"""Effective impressions: with so many, a click rate of 5 % rests on five clicks."""
_TYPICAL = 0.8


@finding("low-ess", "Effective sample size", cause=("overlap", "effective size", "weights"))
def low_ess(found: EstimateEvidence) -> Statement | None:
    effective = found.ess * found.ess_ratio
    if not effective < FEW_EFFECTIVE:
        return None
    message = f"Effective sample size: {effective:.0f} of {found.n:,} impressions"
    if found.ess_ratio < _TYPICAL:
        message += (
            f". This log's own weights suggest {found.ess:.0f}, which is too many: the largest weights are still to "
            "come"
        )
    return Statement("serious", f"{message}.", log_more(found))
