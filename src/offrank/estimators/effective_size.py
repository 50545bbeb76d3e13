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

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from ..log.batch import Floats, Integers, LogBatch
from ..sums.base import Fold, Sample
from ..sums.mean import Name
from ..sums.named_sums import ByName, NamedColumns
from . import _kernels_slots
from .base import Terms

ROUNDING = 1e-6
"""A reward is the sum of the clicks if both are apart by at most this share of the larger one: a column of 32 bits has
seven digits, and the order of a sum changes the last ones."""
BLOCKS = 20
"""The slots from this rank on are summed as one block."""


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


MARKS = tuple(f"rows with {one.name}" for one in fields(Marks))
"""The columns of these counts among the sums of a log."""


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


LOGGED = ("number", "clicks", "above")
WEIGHTED = ("control", "value", "square", "pair", "beside")
"""Sums by block of slots, as logged, and of each pair whose clicks are weighted."""


SQUARES: dict[Name, Name] = {outcome: f"{outcome} squares" for outcome in ("reward", "clicks")}
"""The columns of the squares of the logged outcomes."""


def columns_without_moments(slotted: Sequence[bool]) -> NamedColumns:
    """The names of the sums of which no moments are taken, each but MARKS divided by the inclusion probability.

    `SQUARES`: of the logged reward, and of an impression's logged clicks. MARKS: how many rows have what. For each pair
    of target and estimator the weighted reward (earned) and its weighted square, and the squared weights, summed over
    slots. By block of slots LOGGED, and WEIGHTED of each pair that weights clicks. slotted: whether a pair does.
    """
    pairs = range(len(slotted))
    once = [f"{name} {pair}" for pair in pairs for name in ("earned", "squared", "weights")]
    in_slots = [f"{name} {pair}" for pair in pairs if slotted[pair] for name in WEIGHTED]
    return NamedColumns((*SQUARES.values(), *MARKS, *once), (*LOGGED, *in_slots) if any(slotted) else ())


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
        length, clicks, inverse = log.contexts.length, log.clicks, log.inverse_inclusion
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
    """Effective sample sizes from sums of a log. rows: sum of 1 / inclusion. marks: what was counted of the rows."""

    sums: ByName
    rows: float
    marks: Marks

    def variance(
        self, pair: int, weight: float, logged: float, outcome: Name, normalised: bool, each_slot: bool
    ) -> float:
        """Variance of the reward of one impression of the target.

        weight: sum of the weights; logged: mean of the outcome as logged.
        """
        slots = self._slots(pair) if self.sums.columns.in_blocks else None
        if slots is not None:
            return slots.variance(self.rows, normalised=normalised, each_slot=each_slot)
        value, square = (float(self.sums[f"{name} {pair}"]) / weight for name in ("earned", "squared"))
        found = float(square - value**2)
        if found < -1e-9 * abs(square):  # negative weights of the pseudoinverse: use the logged variance
            return float(self.sums[SQUARES[outcome]]) / self.rows - logged**2
        return found if found > 1e-12 * abs(square) else 0.0

    def kish(self, pair: int, weight: float) -> float:
        """(sum of weights)^2 / sum of squared weights, over slates or, per impression, over slots."""
        squares = float(self.sums[f"weights {pair}"])
        slots = self._slots(pair) if self.sums.columns.in_blocks else None
        if slots is None:
            return weight**2 / squares
        return float(slots.control.sum() ** 2 / squares / (slots.number.sum() / self.rows))

    def heavy_slots(self, pair: int, squares: float) -> tuple[float, float]:
        """Slots of an impression, and how many of them are heavy where its mean weight is; 1 and 1 of whole slates.

        squares: sum of the squared mean weights of impressions. One heavy slot has the square of all, equal ones less.
        """
        found = self._slots(pair)
        if found is None:
            return 1.0, 1.0
        slots = float(found.number.sum()) / self.rows
        alike = slots * squares / float(self.sums[f"weights {pair}"])
        return slots, min(max(slots * alike, 1.0), slots)

    def _slots(self, pair: int) -> Slots | None:
        """The sums of a pair that weights clicks; None of another one, or where no row has a weight."""
        if f"control {pair}" not in self.sums.columns.places:
            return None
        weighted = (self.sums[f"{name} {pair}"] for name in WEIGHTED)
        found = Slots(*(self.sums[name] for name in LOGGED), *weighted)
        return found if found.control.any() else None


def _ratio(top: Floats, bottom: Floats) -> Floats:
    return np.divide(top, bottom, out=np.zeros_like(top), where=bottom != 0)
