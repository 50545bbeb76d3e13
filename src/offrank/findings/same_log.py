"""`same-log`: a model or policy is evaluated on rows that it was learnt from."""

from ..options import option
from .evidence import OfTraining
from .registry import Statement, finding

LEAST = 0.05
"""Smallest share of the evaluated rows to report: below it, the optimism is at most that share."""


@finding("same-log", "Rows of the training", lambda found: found.share >= LEAST)
def same_log(found: OfTraining) -> Statement:
    held_out = f"{option('held_out', 'policy.npz')} reads those that `learn` kept apart; or take another day's log."
    model = "learn the click model from another day's log, or judge another one."
    return Statement(
        "serious",
        f"About {found.share:.0%} of these impressions are what it was learnt from: what was learnt explains them "
        "better than new ones, and the estimate is too kind.",
        f"Judge it by other impressions: {held_out if found.policy else model}",
    )
