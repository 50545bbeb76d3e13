"""Calibration of a logging policy: is every item shown as often as its law says, whatever the candidates?

For each rank, take the items that the policy shows there at least `lift` times as often as a uniform one: count the
rows with one of them there, and the expected number. Likewise each item, at each rank and at any. Given its context,
a row adds 1 with a known probability q, so that the count has the mean sum(q) and the variance sum(q (1 - q)), exactly;
rows are independent. No asymptotics are needed: Bennett's inequality bounds the probability of such a deviation.

All items of a rank together detect what no single one of many shows, such as an unknown ranker behind a log that is
taken for uniform. Their counts are negatively associated, and each is below a Poisson variable in the convex order;
so is their likelihood ratio where they are too high, sum(O log(O / E) - O + E): Chernoff's inequality bounds
its tail.

Two sums over whole slates detect small errors at many ranks: of the log-probability of each item at its rank,
and of its excess over the item's mean over the ranks (which swaps lower). Their mean is exact too, and their
variance is the larger of the one between rows and the one for independent ranks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..errors import AbilityError
from ..findings.log import UNLIKELY, Frequency
from ..log.batch import Floats, LogBatch
from ..log.source import Needs
from ..policies.base import Policy, all_items
from ..sums.base import Fold
from ..sums.sampled import CELLS, KEPT, LARGEST_ROW, SampledRows, SampledRowsFold
from . import _kernels_calibration

LIFTS = (1e-6, 0.1, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0)
TILTS = (0.1, 0.5)
"""t of Chernoff's bound: the small one finds a small deviation of thousands of items, the large one that of some."""
RANKS = 10
"""Ranks that are compared, from the top; one rank is informative about those below."""
_ROUNDING = 1 - 1e-6
"""Equal probabilities up to rounding, in whatever order they were computed."""
_DUST = 1e-9
_LEAST_LIFT = 0.05
"""Less likely items count as this likely in sums of log-probabilities, so that no single row dominates."""
_SHARES = {"lift": 0.3, "item": 0.2, "place": 0.2, "slate": 0.2, "all": 0.1}
"""Share of the false alarms for each kind of comparison; within a kind, items share it by expected count."""


@dataclass(frozen=True)
class ShownCounts:
    """Counts of many comparisons [c], with h = 1 / inclusion: observed and expected rows, variance of the observed.

    binomial: sum of h^2 q (1 - q); empirical: sum of h^2 (y - q)^2.
    """

    observed: Floats
    expected: Floats
    binomial: Floats
    empirical: Floats

    def worst(self, most: float, shares: Floats) -> tuple[int, tuple[float, float, float]]:
        """Return the comparison with the largest deviation: observed, expected, and a bound of its probability.

        The binomial variance is exact if no row was left out; omission may depend on the clicks. most: the largest h.
        shares [c]: of false alarms.
        """
        variance = self.binomial if most == 1 else np.maximum(self.binomial, self.empirical)
        alone = np.minimum(2 * bennett(np.abs(self.observed - self.expected), variance, most), 1.0)
        chance = np.divide(alone, shares, out=np.ones(len(shares)), where=alone < shares)  # at most 1
        worst = _least(chance)
        return worst, (float(self.observed[worst]), float(self.expected[worst]), float(chance[worst]))


@dataclass(frozen=True)
class CalibrationFold(Fold):
    """Compares the shown items with a law over any slate, in a sample of the rows."""

    logging: Policy
    kept: int = KEPT
    cells: int = field(default=CELLS, kw_only=True)

    def needs(self) -> Needs:
        """The columns that the policy reads.

        Raises:
            AbilityError: it cannot compute the probability of an item at a rank.
        """
        return self.logging.reads("rank_probs") | Needs(frozenset(["candidates"]))

    @property
    def sampled(self) -> SampledRowsFold:
        """The fold that keeps them."""
        return SampledRowsFold(self.needs(), self.kept, cells=self.cells)

    def add(self, part: Any, batch: LogBatch) -> Any:
        return self.sampled.add(part, batch)

    def result(self, part: Any) -> Frequency | None:
        """Return the comparison with the largest deviation, None if there is nothing to compare; also of sampled rows.

        Raises:
            AbilityError: the policy cannot compute the probability of an item at a rank in these contexts, or all of
                them are too large.
        """
        state: SampledRows = part if isinstance(part, SampledRows) else self.sampled.result(part)
        if not state.key.size:
            if state.read:
                raise AbilityError(
                    f"all {state.read:,} impressions have more than {LARGEST_ROW:,} pairs of a candidate and a rank",
                    "log fewer candidates, or only the first slots",
                )
            return None
        probs = self.logging.law("rank_probs").rank_probs(state.contexts, all_items(state.contexts))
        found = list(_compared(state, probs))
        whole = _of_slates(state, probs)
        # Items that can be named say more than all together: these are told where nothing else refutes the policy.
        least = 1.0 if whole < UNLIKELY else UNLIKELY / 2
        told = np.array([max(one.chance, least if one.items else 0.0) for one in found])
        worst = found[_least(told)]
        # In words a count is clearer than a sum of logarithms.
        return replace(worst, chance=min(worst.chance, whole), untested=state.large)


def bennett(away: Floats, variance: Floats, most: Floats | float) -> Floats:
    """Bound P(S >= away) for a sum S of independent variables of mean 0, each at most `most`, with this variance.

    exp(-v / b^2 h(b a / v)) with h(u) = (1 + u) log(1 + u) - u; Bennett (1962).
    """
    variance = np.maximum(variance, 1e-12)
    u = most * away / variance
    return np.asarray(np.exp(-variance / most**2 * ((1 + u) * np.log1p(u) - u)))


def _compared(rows: SampledRows, probs: Floats) -> Iterator[Frequency]:
    """Return the worst comparison of each kind. probs: [n, m, k] of every candidate."""
    h, size, ranks = 1 / rows.inclusion, rows.contexts.size, min(RANKS, probs.shape[2])
    most, each = float(h.max()), np.zeros((ranks, 4, len(LIFTS)))
    _kernels_calibration.count_lifts(probs, size, rows.slates, h, np.array(LIFTS) * _ROUNDING, each)
    shares = np.full(ranks, _SHARES["lift"] / (ranks * len(LIFTS)))
    for place, lift in enumerate(LIFTS):
        worst, found = ShownCounts(*each[:, :, place].T).worst(most, shares)
        yield Frequency(worst + 1, *found, lift=lift)
    candidates = rows.contexts.candidates
    inside, places = np.arange(candidates.shape[1]) < size[:, None], np.full(candidates.shape, -1)
    codes, places[inside] = np.unique(candidates[inside], return_inverse=True)
    each = np.zeros((1 + ranks, 4, len(codes)))
    _kernels_calibration.count_items(probs, places, size, rows.slates, h, each)
    for rank in range(1 + ranks):
        counts = ShownCounts(*each[rank])
        share = _SHARES["place"] / ranks if rank else _SHARES["item"]  # items share it by expected count
        shares = share * counts.expected / max(float(counts.expected.sum()), 1e-12)
        worst, found = counts.worst(most, shares)
        yield Frequency(rank or None, *found, item=int(codes[worst]))
    if most == h.min() == 1:
        yield from _all_items(each[1:, 0], each[1:, 1])


def _of_slates(rows: SampledRows, probs: Floats) -> float:
    """Bound the probability of the deviation in sums of log-probabilities over whole slates."""
    found, contexts = np.zeros((2, 4)), rows.contexts
    inside = contexts.size, contexts.length, rows.slates
    _kernels_calibration.slate_sums(probs, *inside, 1 / rows.inclusion, _LEAST_LIFT, found)
    total, by_rows, alone, most = found[found[:, 3] > _DUST].T
    # Each rank's variance is exact; the covariance of ranks is known only from the rows.
    chance = 2 * bennett(np.abs(total), np.maximum(by_rows, alone), most)
    return float(chance.min(initial=1.0)) / (_SHARES["slate"] / 2)


def _all_items(observed: Floats, expected: Floats) -> Iterator[Frequency]:
    """Compare all items of each rank together: those of too many rows, of counts [ranks, items].

    P(G >= g) <= exp(-t g) prod E exp(t G_i) for each t below 1 (Chernoff). Of a Poisson variable of mean E the factor
    is at most (1 + (1 - t)^-1/2) / 2, its limit for large E, and exp(E^(1 - t) e^-t).
    """
    tilt = np.array(TILTS)[:, None]
    for rank, (seen, mean) in enumerate(zip(observed, expected, strict=True), 1):
        high = seen > mean
        ratio = float(np.sum(seen[high] * np.log(seen[high] / np.maximum(mean[high], _DUST)) - seen[high] + mean[high]))
        factors = np.minimum(np.log1p(((1 - tilt) ** -0.5 - 1) / 2), mean ** (1 - tilt) * np.exp(-tilt)).sum(axis=1)
        least = float(np.min(factors - tilt[:, 0] * ratio, initial=0.0))
        chance = len(tilt) * len(observed) / _SHARES["all"] * float(np.exp(least))
        yield Frequency(rank, float(seen[high].sum()), float(mean[high].sum()), min(chance, 1.0), items=len(mean))


def _least(chance: Floats) -> int:
    """Return the index of the first minimum, up to rounding."""
    return int(np.argmax(chance <= chance.min() * (1 + 1e-6)))
