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
        f"What decides is impressions of weights near {found.weight:,.3g}: in such a log of {found.n:,} about "
        f"{found.expected:.2g} of them have a reward. Its own rows therefore show {percent(found.seen)} of the "
        "standard error; the interval has all of it.",
        f"Log {math.ceil(max(times, 2)):,} times as many impressions, or show what the target shows that many times "
        "as often (a larger epsilon, a higher temperature).",
    )
