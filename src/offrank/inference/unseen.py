"""The rewards that a log is too short to show, by a generalised Pareto law fitted to its largest ones."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..folds.moments import Moments
from ..log.batch import Floats
from .pareto import law

FEWEST = 10
"""Different rewards from which a tail is fitted. With fewer than 30 rewards in all, `few-rewards` is said."""
_SMALL = 25
"""Of few rewards these many, but at most half, are taken for the tail: a fifth of them would tell no index."""


@dataclass(frozen=True)
class Tail:
    """The tail of the terms of a mean, as heavy as their largest allow.

    - index: of the fitted law; error: its standard error. heavy: the index that is one error higher.
    - squares, cubes: sums over the terms. more_squares, more_cubes: what these lack, if the tail were that heavy and
      its largest values were as large as is to be expected.
    - signed: whether terms may be below 0.
    """

    index: float
    error: float
    squares: float
    cubes: float
    more_squares: float
    more_cubes: float
    signed: bool = False

    @property
    def heavy(self) -> float:
        return self.index + self.error

    @property
    def skewness(self) -> float:
        """Skewness of the sum of the terms, about 0, with what is lacking; of m equal terms it is 1 / sqrt(m)."""
        return (self.cubes + self.more_cubes) / (self.squares + self.more_squares) ** 1.5


def unseen(largest: Floats, count: float, column: int, moments: Moments) -> Tail | None:
    """The tail of a column; None where its largest values do not differ, or are too few.

    largest: absolute values, in descending order. count: how many are not 0.
    """
    positive = largest[largest > 0]
    size = min(int(min(max(count / 5, min(_SMALL, count / 2)), 3 * math.sqrt(count))), len(positive) - 1)
    if size < FEWEST:
        return None
    threshold = positive[size]
    excess = np.sort(positive[:size] - threshold)
    excess = excess[excess > 1e-9 * threshold]
    if len(excess) < FEWEST:
        return None
    index, raw, scale = law(excess)
    error = (1 + index) / math.sqrt(len(excess))
    expected = threshold + _quantiles(index + error, _median(raw, scale), len(excess))
    seen = excess + threshold
    more_squares, more_cubes = (max(float((expected**p).sum() - (seen**p).sum()), 0.0) for p in (2, 3))
    cubes = max(abs(moments.cubes(column)), float((seen**3).sum()))  # gains and losses may cancel
    signed = bool(moments.least[column] < 0)
    return Tail(index, error, float(moments.squares[column]), cubes, more_squares, more_cubes, signed)


def _median(index: float, scale: float) -> float:
    return scale * (2**index - 1) / index if index else scale * math.log(2)


def _quantiles(index: float, median: float, count: int) -> Floats:
    """[count] the quantiles of a generalised Pareto law with this median, in the middle of each of `count` parts."""
    left = 1 - (np.arange(count) + 0.5) / count
    if not index:
        return np.asarray(-median / math.log(2) * np.log(left))
    return np.asarray(median * (left**-index - 1) / (2**index - 1))
