"""How many rows, and how many rewards, an estimate rests on."""

import math

from ..language.formatting import percent
from ..wording import Option, Wording
from .advice import CLOSER, items_help, log_more
from .evidence import EstimateEvidence
from .evidence_rows import RareEvidence
from .registry import Statement, finding

FEW_EFFECTIVE = 100.0
"""Effective impressions: with so many, a click rate of 5 % rests on five clicks."""
_TYPICAL = 0.8


@finding(
    "low-ess",
    "Effective sample size",
    lambda found: found.ess * found.ess_ratio < FEW_EFFECTIVE,
    cause=("overlap", "effective size", "weights"),
)
def low_ess(found: EstimateEvidence) -> Statement:
    effective = found.ess * found.ess_ratio
    message = f"Effective sample size: {effective:.0f} of {found.n:,} impressions"
    if found.ess_ratio < _TYPICAL:
        message += (
            f". This log's own weights suggest {found.ess:.0f}, which is too many: the largest weights are still to "
            "come"
        )
    return Statement("serious", f"{message}.", log_more(found))


SMALL_SHARE = 0.01
"""Share of the impressions."""


@finding(
    "small-ess-share",
    "Effective sample size",
    lambda found: found.ess * found.ess_ratio >= FEW_EFFECTIVE and found.ess < SMALL_SHARE * found.n,
    cause=("effective size", "weights"),
)
def small_ess_share(found: EstimateEvidence) -> Statement:
    more = items_help(found.slots, found.kind)
    further = f", {CLOSER}, or use an estimator that assumes more about users" if more else f", or {CLOSER}"
    return Statement(
        "note",
        f"Effective sample size: {found.ess:,.0f} of {found.n:,} impressions. Most of the log says nothing about "
        "this policy.",
        f"Log more{further}.",
    )


FEW_REWARDS = 30.0
"""Effective number of rewarded impressions."""


@finding(
    "few-rewards",
    "Rewarded impressions",
    lambda found: found.effective_rewards * found.ess_ratio < FEW_REWARDS,
    cause=("overlap", "tail"),
)
def few_rewards(found: EstimateEvidence) -> Statement:
    expected = found.effective_rewards * found.ess_ratio
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


@finding("rare-rewards", "Rewards at large weights", lambda found: found.seen < SEEN, cause=("overlap", "tail"))
def rare_rewards(found: RareEvidence) -> Statement:
    times = _ENOUGH / max(found.expected, _ENOUGH / _MOST)
    return Statement(
        "warning",
        f"The answer rests on impressions of weight near {found.weight:,.3g}, and in a log of {found.n:,} only about "
        f"{found.expected:.2g} of these have a reward: the log's own rows show {percent(found.seen)} of the standard "
        "error. The interval has all of it.",
        f"Log {math.ceil(max(times, 2)):,} times as many impressions, or show what the target shows that many times "
        "as often (a larger epsilon, a higher temperature).",
    )
