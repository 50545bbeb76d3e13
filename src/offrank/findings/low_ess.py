"""`low-ess`: so few impressions of the target itself would tell as much."""

from __future__ import annotations

from .advice import log_more
from .evidence import OfEstimate
from .registry import Said, finding

FEW_EFFECTIVE = 100.0
"""Impressions: of so many, a click rate of 5 % rests on five clicks."""


@finding("low-ess", "Effective sample size")
def low_ess(found: OfEstimate) -> Said | None:
    if not found.ess < FEW_EFFECTIVE:
        return None
    message = f"The {found.n:,} impressions are worth about {found.ess:.0f} of the policy itself."
    return Said("serious", message, log_more(found))
