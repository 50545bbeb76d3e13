"""The tails of the rewards of a log, as logged and as they are weighted for each target."""

from __future__ import annotations

import numpy as np

from ..inference.rare_rewards import Tail, unseen
from ..log.batch import Floats
from ..sums.mean import Name
from ..sums.named_sums import Sums
from .layout import CLICKS, REWARD, Layout, Marks


def reward_tails(
    layout: Layout, sums: Sums, marks: Marks, largest: Floats
) -> tuple[tuple[tuple[Name, ...], Tail], ...]:
    """The tails of the columns of rewards, where those of the log are heavy. largest: of each, without signs.

    Each with the columns of which one is in a mean that it affects, its own first. Clicks that are 0 or 1 have none.
    """
    bounded = (CLICKS, *(() if marks.unlike else (REWARD,))) if marks.clicks and not marks.priced else ()
    asked = [one for one in (REWARD, CLICKS) if one not in bounded]
    found: dict[Name, Tail] = {}
    lines = dict(zip(layout.rewards, largest, strict=True)) if asked else {}
    rows: dict[Name, float] = {REWARD: marks.rewarded, CLICKS: marks.clicked}
    outcomes: dict[Name, Name] = {one: one for one in asked} | {one.value: one.outcome for one in layout.pairs}
    for column, outcome in outcomes.items():
        if outcome not in (column, *found):
            continue
        known = lines[column]
        count = rows[outcome] if known[-1] > 0 else float(np.count_nonzero(known > 0))
        if (tail := unseen(known, count, column, sums)) is not None:
            found[column] = tail
    return tuple((columns_of(layout, column), tail) for column, tail in found.items())


def columns_of(layout: Layout, column: Name) -> tuple[Name, ...]:
    """A column of rewards, and that of its slots."""
    return (column, *(one.slot_value for one in layout.slotted if one.value == column))
