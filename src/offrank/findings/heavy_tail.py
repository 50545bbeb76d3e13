"""`heavy-tail`: the rare large weights have not all occurred yet."""

import math

from .advice import CLOSER, clip, items_help
from .evidence import EstimateEvidence
from .registry import Statement, finding

HEAVY = 0.5
"""Pareto index above which the variance is infinite."""
VERY_HEAVY = 0.7
"""Index above which no feasible log suffices for a mean (Vehtari and others, Pareto smoothed importance sampling)."""


@finding("heavy-tail", "Tail of the weights", cause=("overlap", "weights", "tail"))
def heavy_tail(found: EstimateEvidence) -> Statement | None:
    # A tail that ends at the maximum is not heavy: clipping costs bias instead, which `clipped` reports.
    # Where the policies determine which weights can occur, `hidden-mass` reports those not yet seen.
    known = found.hidden is not None
    if found.clipped or known or found.tail_index is None or not found.tail_index > HEAVY:
        return None
    further = ", use an item-level estimator" if items_help(found.slots, found.kind) else ""
    remedy = clip(found, "Clip") + f"{further}, or {CLOSER}."
    return Statement(
        "serious" if found.tail_index > VERY_HEAVY else "warning",
        f"The weights have a heavy tail (Pareto index {found.tail_index:.2f}; above 0.5 the variance is infinite, "
        "above 0.7 no log of feasible size determines the mean): both value and interval are likely too low.",
        remedy,
        missing=math.inf,
    )
