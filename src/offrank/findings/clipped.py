"""`clipped`: weight that a bound on the weights removed."""

from ..formatting import percent
from .evidence import EstimateEvidence
from .registry import Statement, finding

LITTLE = 0.98
"""Share of the weight that remains."""
MUCH = 0.8


@finding(
    "clipped",
    "Clipped weights",
    lambda found: found.clipped and found.normalised and found.control < LITTLE,
    cause="assumption",
)
def clipped(found: EstimateEvidence) -> Statement:
    # Divided or corrected by the remaining weight, the estimate may move either way.
    bound = ", or read it as a lower bound (if no reward or weight is negative)."
    free = ". It is divided by the remaining weight or added to a model's prediction, so it can be too high or too low."
    leans = "relies on the model's prediction there" if found.corrects else "is biased towards the logging policy"
    return Statement(
        "warning" if found.control < MUCH else "note",
        f"{found.clipped} removed {percent(1 - found.control, 0)} of the weight, so the estimate {leans}.",
        f"Raise the {found.parameter} until the value stops changing" + (bound if found.plain else free),
        missing=1 - found.control if found.plain and not found.corrects else 0.0,
    )
