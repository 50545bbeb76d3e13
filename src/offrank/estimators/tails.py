"""The tails of the rewards of a log, as logged and as they are weighted for each target."""

from __future__ import annotations

import numpy as np

from ..inference.unseen import Tail, unseen
from ..log.batch import Floats
from ..sums.largest import LargestFold
from ..sums.mean import Name
from ..sums.named import Sums
from .fold import CLICKS, REWARD, Layout
from .marks import Marks


def largest_rewards(layout: Layout, keep: int) -> LargestFold:
    """The fold of the largest rewards: as logged, then those of each pair of the layout."""
    names = REWARD, CLICKS, *(one.value for one in layout.pairs)
    return LargestFold(tuple(layout.columns.numbers(names)), keep, absolute=True)


def reward_tails(layout: Layout, sums: Sums, marks: Marks, largest: Floats) -> dict[Name, Tail]:
    """The tails of the columns of rewards, where those of the log are heavy. largest: as `largest_rewards` finds them.

    Clicks that are 0 or 1 have none.
    """
    lines = dict(zip((REWARD, CLICKS, *(one.value for one in layout.pairs)), largest, strict=True))
    rows: dict[Name, float] = {REWARD: marks.rewarded, CLICKS: marks.clicked}

    def tail(column: Name, outcome: Name) -> Tail | None:
        known = lines[column]
        count = rows[outcome] if known[-1] > 0 else float(np.count_nonzero(known > 0))
        return unseen(known, count, column, sums)

    sums_of_clicks = (REWARD, CLICKS) if not marks.unlike else (CLICKS,)
    asked = [one for one in (REWARD, CLICKS) if not (marks.bounded and one in sums_of_clicks)]
    found: dict[Name, Tail] = {one: logged for one in asked if (logged := tail(one, one)) is not None}
    for one in layout.pairs:
        if one.outcome in found and (weighted := tail(one.value, one.outcome)) is not None:
            found[one.value] = weighted
    return found


def columns_of(layout: Layout, column: Name) -> tuple[Name, ...]:
    """A column of rewards, and that of its slots."""
    return (column, *(one.slot_value for one in layout.slotted if one.value == column))
