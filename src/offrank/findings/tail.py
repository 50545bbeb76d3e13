"""What has not occurred yet: rare large weights and rewards, and slates that such a log is unlikely to contain."""

import math

from ..inference.unseen import hides
from ..language.formatting import percent
from .advice import CLOSER, clip, items_help
from .evidence import EstimateEvidence
from .registry import Statement, finding

HEAVY = 0.5
"""Pareto index above which the variance is infinite."""
VERY_HEAVY = 0.7
"""Index above which no feasible log suffices for a mean (Vehtari and others, Pareto smoothed importance sampling)."""


@finding(
    "heavy-tail",
    "Tail of the weights",
    # A tail that ends at the maximum is not heavy: clipping costs bias instead, which `clipped` reports.
    # Where the policies determine which weights can occur, `hidden-mass` reports those not yet seen.
    lambda found: not found.clipped and found.hidden is None and (found.tail_index or 0.0) > HEAVY,
    cause=("overlap", "weights", "tail"),
)
def heavy_tail(found: EstimateEvidence) -> Statement:
    assert found.tail_index is not None
    further = ", use an item-level estimator" if items_help(found.slots, found.kind) else ""
    remedy = clip(found, "Clip") + f"{further}, or {CLOSER}."
    return Statement(
        "serious" if found.tail_index > VERY_HEAVY else "warning",
        f"The weights have a heavy tail (Pareto index {found.tail_index:.2f}; above 0.5 the variance is infinite, "
        "above 0.7 no log of feasible size determines the mean): both value and interval are likely too low.",
        remedy,
        missing=math.inf,
    )


MOSTLY_HIDDEN = 0.2
"""Share of the target's slates or items."""


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


SKEWED = 0.7
"""Skewness of the sum of the rewards, with those that the log is too short to show: that of two equal rewards. Where it
is less, 95 % intervals of lognormal rewards (sigma 2) hold the truth in at least 94 of 100 logs of 1,000 rows
(benchmarks/skewed_rewards.py)."""


@finding(
    "heavy-rewards",
    "Tail of the rewards",
    lambda found: found.reward_index is not None and found.reward_skewness > SKEWED,
    cause="tail",
)
def heavy_rewards(found: EstimateEvidence) -> Statement:
    return Statement(
        "warning",
        "A few large rewards determine the value, and larger ones are likely to come (Pareto index up to "
        f"{found.reward_index:.2f}; above 0.5 the variance is infinite). The interval allows for such rewards.",
        "Log more, or evaluate a bounded reward, such as orders or capped revenue.",
    )


@finding("observed-range", "Range of the values", lambda found: found.method == "bernstein", cause="method")
def observed_range(_: EstimateEvidence) -> Statement:
    return Statement(
        "note",
        "The empirical Bernstein interval needs the range of the values, and the observed range is used.",
        "The interval is guaranteed only if no larger weight can occur, as with clip(...).",
    )
