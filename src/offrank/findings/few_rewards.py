"""`few-rewards`: too few rewarded impressions for a normal interval."""

from ..wording import Option, Wording
from .evidence import EstimateEvidence
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
            "No impression that counts for this policy earned anything, so the interval has no width.",
            "Log more; the value is near zero, but how near this log cannot say.",
        )
    other = Wording("Too few for a normal interval: use {}, and log more.", Option("interval", "studentised"))
    return Statement(
        "warning",
        f"The estimate rests on about {expected:.0f} rewarded impressions.",
        other if found.method == "normal" else "Log more: of so few no interval tells how unlike the next ones may be.",
    )
