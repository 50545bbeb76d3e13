"""`unclicked-rank`: a rank without a single click beside one with many: clicks recorded a rank late, or cut off."""

from ..folds.outcome_shape import OutcomeShape
from .registry import Statement, finding

LIKELY = 60.0
"""Clicks that the rate of the next rank lets expect: users who click a rank 10 times less often leave 6."""


@finding("unclicked-rank", "Ranks without clicks", lambda found: found.likely >= LIKELY, cause="outcome")
def unclicked_rank(found: OutcomeShape) -> Statement:
    first = found.rank == 1
    beside = 2 if first else found.rank - 1
    return Statement(
        "serious" if first else "warning",
        f"Rank {found.rank} was shown {found.shown:,.0f} times and never clicked; at the rate of rank {beside}, "
        f"{found.likely:,.0f} clicks would be expected. "
        + (
            "Clicks seem to be recorded a rank too late, so that they belong to other items."
            if first
            else "Its clicks seem to be lost or moved to another rank, or nobody saw it."
        ),
        "Check whether positions count from 0 or from 1 where clicks are joined to lists, and whether clicks at this "
        "rank are logged.",
    )
