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
