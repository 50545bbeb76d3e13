"""`clicks-on-top`: lists in which no click stands below an item without one: sorted by what was clicked."""

from ..folds.outcome_shape import OutcomeShape
from ..formatting import percent
from .registry import Statement, finding

FEWEST = 60
"""Clicks below the first rank, from which the share of those below an item without a click tells something."""
LEAST = 0.05
"""Share of these clicks: lists that were shown in their order have far more, unless 95 % of items are clicked."""
PARTLY = 2.0
"""How many lists with and without clicks there are for each that was clicked whole, and so tells no order."""


@finding(
    "clicks-on-top",
    "Order of the clicks",
    lambda found: found.below >= FEWEST and found.jumps < LEAST * found.below,
    cause=("outcome", "click model"),
)
def clicks_on_top(found: OutcomeShape) -> Statement | None:
    if found.partial < PARTLY * found.all_of:
        return None
    return Statement(
        "warning",
        f"Of {found.below:,.0f} clicks below rank 1, {percent(found.jumps / found.below, 1)} stand below an item that "
        "was not clicked: the lists seem to be sorted by their clicks, as in some published logs. The ranks then "
        "follow the outcome: examination cannot be learnt from them, and the lists are not those that were shown.",
        "Use the lists in the order in which they were shown. If users go through a list from the top and stop, as "
        "with songs, use estimators without a model of users.",
    )
