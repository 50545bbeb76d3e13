"""How many impressions of the target itself an estimate is worth: its effective sample size.

m impressions of the target tell its value with the variance Var(reward) / m. So an estimate of standard error s is
worth Var(reward of an impression | target) / s^2 of them. That variance is estimated from the same log:

- where whole slates are weighted, sum w r^2 / sum w - (sum w r / sum w)^2. The pseudoinverse weighs no squares rightly
  but of rewards that are 0 or 1; for others this is an approximation.
- where clicks are weighted, as the sum of the variances in each slot and of the covariances of each two. A pair is
  weighted as its lower slot is: exact for weights of prefixes (rips). Weights of items say nothing of pairs; for them
  what stands above a slot is as it was logged beside what the target shows there. Exact too where there is one slot
  and where the target is the logging policy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ..log.batch import Floats, Integers, LogBatch
from . import _kernels_slots
from .base import Terms

BLOCKS = 20
"""Slots from this rank on are summed as one block."""
_PLAIN, _LOGGED, _WEIGHTED = 3, 3, 5


def blocks(slots: int) -> int:
    """Blocks of a slate of so many slots."""
    return min(slots, BLOCKS)


@dataclass(frozen=True)
class Slots:
    """Sums over the log, [blocks] each, for a click c with a clicks above it.

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
        """Of the clicks of one impression under the target. rows: sum of 1 / inclusion."""
        mean = self._mean_weight(normalised=normalised, each_slot=each_slot)
        value, square, pair = (_ratio(each, rows * mean) for each in (self.value, self.square, self.pair))
        # A block of several slots is taken as so many equal ones.
        own = square - value**2 / np.maximum(self.number / rows, 1.0)
        covariance = pair - value * _ratio(self.beside, self.control) + value * self._longer(rows, value)
        return float(own.sum() + 2 * covariance.sum())

    def _mean_weight(self, *, normalised: bool, each_slot: bool) -> Floats:
        if each_slot:
            return _ratio(self.control, self.number)
        return np.full(len(self.number), self.control.sum() / self.number.sum() if normalised else 1.0)

    def _longer(self, rows: float, value: Floats) -> Floats:
        """How many more clicks stand above a slot where there is such a slot than on average: slates of unlike length.

        As logged, scaled to the target's clicks.
        """
        logged = (np.cumsum(self.clicks) - self.clicks) / rows
        more = _ratio(self.above, self.number) - logged
        more[BLOCKS - 1 :] = 0.0  # a block of many slots: what stands above them is not one number
        return more * _ratio(np.cumsum(value) - value, logged)


@dataclass(frozen=True)
class EffectiveSizeLayout:
    """Which sum is where, each divided by the inclusion probability. slotted: which of the pairs weigh clicks.

    Columns 0 and 1: squares of the logged reward, and of an impression's logged clicks. Then for each pair of target
    and estimator the weighted reward and its weighted square, and the squared weights, summed over slots. Then block
    of slots by block what `_kernels_slots` adds: `logged`, and `weighted` for each slotted pair.
    """

    slotted: tuple[bool, ...]

    @property
    def columns(self) -> int:
        """Columns before those of slots."""
        return 2 + _PLAIN * len(self.slotted)

    @property
    def stride(self) -> int:
        """Sums of a block of slots."""
        return _LOGGED + _WEIGHTED * sum(self.slotted) if any(self.slotted) else 0

    def own(self, pair: int) -> int:
        """The first of the sums of a slotted pair within a block."""
        return _LOGGED + _WEIGHTED * sum(self.slotted[:pair])


@dataclass(frozen=True)
class EffectiveSizeTerms:
    """What some rows of a batch add to the sums. rewards: [n] logged reward, and clicks.

    found: of each pair its terms, and which of the two rewards it weighs. rows: those that count, None for all.
    """

    layout: EffectiveSizeLayout
    batch: LogBatch
    rewards: tuple[Floats, Floats]
    found: tuple[tuple[Terms, int], ...]
    rows: Integers | None = None

    def take(self, rows: Integers) -> EffectiveSizeTerms:
        """Some of the rows."""
        return replace(self, rows=rows if self.rows is None else self.rows[rows])

    def sum(self) -> Floats:
        """[columns or more] the sums."""
        batch, layout = self.batch, self.layout
        rows = np.arange(len(batch)) if self.rows is None else self.rows
        length, clicks, inverse = batch.contexts.length, batch.clicks, 1 / batch.inclusion
        out = np.zeros(layout.columns + layout.stride * blocks(batch.slates.shape[1]))
        out[:2] = [_kernels_slots.squares(rows, reward, inverse) for reward in self.rewards]
        if layout.stride:
            _kernels_slots.logged(rows, clicks, length, inverse, out, layout.columns, layout.stride, BLOCKS)
        for pair, (terms, earned) in enumerate(self.found):
            if terms.weights is None:
                continue
            weight, control, plain = terms.weights.weight, terms.weights.control, 2 + _PLAIN * pair
            if weight.ndim == 1:
                _kernels_slots.slates(rows, weight, control, self.rewards[earned], inverse, out, plain)
            elif layout.slotted[pair]:
                place = plain + 2, layout.columns + layout.own(pair), layout.stride, BLOCKS
                _kernels_slots.weighted(rows, weight, control, clicks, length, inverse, out, *place)
        return out


@dataclass(frozen=True)
class EffectiveSize:
    """What the sums of a log say of what estimates are worth. rows: sum of 1 / inclusion."""

    layout: EffectiveSizeLayout
    sums: Floats
    rows: float

    def variance(
        self, pair: int, weight: float, logged: tuple[float, int], *, normalised: bool, each_slot: bool
    ) -> float:
        """Of the reward of one impression of the target.

        weight: sum of the weights; logged: mean logged reward, and whether it is that (0) or clicks (1).
        """
        slots = self._slots(pair)
        if slots is not None:
            return slots.variance(self.rows, normalised=normalised, each_slot=each_slot)
        value, square, _ = self.sums[2 + _PLAIN * pair :][:_PLAIN] / weight
        found = float(square - value**2)
        if found < -1e-9 * abs(square):  # negative weights, of the pseudoinverse: then as much as in the log
            return float(self.sums[logged[1]] / self.rows - logged[0] ** 2)
        return found if found > 1e-12 * abs(square) else 0.0

    def kish(self, pair: int, weight: float) -> float:
        """(sum of weights)^2 / sum of squared weights, of slates or of slots; then per impression."""
        squares, slots = float(self.sums[2 + _PLAIN * pair + 2]), self._slots(pair)
        if slots is None:
            return weight**2 / squares
        return float(slots.control.sum() ** 2 / squares / (slots.number.sum() / self.rows))

    def _slots(self, pair: int) -> Slots | None:
        """The sums of a pair that weighs clicks."""
        if not self.layout.slotted[pair]:
            return None
        by_block = self.sums[self.layout.columns :].reshape(-1, self.layout.stride)
        own = self.layout.own(pair)
        found = Slots(*by_block[:, :_LOGGED].T, *by_block[:, own : own + _WEIGHTED].T)
        return found if found.control.any() else None


def worth(variance: float, standard_error: float, kish: float, *, known: bool) -> float:
    """Effective sample size: impressions of the target that would tell its value with this standard error.

    variance: of the reward of one such impression. kish: effective number of weights, which answers where there is
    no variance or no error, and bounds what is not `known`: by luck too little may have been seen of both.
    """
    if not (variance > 0 and 0 < standard_error < math.inf):
        return kish
    found = variance / standard_error**2
    return found if known else min(found, kish)


def _ratio(top: Floats, bottom: Floats) -> Floats:
    return np.divide(top, bottom, out=np.zeros_like(top), where=bottom != 0)
