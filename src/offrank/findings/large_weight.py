"""`large-weight`: one impression dominates the estimate."""

from ..formatting import percent
from ..wording import Wording, joined
from .advice import clip, items_help
from .evidence import EstimateEvidence
from .registry import Statement, finding

LARGE = 0.05
"""Share of the total weight on one impression."""
VERY_LARGE = 0.2


@finding(
    "large-weight", "Largest weight", lambda found: found.max_weight_share > LARGE, cause=("overlap", "weights", "tail")
)
def large_weight(found: EstimateEvidence) -> Statement:
    ways = [] if found.clipped or found.kind == "logged" else [clip(found)]
    ways += ["compare with an item-level estimator"] if items_help(found.slots, found.kind) else []
    return Statement(
        "serious" if found.max_weight_share > VERY_LARGE else "warning",
        f"One impression carries {percent(found.max_weight_share, 0)} of the total weight.",
        Wording("Do not trust the interval; {}.", joined(" or ", ways) or "log more"),
    )
