"""`heavy-rewards`: the rare large rewards have not all occurred yet."""

from .evidence import EstimateEvidence
from .registry import Statement, finding

SKEWED = 0.7
"""Skewness of the sum of the rewards, with those that the log is too short to show: that of two equal rewards. Where it
is less, 95 % intervals of lognormal rewards (sigma 2) hold the truth in at least 94 of 100 logs of 1,000 rows
(benchmarks/skewed_rewards.py)."""


@finding("heavy-rewards", "Tail of the rewards", cause="tail")
def heavy_rewards(found: EstimateEvidence) -> Statement | None:
    if found.reward_index is None or not found.reward_skewness > SKEWED:
        return None
    return Statement(
        "warning",
        "A few large rewards determine the value, and larger ones are likely to come (Pareto index up to "
        f"{found.reward_index:.2f}; above 0.5 the variance is infinite). The interval allows for such rewards.",
        "Log more, or evaluate a bounded reward, such as orders or capped revenue.",
    )
