"""`ties`: a target whose tied scores leave the order of items open."""

from ..formatting import percent
from .evidence import EstimateEvidence
from .registry import Statement, finding

MANY = 0.05
"""Share of the impressions: with fewer, the order of ties changes a rate by a few per cent at most."""


@finding("ties", "Equal scores", lambda found: found.ties > 0, cause="assumption")
def ties(found: EstimateEvidence) -> Statement:
    return Statement(
        "warning" if found.ties > MANY else "note",
        f"In {percent(found.ties, 2)} of the impressions, items that the new policy would show have the same score as "
        "another candidate. Their order is unknown, so every order counts equally.",
        "Use scores that differ, or give the ranking itself: ranking(column).",
    )
