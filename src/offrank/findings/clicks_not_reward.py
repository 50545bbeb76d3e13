"""`clicks-not-reward`: an estimate of clicks although the rewards differ from the clicks."""

from .evidence import EstimateEvidence
from .registry import Statement, finding


@finding("clicks-not-reward", "Clicks and rewards", lambda found: found.other_outcome, cause="outcome")
def clicks_not_reward(_: EstimateEvidence) -> Statement:
    return Statement(
        "note",
        "This estimator corrects each click separately and estimates clicks, but the log's rewards are not its clicks.",
        "Compare it only with other estimates of clicks, or log the reward of each item as its click.",
    )
