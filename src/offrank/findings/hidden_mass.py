"""`hidden-mass`: slates or items of the target that a log of this size is unlikely to contain."""

from ..formatting import percent
from .advice import CLOSER, clip, items_help
from .evidence import EstimateEvidence
from .registry import Statement, finding

HIDDEN = 1.0
"""Ratio of the hidden share to the relative standard error of such logs. Below it 95 % intervals of ips and
rips covered the truth in 92 to 96 of 100 healthy logs, above it in 85 to 94, nearly all misses low
(benchmarks/design.py)."""
MOSTLY_HIDDEN = 0.2
"""Share of the target's slates or items."""


def hides(share: float, visible: float, effective_rewards: float) -> bool:
    """Whether what such logs hide is more than the standard error of such logs; both relative to the value."""
    return share > 0 and share**2 * min(visible, effective_rewards) > HIDDEN**2


@finding("hidden-mass", "Overlap of the policies", cause=("overlap", "tail"))
def hidden_mass(found: EstimateEvidence) -> Statement | None:
    share = (found.hidden or 0.0) + found.unsupported
    if not (hides(share, found.visible, found.effective_rewards * found.ess_ratio) or share > MOSTLY_HIDDEN):
        return None
    never = f" ({percent(found.unsupported, 1)} never)" if found.unsupported > 0.0005 else ""
    further = "" if found.clipped else ", or " + clip(found)
    items = ", use an item-level estimator" if items_help(found.slots, found.kind) else ""
    return Statement(
        "serious" if share > MOSTLY_HIDDEN else "warning",
        f"{percent(share, 1)} of the target policy's probability is on slates or items so rare under the "
        "logging policy "
        f"that a log of {found.n:,} impressions is expected to contain fewer than five rows with any of "
        f"them{never}: value and interval are likely too low.",
        f"Log more, {CLOSER}{items}" + further + ".",
        missing=share,
    )
