"""The effective sample size of an estimate: the equivalent number of impressions of the target itself.

The mean of m impressions of the target has the variance Var(reward) / m. So an estimate of standard error s is
equivalent to Var(reward of an impression | target) / s^2 of them. That variance is estimated from the same log:

- where whole slates are weighted, sum w r^2 / sum w - (sum w r / sum w)^2. For the pseudoinverse this is right
  for rewards that are 0 or 1; for others it is an approximation.
- where clicks are weighted, as the sum of the variances in each slot and of the covariances of each two. A pair is
  weighted like its lower slot: exact for weights of prefixes (rips). Weights of items say nothing about pairs; there
  the clicks above a slot are as logged beside the item that the target shows there. Exact also for a single slot
  and if the target is the logging policy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..log.batch import Floats, Integers, LogBatch
from ..sums.base import Fold, Sample
from ..sums.estimate import FEW_EFFECTIVE, FEW_REWARDS
from ..sums.named_sums import ByName, NamedColumns, Sums
from . import _kernels_slots
from .base import Terms, Weighted
from .layout import BLOCKS, LOGGED, MARKS, REWARD, ROWS, SQUARES, WEIGHTED, Marks, TargetPair

ROUNDING = 1e-6
"""A reward is the sum of the clicks if both are apart by at most this share of the larger one: a column of 32 bits has
seven digits, and the order of a sum changes the last ones."""
_EQUAL = 1e-9
"""Share by which equal weights may be apart."""


@dataclass(frozen=True)
class Slots:
    """Sums over the log, [blocks] each; c is a click, a the number of clicks above it.

    number: of slots; clicks: c; above: a. Weighted: control (of one), value (of c), square (c^2), pair (c a) and
    beside (a).
    """

    number: Floats
    clicks: Floats
    above: Floats
    control: Floats
    value: Floats
    square: Floats
    pair: Floats
    beside: Floats

    def variance(self, rows: float, *, normalised: bool, each_slot: bool) -> float:
        """Variance of the clicks of one impression under the target. rows: sum of 1 / inclusion."""
        mean = self._mean_weight(normalised=normalised, each_slot=each_slot)
        value, square, pair = (_ratio(each, rows * mean) for each in (self.value, self.square, self.pair))
        # A block of several slots is treated as so many equal slots.
        own = square - value**2 / np.maximum(self.number / rows, 1.0)
        covariance = pair - value * _ratio(self.beside, self.control) + value * self._longer(rows, value)
        return float(own.sum() + 2 * covariance.sum())

    def _mean_weight(self, *, normalised: bool, each_slot: bool) -> Floats:
        if each_slot:
            return _ratio(self.control, self.number)
        return np.full(len(self.number), self.control.sum() / self.number.sum() if normalised else 1.0)

    def _longer(self, rows: float, value: Floats) -> Floats:
        """How many more clicks are above a slot, in the slates that have it, than on average: slates differ in length.

        As logged, scaled to the target's clicks.
        """
        logged = (np.cumsum(self.clicks) - self.clicks) / rows
        more = _ratio(self.above, self.number) - logged
        more[BLOCKS - 1 :] = 0.0  # a block of many slots has no single number of clicks above it
        return more * _ratio(np.cumsum(value) - value, logged)


@dataclass(frozen=True)
class EffectiveSizeTerms:
    """What the sums of some rows of a batch are made from, see `SumsFold`. rewards: [n] logged reward, and clicks.

    found: for each pair its terms, and that of the two rewards that it weights. rows: to include, None for all.
    """

    columns: NamedColumns
    batch: LogBatch
    rewards: tuple[Floats, Floats]
    found: tuple[tuple[Terms, Floats], ...]
    rows: Integers | None = None

    def take(self, rows: Integers) -> EffectiveSizeTerms:
        """Some of the rows."""
        return replace(self, rows=rows if self.rows is None else self.rows[rows])


class SumsFold(Fold):
    """Reduces samples to the sums of the columns without moments."""

    def of(self, batch: Sample) -> Floats:
        summed: Any = batch.summed
        log, columns = summed.batch, summed.columns
        rows = np.arange(len(log.row)) if summed.rows is None else summed.rows
        length, clicks, inverse = log.contexts.length, log.clicks, 1 / log.inclusion
        out = ByName(columns, np.zeros(columns.width(min(log.slates.shape[1], BLOCKS))))
        known = clicks is not None
        kind = log.click_sums.kind if known else np.zeros(len(log), np.int64)
        first = out.array[: len(SQUARES) + len(MARKS)]
        _kernels_slots.outcomes(rows, *summed.rewards, kind, known, ROUNDING, inverse, first)
        if columns.in_blocks:
            _kernels_slots.logged(rows, clicks, length, inverse, *(out[name] for name in LOGGED))
        for pair, (terms, reward) in enumerate(summed.found):
            if terms.weights is None:
                continue
            weight, control = terms.weights.weight, terms.weights.control
            if weight.ndim == 1:
                found = _kernels_slots.whole(rows, weight, control, reward, inverse)
                for name, one in zip(("earned", "squared", "weights"), found, strict=True):
                    out[f"{name} {pair}"] = one
            elif f"control {pair}" in columns.places:
                sums = (out[f"{name} {pair}"] for name in WEIGHTED)
                squares = _kernels_slots.weighted(rows, weight, control, clicks, length, inverse, *sums)
                out[f"weights {pair}"] = squares
        return out.array


@dataclass(frozen=True)
class EffectiveSize:
    """Effective sample sizes from the sums of a log.

    sums: of the columns of a sample. more: those without moments. marks: what was counted of the rows.
    """

    sums: Sums
    more: ByName
    marks: Marks

    def impressions(self, at: TargetPair, weighted: Weighted, error: float) -> float:
        """How many impressions of the target would give the same standard error. weighted: how the pair weights."""
        sums, kish, variance = self.sums, self.kish(at), self._variance(at, weighted)
        if not (variance > 0 and 0 < error < math.inf):
            return kish
        found = variance * sums.n / max(sums.n - 1, 1) / error**2
        known = kish >= FEW_EFFECTIVE and self.rewards(at) >= FEW_REWARDS
        weight = float(sums.total[at.weight])
        alike = not at.estimator.kind.predicts and kish * sums.largest[at.weight] <= weight * (1 + _EQUAL)
        # by chance the variance may be underestimated; and as many rows as have a weight
        return found if known and not alike else min(found, kish)

    def rewards(self, at: TargetPair) -> float:
        """The effective number of rewarded impressions; infinite if negative rewards leave it undefined."""
        squares = float(self.sums.squares[at.value])
        if not squares:
            return 0.0
        losses = at.outcome == REWARD and bool(self.sums.least[REWARD] < 0)
        return math.inf if losses else float(self.sums.total[at.value]) ** 2 / squares

    def kish(self, at: TargetPair) -> float:
        """(sum of weights)^2 / sum of squared weights, over slates or, per impression, over slots."""
        squares = float(self.more[f"weights {at.number}"])
        slots = self._slots(at.number) if self.more.columns.in_blocks else None
        if slots is None:
            return float(self.sums.total[at.weight]) ** 2 / squares
        return float(slots.control.sum() ** 2 / squares / (slots.number.sum() / float(self.sums.total[ROWS])))

    def _variance(self, at: TargetPair, weighted: Weighted) -> float:
        """Variance of the reward of one impression of the target."""
        sums, slots = self.sums, self._slots(at.number) if self.more.columns.in_blocks else None
        rows, weight = float(sums.total[ROWS]), float(sums.total[at.weight])
        if slots is not None:
            return slots.variance(rows, normalised=weighted.normalised, each_slot=weighted.kind.each_slot)
        value, square = (float(self.more[f"{name} {at.number}"]) / weight for name in ("earned", "squared"))
        found = float(square - value**2)
        if found < -1e-9 * abs(square):  # negative weights of the pseudoinverse: use the logged variance
            return float(self.more[SQUARES[at.outcome]]) / rows - float(sums.total[at.outcome] / rows) ** 2
        return found if found > 1e-12 * abs(square) else 0.0

    def heavy_slots(self, at: TargetPair) -> tuple[float, float]:
        """Slots of an impression, and how many of them are heavy where its mean weight is; 1 and 1 of whole slates.

        By the mean of the squared mean weights: one heavy slot has the square of all, equal ones less.
        """
        found, rows = self._slots(at.number), float(self.sums.total[ROWS])
        if found is None:
            return 1.0, 1.0
        slots = float(found.number.sum()) / rows
        squares = float(self.sums.squares[at.weight]) * float(rows / self.sums.squares[ROWS])
        alike = slots * squares / float(self.more[f"weights {at.number}"])
        return slots, min(max(slots * alike, 1.0), slots)

    def _slots(self, pair: int) -> Slots | None:
        """The sums of a pair that weights clicks; None of another one, or where no row has a weight."""
        if f"control {pair}" not in self.more.columns.places:
            return None
        weighted = (self.more[f"{name} {pair}"] for name in WEIGHTED)
        found = Slots(*(self.more[name] for name in LOGGED), *weighted)
        return found if found.control.any() else None


def _ratio(top: Floats, bottom: Floats) -> Floats:
    return np.divide(top, bottom, out=np.zeros_like(top), where=bottom != 0)
