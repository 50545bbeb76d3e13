"""`clipped`: weight that a bound on the weights removed."""

from .evidence import OfEstimate
from .registry import Statement, finding

LITTLE = 0.98
"""Share of the weight that remains."""
MUCH = 0.8
_DONE = {"clip": ("Clipping", "maximum"), "switch": ("Switching", "threshold"), "shrink": ("Shrinking", "strength")}
"""What was done, and the parameter that it has."""


@finding(
    "clipped",
    "Clipped weights",
    lambda found: found.clipped and found.normalised and found.control < LITTLE,
    cause="assumption",
)
def clipped(found: OfEstimate) -> Statement:
    done, parameter = _DONE[str(found.clipped)]
    # Divided or corrected by the remaining weight, the estimate may move either way.
    bound = ", or read it as a lower bound (rewards and weights being >= 0)."
    free = ": divided by the weight that is left, or added to a model's prediction, it can be too high or too low."
    leans = "rests on the model's prediction there" if found.corrects else "leans towards the logged habits"
    return Statement(
        "warning" if found.control < MUCH else "note",
        f"{done} removed {1 - found.control:.0%} of the weight, so the estimate {leans}.",
        f"Raise the {parameter} until the value stops moving" + (bound if found.plain else free),
        missing=1 - found.control if found.plain and not found.corrects else 0.0,
    )
