"""Mean and centred co-moments of the columns of a sample, merged by the rules of Chan and of Pebay."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ..log.batch import Floats
from . import _kernels
from .base import Fold, Sample, total

Block = tuple[int, ...]
"""Columns that one result may depend on."""
_ROUNDING = 1e-14
"""What rounding may leave of terms that cancel, as a share of them: sums of some 10^7 products are that exact."""


_DEPENDENT = 1e-9
"""Share of its variance from which a column counts as its own, beside those it is compared with."""
EXPLAINED = 0.9
"""Share of the variance of a mean from which the skewness of its nearest known combination counts as its own."""


@dataclass(frozen=True)
class Moments:
    """Moments of n rows of d columns: mean [d], comoment [d, d] (sums of centred products), least and largest [d].

    third: for some tuples of columns [c], the sums [c, c, c] of centred products of three of them. rest [d]: what
    rounding took from the mean, so that the small difference of two means is exact as well.
    """

    n: int
    mean: Floats
    comoment: Floats
    least: Floats
    largest: Floats
    third: Mapping[Block, Floats] = field(default_factory=dict)
    rest: Floats = field(default_factory=lambda: np.zeros(1), metadata={"beside": "mean"})

    def __add__(self, other: Moments) -> Moments:
        """The moments of both; later rows may have more columns, of which earlier ones have zeros."""
        n = self.n + other.n
        if not self.n or not other.n:
            return self if self.n else other
        columns = max(len(self.mean), len(other.mean))
        left = self if len(self.mean) == columns else _widened(self, columns)
        right = other if len(other.mean) == columns else _widened(other, columns)
        shift = right.mean - left.mean
        known, more = ((part.mean.astype(np.longdouble) + part.rest) for part in (left, right))
        exact = known + (more - known) * right.n / n
        mean = exact.astype(np.float64)
        return Moments(
            n,
            mean,
            left.comoment + right.comoment + np.outer(shift, shift) * (left.n * right.n / n),
            np.minimum(left.least, right.least),
            np.maximum(left.largest, right.largest),
            {block: _merged_third(left, right, block) for block in left.third},
            np.where(np.isfinite(mean), exact - mean, 0.0).astype(np.float64),
        )

    @property
    def sums(self) -> Floats:
        """[d] column sums."""
        return self.n * self.mean

    def of(self, columns: Block) -> Moments:
        """Of some columns, with their third moments where these are known."""
        at = np.array(columns)
        third = {}
        for block, each in self.third.items():
            if set(columns) <= set(block):
                places = np.array([block.index(column) for column in columns])
                third = {tuple(range(len(columns))): each[np.ix_(places, places, places)]}
        comoment = self.comoment[np.ix_(at, at)]
        rest = np.zeros_like(self.mean) + self.rest
        return Moments(self.n, self.mean[at], comoment, self.least[at], self.largest[at], third, rest[at])

    def variation(self, influence: Floats) -> float:
        """Sum of the squares about their mean of rows with this influence, [d] coefficients; 0 if it is rounding error.

        Large terms may cancel. What a matrix product leaves of them differs by processor, so they are summed exactly.
        Their own last digits stay: of rows that differ from others by 1e-5 of themselves, such as the terms of two
        targets, 1e-5 of the variation is rounding, and is another in another order. No co-moments in doubles can tell
        more, only the influence of each row could, in a second pass.
        """
        used = np.flatnonzero(influence)
        f, comoment = influence[used], self.comoment[np.ix_(used, used)]
        with np.errstate(over="ignore", invalid="ignore"):
            terms = f[:, None] * f * comoment
            plain = float(terms.sum())
        if not math.isfinite(plain):
            return max(plain, 0.0)
        spread = float((np.abs(f) * np.sqrt(np.maximum(np.diagonal(comoment), 0.0))).sum())
        middle = float(np.abs(f * self.mean[used]).sum())
        least = _ROUNDING * spread**2 + self.n * (_ROUNDING * middle) ** 2
        return found if (found := math.fsum(terms.ravel().tolist())) > least else 0.0

    def cubes(self, column: int) -> float:
        """Sum of cubes of a column; nan if its third moment is missing."""
        mean = float(self.mean[column])
        for block, third in self.third.items():
            if column in block:
                at = block.index(column)
                return float(third[at, at, at] + 3 * mean * self.comoment[column, column] + self.n * mean**3)
        return math.nan

    def skewness(self, influence: Floats) -> float:
        """Skewness of the mean of rows with this influence, [d] coefficients; 0 if the third moment is missing.

        Columns of slots have no third moments, as there would be too many. A mean that uses them is replaced by that
        combination of columns with third moments which is nearest to it, if that has most of its variance: each row's
        sums over its slots.
        """
        variance, used = self.variation(influence), set(np.flatnonzero(influence).tolist())
        if not variance > 0:
            return 0.0
        for block, third in self.third.items():
            if used <= set(block):
                return _skewness(third, influence[list(block)] / math.sqrt(variance))
        near = [(block, *self._nearest(influence / math.sqrt(variance), block)) for block in self.third]
        block, each, explained = max(near, key=lambda one: one[2], default=((), np.zeros(0), 0.0))
        return _skewness(self.third[block], each) if explained >= EXPLAINED else 0.0

    def _nearest(self, influence: Floats, block: Block) -> tuple[Floats, float]:
        """The combination of a block's columns nearest to one of all columns, and its share of a variance of one."""
        at = np.array(block)
        scale = np.sqrt(np.diagonal(self.comoment)[at])
        inverse = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
        wanted = inverse * (self.comoment[at] @ influence)
        within = inverse[:, None] * self.comoment[np.ix_(at, at)] * inverse
        found = _solved(within, wanted)
        return found * inverse, float((found * wanted).sum())


@dataclass(frozen=True)
class MomentsFold(Fold):
    """Reduces samples to `Moments`. third: the columns with third moments."""

    third: tuple[Block, ...] = ()

    def of(self, batch: Sample) -> Moments:
        values, blocks = batch.columns, tuple(dict.fromkeys(self.third))
        d, n = values.shape
        mean, comoment, least, largest = np.zeros(d), np.zeros((d, d)), np.full(d, np.inf), np.full(d, -np.inf)
        columns = np.array([column for block in blocks for column in block], np.int64)
        ends = np.cumsum([len(block) ** 3 for block in blocks], dtype=np.int64)
        found = np.zeros(ends[-1] if blocks else 0)
        rest = np.zeros(d)
        if n:
            space = np.zeros((2, d), np.int64), np.empty((d + 3, _kernels.BLOCK))
            starts = np.cumsum([0, *map(len, blocks)])
            _kernels.moments(values, mean, rest, comoment, least, largest, *space, columns, starts, found)
        cubes = zip(blocks, np.split(found, ends[:-1]), strict=False)
        third = {block: each.reshape((len(block),) * 3) for block, each in cubes}
        return Moments(n, mean, comoment, least, largest, third, rest)


def _solved(matrix: Floats, wanted: Floats) -> Floats:
    """[c] a solution of a consistent system with a [c, c] matrix of correlations; 0 for columns that others give.

    By elimination, the largest pivots first. A library's routine starts threads, which outlast a system this small.
    """
    both, found = np.column_stack([matrix, wanted]), np.zeros(len(wanted))
    pivots = np.diagonal(both).copy()
    used: list[int] = []
    while len(used) < len(wanted) and pivots[at := int(pivots.argmax())] > _DEPENDENT:
        both[at] /= both[at, at]
        others = np.arange(len(wanted)) != at
        both[others] -= both[others, at, None] * both[at]
        used.append(at)
        pivots = np.diagonal(both).copy()
        pivots[used] = 0.0
    found[used] = both[used, -1]
    return found


def without(whole: Moments, part: Moments) -> Moments:
    """The moments of the other rows: what, merged with `part`, is `whole`. Their extremes are taken from `whole`."""
    n = whole.n - part.n
    if not part.n or not n:
        d, none = len(whole.mean), {block: np.zeros_like(third) for block, third in whole.third.items()}
        return whole if n else Moments(0, np.zeros(d), np.zeros((d, d)), np.full(d, np.inf), np.full(d, -np.inf), none)
    mean = (whole.n * whole.mean - part.n * part.mean) / n
    shift = part.mean - mean
    comoment = whole.comoment - part.comoment - np.outer(shift, shift) * (n * part.n / whole.n)
    none = {block: np.zeros_like(third) for block, third in whole.third.items()}
    rest = Moments(n, mean, comoment, whole.least, whole.largest, none)
    with np.errstate(invalid="ignore"):  # of the largest numbers, whose cubes are infinite
        third = {block: whole.third[block] - _merged_third(rest, part, block) for block in whole.third}
    return Moments(n, mean, comoment, whole.least, whole.largest, third)


def _skewness(third: Floats, influence: Floats) -> float:
    with np.errstate(over="ignore", invalid="ignore"):
        found = float(influence @ (third @ influence) @ influence)
    return found if math.isfinite(found) else 0.0  # of the largest numbers it is not known


def _merged_third(left: Moments, right: Moments, block: Block) -> Floats:
    at, n = np.array(block), left.n + right.n
    shift = (right.mean - left.mean)[at]
    crossed = (left.n * right.comoment - right.n * left.comoment)[np.ix_(at, at)] / n
    crossed += np.outer(shift, shift) * (left.n * right.n * (left.n - right.n) / n**2 / 3)
    with np.errstate(over="ignore", invalid="ignore"):  # of the largest numbers squares are finite, cubes are not
        each = shift[:, None, None] * crossed
        return left.third[block] + right.third[block] + each + each.transpose(1, 0, 2) + each.transpose(1, 2, 0)


def _widened(state: Moments, columns: int) -> Moments:
    """The moments of the same rows with zeros in further columns."""
    comoment = total(state.comoment, np.zeros((columns, columns)))
    each = state.mean, state.least, state.largest, state.rest
    mean, least, largest, rest = (total(one, np.zeros(columns)) for one in each)
    return Moments(state.n, mean, comoment, least, largest, state.third, rest)
