"""Calibration of a logging policy: is every item shown as often as its law says, whatever the candidates?

For each rank, take the items that the policy shows there at least `lift` times as often as a uniform one: count the
rows with one of them there, and the expected number. Likewise each item, at each rank and at any. Given its context,
a row adds 1 with a known probability q, so that the count has the mean sum(q) and the variance sum(q (1 - q)), exactly;
rows are independent. No asymptotics are needed: Bennett's inequality bounds the probability of such a deviation.

Two sums over whole slates detect small errors at many ranks: of the log-probability of each item at its rank,
and of its excess over the item's mean over the ranks (which swaps lower). Their mean is exact too, and their
variance is the larger of the one between rows and the one for independent ranks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ..errors import AbilityError
from ..findings.evidence import Frequency
from ..log.batch import Floats, Integers
from ..log.source import Needs
from ..policies.base import all_items
from ..policies.propensities import AnyPolicy, law, law_needs
from ..sums.base import MappedFold
from ..sums.sampled import CELLS, KEPT, LARGEST_ROW, SampledRows, SampledRowsFold

Flags = NDArray[np.bool_]

LIFTS = (1e-6, 0.1, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0)
RANKS = 10
"""Ranks that are compared, from the top; one rank is informative about those below."""
_ROUNDING = 1 - 1e-6
"""Equal probabilities up to rounding, in whatever order they were computed."""
_DUST = 1e-9
_LEAST_LIFT = 0.05
"""Less likely items count as this likely in sums of log-probabilities, so that no single row dominates."""
_SHARES = {"lift": 0.3, "item": 0.25, "place": 0.25, "slate": 0.2}
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

    def chance(self, most: float) -> Floats:
        """Bound the probability of such a deviation [c]. most: the largest h.

        The binomial variance is exact if no row was left out; omission may depend on the clicks.
        """
        away = np.abs(self.observed - self.expected)
        variance = self.binomial if most == 1 else np.maximum(self.binomial, self.empirical)
        return np.minimum(2 * bennett(away, variance, most), 1.0)

    def worst(self, most: float, shares: Floats) -> tuple[int, tuple[float, float, float]]:
        """Return the comparison with the largest deviation: observed, expected, chance. shares [c]: of false alarms."""
        alone = self.chance(most)
        chance = np.divide(alone, shares, out=np.ones(len(shares)), where=alone < shares)  # at most 1
        worst = _least(chance)
        return worst, (float(self.observed[worst]), float(self.expected[worst]), float(chance[worst]))


@dataclass(frozen=True)
class CalibrationFold(MappedFold):
    """Compares the shown items with a law over any slate, in a sample of the rows."""

    logging: AnyPolicy
    kept: int = KEPT
    cells: int = field(default=CELLS, kw_only=True)

    def needs(self) -> Needs:
        """The columns that the policy reads.

        Raises:
            AbilityError: it cannot compute the probability of an item at a rank.
        """
        return law_needs(self.logging, "rank_probs") | Needs(frozenset(["candidates"]))

    @property
    def reducer(self) -> SampledRowsFold:
        return SampledRowsFold(self.needs(), self.kept, cells=self.cells)

    def result(self, state: SampledRows) -> Frequency | None:
        """Return the comparison with the largest deviation, None if there is nothing to compare.

        Raises:
            AbilityError: the policy cannot compute the probability of an item at a rank in these contexts, or all of
                them are too large.
        """
        if not len(state):
            if state.read:
                raise AbilityError(
                    f"all {state.read:,} impressions have more than {LARGEST_ROW:,} pairs of a candidate and a rank",
                    "log fewer candidates, or only the first slots",
                )
            return None
        probs = law(self.logging, "rank_probs").rank_probs(state.contexts, all_items(state.contexts))
        found = list(_compared(state, probs))
        worst = found[_least(np.array([shown.chance for shown in found]))]
        whole = _of_slates(state, probs)
        # In words a count is clearer than a sum of logarithms.
        return replace(worst, chance=min(worst.chance, whole), untested=state.large)


def bennett(away: Floats, variance: Floats, most: float) -> Floats:
    """Bound P(S >= away) for a sum S of independent variables of mean 0, each at most `most`, with this variance.

    exp(-v / b^2 h(b a / v)) with h(u) = (1 + u) log(1 + u) - u; Bennett (1962).
    """
    variance = np.maximum(variance, 1e-12)
    u = most * away / variance
    return np.asarray(np.exp(-variance / most**2 * ((1 + u) * np.log1p(u) - u)))


def _compared(rows: SampledRows, probs: Floats) -> Iterator[Frequency]:
    """Return the worst comparison of each kind. probs: [n, m, k] of every candidate."""
    h, ranks = 1 / rows.inclusion, min(RANKS, probs.shape[2])
    most = float(h.max())
    yield from _lifts(rows, probs, h, most, ranks)
    codes, place = _codes(rows)
    row, item = np.nonzero(place >= 0)
    place, h = place[row, item], h[row]
    seen = (rows.slates[row] == item[:, None]).astype(float)
    anywhere = np.minimum(probs[row, item].sum(axis=1), 1.0), seen.sum(axis=1)
    yield _worst_item(_by_item(place, *anywhere, h), most, codes, None, _SHARES["item"])
    for rank in range(ranks):
        counts = _by_item(place, probs[row, item, rank], seen[:, rank], h)
        yield _worst_item(counts, most, codes, rank + 1, _SHARES["place"] / ranks)


def _by_item(place: Integers, q: Floats, seen: Floats, h: Floats) -> ShownCounts:
    """Return the counts of each item, from candidates [n] whose index among the items is `place`."""
    return ShownCounts(*(np.bincount(place, each).astype(float) for each in _terms(q, seen, h)))


def _terms(q: Floats, seen: Floats, h: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return what rows add to the fields of `ShownCounts`."""
    return h * seen, h * q, h**2 * q * (1 - q), h**2 * (seen - q) ** 2


def _of_slates(rows: SampledRows, probs: Floats) -> float:
    """Bound the probability of the deviation in sums of log-probabilities over whole slates."""
    size, length = rows.contexts.size, rows.contexts.length
    slots = np.arange(probs.shape[2]) < length[:, None]
    inside = (np.arange(probs.shape[1]) < size[:, None])[:, :, None] & slots[:, None, :]
    value = np.log(np.maximum(probs * size[:, None, None], _LEAST_LIFT), out=np.zeros(probs.shape), where=inside)
    by_item = (value.sum(axis=2) / np.maximum(length, 1)[:, None])[:, :, None]
    found = (_log_sums(rows, probs, inside, each) for each in (value, np.where(inside, value - by_item, 0.0)))
    return min(_of_sum(*sums) for sums in found) / (_SHARES["slate"] / 2)


def _log_sums(rows: SampledRows, probs: Floats, inside: Flags, value: Floats) -> tuple[float, float, float, float]:
    """Sum the value [n, m, k] of each shown item at its rank, minus its expectation. inside: what is not a pad.

    Returns the sum, its variance by rows, its variance if ranks are independent, and the maximum term of a row.
    """
    h, expected = 1 / rows.inclusion, np.where(inside, probs, 0.0) * value
    mean, square = expected.sum(axis=1), (expected * value).sum(axis=1)
    high = np.where(inside, value, -np.inf).max(axis=1)
    low = np.where(inside, value, np.inf).min(axis=1)
    slots = inside.any(axis=1)
    widest = np.where(slots, np.maximum(high - mean, mean - low), 0.0).sum(axis=1)
    shown = np.take_along_axis(value, np.maximum(rows.slates, 0)[:, None, :], axis=1)[:, 0]
    each = np.where(slots & (rows.slates >= 0), shown - mean, 0.0).sum(axis=1) * h
    alone = (h[:, None] ** 2 * np.maximum(square - mean**2, 0.0)).sum()
    return float(each.sum()), float((each**2).sum()), float(alone), float((widest * h).max())


def _of_sum(total: float, by_rows: float, alone: float, most: float) -> float:
    """Bound the probability of a sum's deviation from its expectation. most: the largest term of a row."""
    if not most > _DUST:
        return 1.0
    # Each rank's variance is exact; the covariance of ranks is known only from the rows.
    return min(2 * float(bennett(np.abs(total), np.maximum(by_rows, alone), most)), 1.0)


def _lifts(rows: SampledRows, probs: Floats, h: Floats, most: float, ranks: int) -> Iterator[Frequency]:
    size, n, reached = rows.contexts.size, len(rows), len(LIFTS) + 1
    lifts, sums = np.array(LIFTS) * _ROUNDING, np.zeros((4, len(LIFTS), ranks))
    inside, row = np.arange(probs.shape[1]) < size[:, None], np.arange(n)
    for rank in range(ranks):
        q, shown = probs[:, :, rank], rows.slates[:, rank]
        times = np.where(inside, q * size[:, None], 0.0)
        level = sum((times >= lift for lift in lifts), np.zeros(times.shape, np.int64))  # faster than a binary search
        mass = np.bincount((row[:, None] * reached + level).ravel(), q.ravel(), minlength=n * reached)
        expected = mass.reshape(n, reached)[:, :0:-1].cumsum(axis=1)[:, ::-1]
        seen = np.where(shown >= 0, level[row, shown], 0)[:, None] > np.arange(len(LIFTS))
        terms = _terms(np.minimum(expected, 1.0), seen.astype(float), h[:, None])
        sums[:, :, rank] = [each.sum(axis=0) for each in terms]
    share = _SHARES["lift"] / (ranks * len(LIFTS))
    for place, lift in enumerate(LIFTS):
        worst, found = ShownCounts(*sums[:, place]).worst(most, np.full(ranks, share))
        yield Frequency(worst + 1, *found, lift=lift)


def _worst_item(counts: ShownCounts, most: float, codes: Integers, rank: int | None, share: float) -> Frequency:
    """Return the item with the largest deviation; items share the false alarms by expected count."""
    worst, found = counts.worst(most, share * counts.expected / max(float(counts.expected.sum()), 1e-12))
    return Frequency(rank, *found, item=int(codes[worst]))


def _least(chance: Floats) -> int:
    """Return the index of the first minimum, up to rounding."""
    return int(np.argmax(chance <= chance.min() * (1 + 1e-6)))


def _codes(rows: SampledRows) -> tuple[Integers, Integers]:
    """Return the items, and [n, m] the index of each candidate among them; -1 beyond a row's candidates."""
    candidates = rows.contexts.candidates
    inside = np.arange(candidates.shape[1]) < rows.contexts.size[:, None]
    codes, place = np.unique(candidates[inside], return_inverse=True)
    found = np.full(candidates.shape, -1)
    found[inside] = place
    return codes, found
