"""Rewards that a log is too short to show: larger ones, by a generalised Pareto law, or such under large weights."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import chain, compress, cycle
from operator import attrgetter

import numpy as np

from ..log.batch import Floats
from ..sums.mean import Name
from ..sums.named_sums import ByName, Sums
from .pareto import pareto_law
from .registry import Side

FEWEST = 10
"""Different rewards from which a tail is fitted. With fewer than 30 rewards in all, `few-rewards` is said."""
_SMALL = 25
"""Of few rewards these many, but at most half, are taken for the tail: a fifth of them would tell no index."""
HIDDEN = 1.0
"""Ratio of the hidden share to the relative standard error of such logs. Below it 95 % intervals of ips and
rips covered the truth in 92 to 96 of 100 healthy logs, above it in 85 to 94, nearly all misses low
(benchmarks/intervals.py design)."""


def hides(share: float, visible: float, effective_rewards: float) -> bool:
    """Whether what such logs hide is more than the standard error of such logs; both relative to the value."""
    return share > 0 and share**2 * min(visible, effective_rewards) > HIDDEN**2


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


def heavy_tail(largest: Floats, count: float, column: Name, sums: Sums) -> Tail | None:
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
    index, raw, scale = pareto_law(excess)
    error = (1 + index) / math.sqrt(len(excess))
    median = scale * (2**raw - 1) / raw if raw else scale * math.log(2)
    expected = threshold + _quantiles(index + error, median, len(excess))
    seen = excess + threshold
    more_squares, more_cubes = (max(float((expected**p).sum() - (seen**p).sum()), 0.0) for p in (2, 3))
    cubes = max(abs(sums.cubes(column)), float((seen**3).sum()))  # gains and losses may cancel
    signed = bool(sums.least[column] < 0)
    return Tail(index, error, float(sums.squares[column]), cubes, more_squares, more_cubes, signed)


def _quantiles(index: float, median: float, count: int) -> Floats:
    """[count] the quantiles of a generalised Pareto law with this median, in the middle of each of `count` parts."""
    left = 1 - (np.arange(count) + 0.5) / count
    if not index:
        return np.asarray(-median / math.log(2) * np.log(left))
    return np.asarray(median * (left**-index - 1) / (2**index - 1))


LEAST_RAISED = 0.25
"""What raises a variance by less than this share of it is left out: four such rows of a log tell their own error."""
_ERROR = attrgetter("error")
_ALIKE = 0.5
"""Weights of at least this share of the heaviest rows' weight count as of their kind."""


@dataclass(frozen=True)
class Rare:
    """The heaviest rows of a log, as many as one rewarded row is expected in, for one column of weighted rewards.

    A log may well hold no reward there, or one: then its own rows say nothing of the error. As one more event widens
    the exact interval of a weighted sum of Poisson counts (Fay and Feuer 1997), these rows are counted once more.

    - values: the columns of the weighted reward, whole and by slot. weights: the column of its weights.
    - logged: the columns of the reward as logged, and of rows.
    - count, weight: the equivalent number of rewarded rows of one weight, at most 1, over the inclusion probability.
    - expected: rewarded rows with about such a weight that such a log holds.
    - mean, square: of the rewards other than 0. signed: whether some are below 0. inverse: mean 1 / inclusion.
    - whole: whether slates are weighted, so that the column of weights has the weight of the reward.
    """

    values: tuple[Name, ...]
    weights: Name
    logged: tuple[Name, Name]
    count: float
    weight: float
    expected: float
    mean: float = 1.0
    square: float = 1.0
    inverse: float = 1.0
    signed: bool = False
    whole: bool = True


def heaviest(largest: Floats, rows: float, rate: float) -> tuple[float, float, float]:
    """Return `count`, `weight` and `expected` of `Rare`.

    largest: the largest weights of a log in descending order, filled up with others that are not above 0. rows: of the
    log; rate: the share of them with a reward. Rows whose weights are not kept count like the least that is.
    """
    size = largest[largest > 0]
    if not (len(size) and 0 < rate < 1):
        return 0.0, 0.0, 0.0
    rows_of = np.ones(len(size))
    rows_of[-1] += rows - len(size) if len(size) == len(largest) else 0.0
    share = np.diff(np.minimum(np.cumsum(rate * rows_of), 1.0), prepend=0.0)
    relative = size / size[0]
    squares, cubes = (float((share * relative**power).sum()) for power in (2, 3))
    weight = cubes / squares
    expected = rate * float(rows_of[relative >= _ALIKE * weight].sum())
    return squares**3 / cubes**2 * (1 - rate), float(size[0]) * weight, expected


def with_rare(sides: tuple[Side, Side], rare: tuple[Rare, ...], influence: Floats, sums: Sums) -> tuple[Side, Side]:
    """Error and skewness towards the lower and the upper end, with one more rewarded row among the heaviest.

    Of a difference between two targets, as far as their weights differ.
    """
    named = ByName(sums.columns, influence)
    moving = {*compress(chain(sums.columns.once, cycle(sums.columns.in_blocks)), influence.tolist())}
    rare = tuple(one for one in rare if not moving.isdisjoint(one.values))  # few of those of many targets
    weighted = [max(np.hstack([named[name] for name in one.values]).tolist(), key=abs) for one in rare]
    used = [pair for pair in zip(rare, weighted, strict=True) if pair[1]]
    apart = _apart(used, sums) if len(used) > 1 else 1.0
    raised, n = list(sides), sums.n
    for one, each in used:
        reward, row = (one.inverse * float(named[column]) for column in one.logged)
        slope = one.weight * each + reward
        level = one.weight * float(named[one.weights]) + row if one.whole else 0.0
        moved = slope**2 * one.square + 2 * slope * level * one.mean + level**2
        # the influence of one such row, with the sign of what it adds to the mean
        size, count = math.copysign(math.sqrt(max(moved, 0.0)), slope * one.mean + level), one.count * apart
        for end, side in enumerate(sides):
            towards = size if end else -size
            if not (towards > 0 or one.signed):
                continue
            added, before = count * size**2 / (n * (n - 1)), side.error**2  # 0 where no reward is weighted
            if LEAST_RAISED * before < added < math.inf:
                error = math.sqrt(before + added)
                cube = count * (abs(size) / (n * error)) ** 3 * (1 if end else -1)
                more = Side(error, side.skewness * (side.error / error) ** 3 + cube)
                raised[end] = max(raised[end], more, key=_ERROR)
    return raised[0], raised[1]


def _apart(used: list[tuple[Rare, float]], sums: Sums) -> float:
    """The variance of the sum of some weights, each times its coefficient, over the largest of one; at most 1."""
    every = [sums.combination({one.weights: weighted}) for one, weighted in used]
    most = max(map(sums.moments.variation, every))
    return min(sums.moments.variation(np.sum(every, axis=0)) / most, 1.0) if most > 0 else 1.0
