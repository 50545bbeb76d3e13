"""What is counted of a log's rows, so that a question about each row is not answered by totals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..log.batch import PRICED, Floats, LogBatch

MARKS = 5
ROUNDING = 1e-6
"""A reward is the sum of the clicks if both are apart by at most this share of the larger one: a column of 32 bits has
seven digits, and the order of a sum changes the last ones."""


@dataclass(frozen=True)
class Marks:
    """How many rows have what.

    - clicks: known clicks. unlike: a reward that is not their sum. priced: a click that is neither 0 nor 1.
    - rewarded: a reward other than 0. clicked: clicks whose sum is not 0.
    """

    clicks: float
    unlike: float
    priced: float
    rewarded: float
    clicked: float

    @property
    def bounded(self) -> bool:
        """Whether clicks are 0 or 1, so that a row has at most as many as slots."""
        return bool(self.clicks) and not self.priced


def marks(batch: LogBatch, reward: Floats, clicks: Floats) -> NDArray[np.bool_]:
    """[n, MARKS] what is counted of each row, as in `Marks`. clicks: [n] their sums, 0 where they are not known."""
    found = np.zeros((MARKS, len(batch)), np.bool_).T  # column by column in memory, as they are counted
    found[:, 3], found[:, 4] = reward != 0, clicks != 0
    if batch.clicks is None:
        return found
    found[:, 0] = True
    found[:, 2] = batch.click_kinds == PRICED
    if batch.outcome is not None:
        rows = np.flatnonzero(reward != clicks)
        larger = np.maximum(clicks[rows], np.abs(reward[rows]))
        found[rows, 1] = ~(np.abs(reward[rows] - clicks[rows]) <= ROUNDING * larger)
    return found
