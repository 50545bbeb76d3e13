"""Calibration of a logging policy: is everything shown as often as its law says, whatever the candidates?

For each rank, the items that the policy shows there at least `lift` times as often as a uniform one would: in how many
rows one of them stood there, and in how many it should. And each item, at each rank and at any. Given its context, each
row adds 1 with a known probability q, so that the count has the mean sum(q) and the variance sum(q (1 - q)), exactly;
rows are independent. No asymptotics are needed: Bennett's inequality bounds the chance that a count is so far off.

Two sums over whole slates see what is spread thinly over the ranks: of the log-probability of each item at its rank,
and of how much greater that is than the item's mean over the ranks (which swaps lower). Their mean is exact too, their
variance the larger of that of the rows and that of independent ranks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ..findings.evidence import Frequency
from ..folds.base import MappedFold
from ..folds.sampled import CELLS, KEPT, SampledRows, SampledRowsFold
from ..log.batch import Floats, Integers
from ..log.source import Needs
from ..policies.base import all_items
from ..policies.propensities import AnyPolicy, law, law_needs
from . import _kernels

Flags = NDArray[np.bool_]

LIFTS = (1e-6, 0.1, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0)
RANKS = 10
"""From the top; one rank tells of those below."""
_ROUNDING = 1 - 1e-6
"""Equal probabilities are equal whatever the order in which they were computed."""
_DUST = 1e-9
_LEAST_LIFT = 0.05
"""Items that are less likely count alike in sums of log-probabilities, which no single row may decide."""
_SHARES = {"lift": 0.3, "item": 0.25, "place": 0.25, "slate": 0.2}
"""Of the false alarms, for each kind of comparison; within a kind, items share them by how often they are expected."""


@dataclass(frozen=True)
class ShownCounts:
    """Of many comparisons [c], with h = 1 / inclusion: rows observed and expected, and the variance of the first.

    binomial: sum of h^2 q (1 - q); empirical: sum of h^2 (y - q)^2.
    """

    observed: Floats
    expected: Floats
    binomial: Floats
    empirical: Floats

    def chance(self, most: float) -> Floats:
        """[c] bound of the probability of being this far off. most: the largest h.

        The binomial variance is exact where no row was left out; what was left out may depend on the clicks.
        """
        away = np.abs(self.observed - self.expected)
        variance = self.binomial if most == 1 else np.maximum(self.binomial, self.empirical)
        return np.minimum(2 * bennett(away, variance, most), 1.0)

    def worst(self, most: float, shares: Floats) -> tuple[int, tuple[float, float, float]]:
        """The comparison that is furthest off: observed, expected, chance. shares [c]: of the false alarms."""
        chance = np.minimum(np.divide(self.chance(most), shares, out=np.ones(len(shares)), where=shares > 0), 1.0)
        worst = _least(chance)
        return worst, (float(self.observed[worst]), float(self.expected[worst]), float(chance[worst]))


@dataclass(frozen=True)
class CalibrationFold(MappedFold):
    """Compares what was shown with what a law over any slate says, in a sample of the rows."""

    logging: AnyPolicy
    kept: int = KEPT
    cells: int = field(default=CELLS, kw_only=True)

    def needs(self) -> Needs:
        """The columns that the policy reads.

        Raises:
            AbilityError: it cannot tell the probability of an item at a rank.
        """
        return law_needs(self.logging, "rank_probs") | Needs(frozenset(["candidates"]))

    @property
    def reducer(self) -> SampledRowsFold:
        return SampledRowsFold(self.needs(), self.kept, cells=self.cells)

    def told(self, state: SampledRows) -> Frequency | None:
        """The comparison that is furthest off, None where there is nothing to compare.

        Raises:
            AbilityError: the policy cannot tell the probability of an item at a rank in these contexts.
        """
        if not len(state):
            return None
        probs = law(self.logging, "rank_probs").rank_probs(state.contexts, all_items(state.contexts))
        found = list(_compared(state, probs))
        worst = found[_least(np.array([shown.chance for shown in found]))]
        whole = _of_slates(state, probs)
        # In words a count says more than a sum of logarithms.
        return worst if worst.chance <= whole else replace(worst, chance=whole)


def bennett(away: Floats, variance: Floats, most: float) -> Floats:
    """P(S >= away) at most, for a sum S of independent variables of mean 0, none above `most`, of this variance.

    exp(-v / b^2 h(b a / v)) with h(u) = (1 + u) log(1 + u) - u; Bennett (1962).
    """
    variance = np.maximum(variance, 1e-12)
    u = most * away / variance
    return np.asarray(np.exp(-variance / most**2 * ((1 + u) * np.log1p(u) - u)))


def _compared(rows: SampledRows, probs: Floats) -> Iterator[Frequency]:
    """The worst comparison of each kind. probs: [n, m, k] of every candidate."""
    h, size = 1 / rows.inclusion, rows.contexts.size
    most, ranks = float(h.max()), min(RANKS, probs.shape[2])
    yield from _lifts(rows, probs, h, most, ranks)
    codes, place = _codes(rows)
    sums = np.zeros((4, len(codes), ranks + 1))
    _kernels.item_counts(probs, rows.slates, place, size, h, sums)
    yield _worst_item(ShownCounts(*sums[:, :, ranks]), most, codes, None, _SHARES["item"])
    for rank in range(ranks):
        yield _worst_item(ShownCounts(*sums[:, :, rank]), most, codes, rank + 1, _SHARES["place"] / ranks)


def _of_slates(rows: SampledRows, probs: Floats) -> float:
    """The chance of sums of log-probabilities that are so far off, over whole slates."""
    size, length, h = rows.contexts.size, rows.contexts.length, 1 / rows.inclusion
    found = (_kernels.log_sums(probs, rows.slates, size, length, h, _LEAST_LIFT, centred) for centred in (False, True))
    return min(_of_sum(*sums) for sums in found) / (_SHARES["slate"] / 2)


def _of_sum(total: float, by_rows: float, alone: float, most: float) -> float:
    """The chance of a sum that is so far from its expectation. most: what one row can add."""
    if not most > _DUST:
        return 1.0
    # Of each rank the variance is exact; how ranks go together, only the rows tell.
    return min(2 * float(bennett(np.abs(total), np.maximum(by_rows, alone), most)), 1.0)


def _lifts(rows: SampledRows, probs: Floats, h: Floats, most: float, ranks: int) -> Iterator[Frequency]:
    share = _SHARES["lift"] / (ranks * len(LIFTS))
    sums = np.zeros((4, len(LIFTS), ranks))
    _kernels.lifted_counts(probs, rows.slates, rows.contexts.size, h, np.array(LIFTS) * _ROUNDING, sums)
    for place, lift in enumerate(LIFTS):
        worst, found = ShownCounts(*sums[:, place]).worst(most, np.full(ranks, share))
        yield Frequency(worst + 1, *found, lift=lift)


def _worst_item(counts: ShownCounts, most: float, codes: Integers, rank: int | None, share: float) -> Frequency:
    """The item that is furthest off; items share the false alarms by how often they are expected."""
    worst, found = counts.worst(most, share * counts.expected / max(float(counts.expected.sum()), 1e-12))
    return Frequency(rank, *found, item=int(codes[worst]))


def _least(chance: Floats) -> int:
    """The place of the first that is least, but for rounding."""
    return int(np.argmax(chance <= chance.min() * (1 + 1e-6)))


def _codes(rows: SampledRows) -> tuple[Integers, Integers]:
    """The items, and [n, m] the place of each candidate among them; -1 beyond a row's candidates."""
    candidates = rows.contexts.candidates
    inside = np.arange(candidates.shape[1]) < rows.contexts.size[:, None]
    codes, place = np.unique(candidates[inside], return_inverse=True)
    found = np.full(candidates.shape, -1)
    found[inside] = place
    return codes, found
