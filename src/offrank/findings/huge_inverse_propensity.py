"""`huge-inverse-propensity`: an impression that could outweigh all others."""

from .evidence import OfPropensities
from .registry import Statement, finding


@finding(
    "huge-inverse-propensity", "Inverse propensities", lambda found: found.slots and found.largest > found.impressions
)
def huge_inverse_propensity(found: OfPropensities) -> Statement:
    several = "; use item-level ones" if found.slots > 1 else ""
    return Statement(
        "warning",
        f"The largest inverse propensity ({found.largest:.3g}) exceeds the number of impressions "
        f"({found.impressions:,.0f}): one of them could outweigh all others.",
        f"Do not trust normal intervals of whole-slate estimators here{several}.",
    )
