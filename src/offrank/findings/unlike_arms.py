"""`unlike-arms`: two arms of an experiment earn differently where their rankers show the same."""

import math

from .evidence_rows import PlaceboEvidence
from .registry import Statement, finding

CHANCE = 0.0005
"""Share of right experiments that say so, for all pairs of arms together; 3.5 standard errors of one pair."""


@finding("unlike-arms", "Arms that show the same", cause=("rows", "arms"))
def unlike_arms(found: PlaceboEvidence) -> Statement | None:
    """A placebo: the same list earns the same, whichever arm served it, if nothing else differs between the arms."""
    if not found.pairs * math.erfc(found.deviates / math.sqrt(2)) < CHANCE:
        return None
    (one, other), (mine, theirs) = found.arms, found.means
    same, earned = ("first item", "clicks on it") if found.first else ("list", "the outcome")
    perhaps = ", or users look further before they click the first" if found.first else ""
    return Statement(
        "warning",
        f"In {sum(found.rows):,.0f} impressions both rankers show the same {same}, yet {earned} per impression is "
        f"{mine:.4g} in arm `{one}` of `{found.column}` and {theirs:.4g} in `{other}` ({found.deviates:.1f} standard "
        f"errors): the arms differ by more than their rankers, such as times, users, speed or tracking{perhaps}.",
        "Find out what: shares that were changed during the test, or users who were not assigned at random, make the "
        "difference of the arms wrong; of an arm that is slower or loses clicks it is right, but not of its ranker.",
    )
