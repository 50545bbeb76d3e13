"""`rare-rewards`: the standard error of the log's rows misses rewards that are too rare for their weights."""

import math

from ..formatting import percent
from .evidence_rows import RareEvidence
from .registry import Statement, finding

SEEN = 0.8
"""Share of the standard error that the log's own rows show. Healthy logs showed all of it."""
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
