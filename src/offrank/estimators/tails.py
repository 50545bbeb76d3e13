"""The tails of the rewards of a log, as logged and as they are weighted for each target."""

from __future__ import annotations

import numpy as np

from ..folds.largest import LargestFold
from ..folds.moments import Moments
from ..inference.unseen import Tail, unseen
from ..log.batch import Floats
from .fold import CLICKS, REWARD, Layout, outcome_index
from .marks import Marks


def largest_rewards(layout: Layout, keep: int) -> LargestFold:
    """The fold of the largest rewards: as logged, then those of each pair of the layout."""
    return LargestFold((REWARD, CLICKS, *(one.value for one in layout.pairs)), keep, absolute=True)


def reward_tails(layout: Layout, moments: Moments, marks: Marks, largest: Floats) -> dict[int, Tail]:
    """The tails of the columns of rewards, where those of the log are heavy. largest: as `largest_rewards` finds them.

    Clicks that are 0 or 1 have none.
    """
    lines = dict(zip((REWARD, CLICKS, *(one.value for one in layout.pairs)), largest, strict=True))
    rows = {REWARD: marks.rewarded, CLICKS: marks.clicked}

    def tail(column: int, outcome: int) -> Tail | None:
        known = lines[column]
        count = rows[outcome] if known[-1] > 0 else float(np.count_nonzero(known > 0))
        return unseen(known, count, column, moments)

    sums_of_clicks = (REWARD, CLICKS) if not marks.unlike else (CLICKS,)
    asked = [one for one in (REWARD, CLICKS) if not (marks.bounded and one in sums_of_clicks)]
    found = {one: logged for one in asked if (logged := tail(one, one)) is not None}
    for _, estimator, _, value, _ in layout.pairs:
        outcome = (REWARD, CLICKS)[outcome_index(estimator)]
        if outcome in found and (weighted := tail(value, outcome)) is not None:
            found[value] = weighted
    return found


def columns_of(layout: Layout, column: int, width: int) -> tuple[int, ...]:
    """A column of rewards, and those of its slots in samples of `width` columns."""
    slots = [
        place
        for pair, first in layout.slot_places.items()
        if layout.places[pair].value == column
        for place in range(first, width, layout.stride)
    ]
    return (column, *slots)
