"""Too few rewarded impressions for a normal interval, or for the weights that meet them."""

import math

from ..formatting import percent
from ..wording import Option, Wording
from .evidence import EstimateEvidence
from .evidence_rows import RareEvidence
from .registry import Statement, finding

FEW = 30.0
"""Effective number of rewarded impressions."""


@finding("few-rewards", "Rewarded impressions", cause=("overlap", "tail"))
def few_rewards(found: EstimateEvidence) -> Statement | None:
    expected = found.effective_rewards * found.ess_ratio
    if not expected < FEW:
        return None
    if found.effective_rewards == 0:
        return Statement(
            "serious",
            "No impression with weight under this policy has a reward, so the interval has no width.",
            "Log more: the value is close to zero, but this log cannot say how close.",
        )
    other = Wording("That is too few for a normal interval: use {}, and log more.", Option("interval", "studentised"))
    return Statement(
        "warning",
        f"The estimate is based on about {expected:.0f} rewarded impressions.",
        other
        if found.method == "normal"
        else "Log more: with so few, no interval can tell how much future rewards will differ.",
    )


SEEN = 0.7
"""Share of the standard error that the log's own rows show. The table of benchmarks/rare_rewards.py has what is sound
beside it, and how much of that holds."""
_ENOUGH = 10.0
"""Rewarded rows that tell their own error: with so many, one more changes it by 5 %."""
_MOST = 1000
"""More times as many rows are not worth a number."""


@finding("rare-rewards", "Rewards at large weights", cause=("overlap", "tail"))
def rare_rewards(found: RareEvidence) -> Statement | None:
    if not found.seen < SEEN:
        return None
    times = _ENOUGH / max(found.expected, _ENOUGH / _MOST)
    return Statement(
        "warning",
        f"The answer rests on impressions of weight near {found.weight:,.3g}, and in a log of {found.n:,} only about "
        f"{found.expected:.2g} of these have a reward: the log's own rows show {percent(found.seen)} of the standard "
        "error. The interval has all of it.",
        f"Log {math.ceil(max(times, 2)):,} times as many impressions, or show what the target shows that many times "
        "as often (a larger epsilon, a higher temperature).",
    )
