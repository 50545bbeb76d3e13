"""What clicks and rewards look like: robots, lists sorted by clicks, ranks never clicked, amounts in two units."""

from __future__ import annotations

from dataclasses import dataclass

from ..language.formatting import percent
from ..sums.outcome_shape import OutcomeShape
from .registry import Statement, finding, note, warning
from .row import Row

WHOLE_LISTS = 30  # Lists clicked whole
MORE_OFTEN = 4.0  # How many times as many as the other lists make likely
OF_LISTS = 0.005  # Smallest share of the lists, below which they change little
BELOW = 60  # Clicks below the first rank, from which the share of those below an item without a click tells something
UNSORTED = 0.05
"""Share of these clicks: lists that were shown in their order have far more, unless 95 % of items are clicked."""
PARTLY = 2.0  # How many lists with and without clicks there are for each that was clicked whole, and so tells no order
UNITS_APART = 8.0  # Smallest ratio between the medians of both humps
SMALLER = 0.02  # Smallest share of the amounts in the smaller one
VALLEY = 0.6  # Largest density between the humps, over that at the lower peak
ALIKE = 0.7
"""Smallest area that both humps share once their medians are laid on each other; with a fifth of the valley more."""
VALUES = 10  # Fewest different amounts in a hump: a few fixed prices are no hump
LIKELY = 60.0  # Clicks that the rate of the next rank lets expect: users who click a rank 10 times less often leave 6
ROBOTS, USUAL_USERS = 0.005, 0.3
"""Smallest share of the users, and largest: where more take whole lists, they are no exception."""
CLEARER = 5.0  # Log-likelihood ratio: with less, they may be the last of users whose rates fall off
GROUP_APART = 4.0  # How many times as many as the users who click a little less


@dataclass(frozen=True)
class RobotsEvidence:
    """Users of some rows, and how many of their lists they clicked whole."""

    unit: str = "user"  # the column that tells them
    users: int = 0  # looked at
    robots: float = 0.0  # share of those who do so in 70 % of their lists or more
    fewer: float = 1.0  # and in 40 to 70 %
    clearer: float = 0.0  # log-likelihood ratio of such a group apart
    carried: float = 0.0  # share of the clicks that users like robots have


@finding("clicked-whole", "Lists clicked whole", lambda found: found.whole >= WHOLE_LISTS, cause="outcome")
def clicked_whole(found: OutcomeShape) -> Statement | None:
    if found.whole < MORE_OFTEN * found.usual or found.whole < OF_LISTS * found.lists:
        return None
    return warning(
        f"In {found.whole:,.0f} lists ({percent(found.whole / found.lists, 1)}) nearly every item was clicked, where "
        f"the other lists make {found.usual:,.0f} likely. They have {percent(found.carried, 0)} of the outcome, and "
        "may be of robots, which click whatever is shown.",
        "Leave out the users of these lists, all of their rows, and compare both answers. If people do take whole "
        "lists, as with songs, this is no fault.",
    )


@finding("clicks-on-top", "Order of the clicks", lambda found: found.below >= BELOW, cause=("outcome", "click model"))
def clicks_on_top(found: OutcomeShape) -> Statement | None:
    if not found.jumps < UNSORTED * found.below:
        return None
    if found.partial < PARTLY * found.all_of:
        return None
    return warning(
        f"Of {found.below:,.0f} clicks below rank 1, {percent(found.jumps / found.below, 1)} stand below an item that "
        "was not clicked: the lists seem to be sorted by their clicks, as in some published logs. The ranks then "
        "follow the outcome: examination cannot be learnt from them, and the lists are not those that were shown.",
        "Use the lists in the order in which they were shown. If users go through a list from the top and stop, as "
        "with songs, use estimators without a model of users.",
    )


@finding("two-units", "Amounts in two units", lambda found: found.factor >= UNITS_APART, cause="outcome")
def two_units(found: OutcomeShape) -> Statement | None:
    alike = ALIKE + found.valley / 5
    if found.smaller < SMALLER or found.valley > VALLEY or found.alike < alike or found.values < VALUES:
        return None
    return warning(
        f"Rewards fall into two groups of the same shape, {found.factor:,.3g} times apart; the smaller one has "
        f"{percent(found.smaller, 0)} of them. If these are amounts in two units, such as cents or another currency, "
        "every value is wrong.",
        "Convert all rewards to one unit. If they are two kinds of product or of event, this is no fault: evaluate "
        "each kind by itself.",
    )


@finding("unclicked-rank", "Ranks without clicks", lambda found: found.likely >= LIKELY, cause="outcome")
def unclicked_rank(found: OutcomeShape) -> Statement:
    first, beside = found.rank == 1, 2 if found.rank == 1 else found.rank - 1
    perhaps = "Its clicks seem to be lost or moved to another rank, or nobody saw it."
    if first:
        perhaps = "Clicks seem to be recorded a rank too late, so that they belong to other items."
    return Statement.of(
        "serious" if first else "warning",
        f"Rank {found.rank} was shown {found.shown:,.0f} times and never clicked; at the rate of rank {beside}, "
        f"{found.likely:,.0f} clicks would be expected. {perhaps}",
        "Check whether positions count from 0 or from 1 where clicks are joined to lists, and whether clicks at this "
        "rank are logged.",
    )


@finding("clicked-whole", "Users who click everything", lambda found: found.clearer > CLEARER, cause="outcome")
def clicked_whole_of_robots(found: RobotsEvidence) -> Statement | None:
    if not (ROBOTS <= found.robots <= USUAL_USERS and found.robots >= GROUP_APART * found.fewer):
        return None
    return warning(
        f"Of {found.users:,} values of `{found.unit}` with several lists, some {found.robots * found.users:,.0f} "
        f"({percent(found.robots, 1)}) clicked nearly everything in nearly all of them, hardly anyone a little less. "
        f"They have {percent(found.carried, 0)} of the clicks, and may be robots: every value is then too high.",
        f"Leave out the rows of each `{found.unit}` with 5 lists or more who clicked nearly every item in 7 of 10, and "
        "compare both answers. If people do take whole lists, as with songs, this is no fault.",
    )


@finding("clicks-not-reward", "Clicks and rewards", lambda found: found.outcome == "clicks", cause="outcome")
def clicks_not_reward(_: Row) -> Statement:
    return note(
        "This estimator corrects each click separately and estimates clicks, but the log's rewards are not its clicks.",
        "Compare it only with other estimates of clicks, or log the reward of each item as its click.",
    )
