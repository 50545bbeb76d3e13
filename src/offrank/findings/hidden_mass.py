"""`hidden-mass`: what the target shows and such a log cannot have shown yet."""

from __future__ import annotations

from .advice import CLOSER, clip, items_help
from .evidence import OfEstimate
from .registry import Said, finding

HIDDEN = 0.05
"""Share of what the target shows. Where it is less, 95 % intervals of a log drawn by Plackett-Luce held the truth in 92
to 97 of 100 logs; between .05 and .2 in 85 to 95, nearly all misses low (benchmarks/design.py)."""
MOSTLY_HIDDEN = 0.2


@finding("hidden-mass", "What the log cannot show")
def hidden_mass(found: OfEstimate) -> Said | None:
    share = found.hidden + found.unsupported
    if not share > HIDDEN:
        return None
    never = f" ({found.unsupported:.0%} never)" if found.unsupported > 0 else ""
    further = "" if found.clipped else f" or {clip(found)}, which gives a lower bound"
    items = ", use an item-level estimator" if items_help(found) else ""
    return Said(
        "serious" if share > MOSTLY_HIDDEN else "warning",
        f"{share:.0%} of what the policy shows is so rare under the logging policy that a log of {found.n:,} "
        f"impressions is expected to hold fewer than five rows of it{never}: value and interval are likely too low.",
        f"Log more, {CLOSER}{items}{further}.",
    )
