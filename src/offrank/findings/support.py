"""`support`: items or slates that the target shows but the logging policy never does."""

from ..formatting import percent
from ..wording import EstimatorOption, Wording
from .evidence import SupportEvidence
from .registry import Statement, finding

MUCH = 0.05
"""Share of the target's items at a rank."""


@finding("support", "Support", cause="coverage")
def support(found: SupportEvidence) -> Statement | None:
    worst = max(found.shares, default=0.0)
    if not worst > 0:
        return None
    ranks = ", ".join(
        f"{percent(share, 1)} at rank {rank}" for rank, share in enumerate(found.shares, start=1) if share > 0
    )
    return Statement(
        "serious" if found.asked and worst > MUCH else "warning",
        f"The logging policy never shows some of what {found.target} shows: {ranks}.",
        Wording(
            "Estimates miss that share. Evaluate a policy that is closer to the logging policy, widen the window "
            "of interpol ({}), or log more randomly.",
            EstimatorOption("interpol(window=2)"),
        ),
    )
