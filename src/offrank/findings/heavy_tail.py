"""`heavy-tail`: the rare large weights have not all occurred yet."""

from __future__ import annotations

from .advice import CLOSER, clip, items_help
from .evidence import OfEstimate
from .registry import Said, finding

HEAVY = 0.5
"""Pareto index above which the variance is infinite."""
VERY_HEAVY = 0.7
"""Above which no log of feasible size gives a mean (Vehtari and others, Pareto smoothed importance sampling)."""
SKEWED = 1.0
"""Skewness of the mean weight that the policies alone give, above which normal intervals miss high values too often."""
VERY_SKEWED = 3.0


@finding("heavy-tail", "Tail of the weights")
def heavy_tail(found: OfEstimate) -> Said | None:
    # No tail is heavy that ends at the maximum: what clipping costs is bias, which `clipped` names.
    if found.clipped:
        return None
    if found.skewness is not None:
        return _by_design(found, found.skewness)
    if found.tail_index is None or not found.tail_index > HEAVY:
        return None
    index = f"{found.tail_index:.2f}; above 0.5 the variance is infinite, above 0.7 the mean cannot be learnt from a "
    return Said(
        "serious" if found.tail_index > VERY_HEAVY else "warning",
        f"The largest weights fall off so slowly (Pareto index {index}log of feasible size) that both value and "
        "interval are likely too low.",
        _remedy(found),
    )


def _by_design(found: OfEstimate, skewness: float) -> Said | None:
    """What the policies say decides, not which weights a log happens to have."""
    if not skewness > SKEWED:
        return None
    return Said(
        "serious" if skewness > VERY_SKEWED else "warning",
        f"The weights that the two policies make possible are so unlike (the mean weight of such logs has skewness "
        f"{skewness:.1f}; a normal interval copes with {SKEWED:g}) that both value and interval are likely too low.",
        _remedy(found),
    )


def _remedy(found: OfEstimate) -> str:
    further = ", use an item-level estimator" if items_help(found) else ""
    remedy = f"{clip(found)}{further}, or {CLOSER}."
    return remedy[0].upper() + remedy[1:]
