"""`clicked-whole`: lists of which nearly everything was clicked, far more than the other lists make likely."""

from ..folds.outcome_shape import OutcomeShape
from ..formatting import percent
from .registry import Statement, finding

FEWEST = 30
"""Lists clicked whole."""
MORE = 4.0
"""How many times as many as the other lists make likely."""
SHARE = 0.005
"""Smallest share of the lists, below which they change little."""


@finding("clicked-whole", "Lists clicked whole", lambda found: found.whole >= FEWEST, cause="outcome")
def clicked_whole(found: OutcomeShape) -> Statement | None:
    if found.whole < MORE * found.usual or found.whole < SHARE * found.lists:
        return None
    return Statement(
        "warning",
        f"In {found.whole:,.0f} lists ({percent(found.whole / found.lists, 1)}) nearly every item was clicked, where "
        f"the other lists make {found.usual:,.0f} likely. They have {percent(found.carried, 0)} of the outcome, and "
        "may be of robots, which click whatever is shown.",
        "Leave out the users of these lists, all of their rows, and compare both answers. If people do take whole "
        "lists, as with songs, this is no fault.",
    )
