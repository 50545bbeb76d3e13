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

from ..findings.evidence_log import Shown
from ..log.batch import Floats, Integers, LogBatch
from ..log.source import Needs
from ..policies.base import all_items
from ..policies.propensities import AnyPolicy, law, law_needs
from .sampled import CELLS, KEPT, SampledRows, SampledRowsFold

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
class Counts:
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


@dataclass(frozen=True)
class CalibrationFold:
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

    def empty(self) -> SampledRows:
        return self._rows.empty()

    def add(self, state: SampledRows, batch: LogBatch) -> SampledRows:
        return self._rows.add(state, batch)

    def merge(self, left: SampledRows, right: SampledRows) -> SampledRows:
        return self._rows.merge(left, right)

    def finish(self, state: SampledRows) -> Shown | None:
        """The comparison that is furthest off, None where there is nothing to compare.

        Raises:
            AbilityError: the policy cannot tell the probability of an item at a rank in these contexts.
        """
        if not len(state):
            return None
        probs = law(self.logging, "rank_probs").rank_probs(state.contexts, all_items(state.contexts))
        found = list(_compared(state, probs))
        worst = min(found, key=lambda shown: (shown.chance, -abs(shown.observed - shown.expected)))
        whole = _of_slates(state, probs)
        # In words a count says more than a sum of logarithms.
        return worst if worst.chance <= whole else replace(worst, chance=whole)

    @property
    def _rows(self) -> SampledRowsFold:
        return SampledRowsFold(self.needs(), self.kept, cells=self.cells)


def bennett(away: Floats, variance: Floats, most: float) -> Floats:
    """P(S >= away) at most, for a sum S of independent variables of mean 0, none above `most`, of this variance.

    exp(-v / b^2 h(b a / v)) with h(u) = (1 + u) log(1 + u) - u; Bennett (1962).
    """
    variance = np.maximum(variance, 1e-12)
    u = most * away / variance
    return np.asarray(np.exp(-variance / most**2 * ((1 + u) * np.log1p(u) - u)))


def _compared(rows: SampledRows, probs: Floats) -> Iterator[Shown]:
    """The worst comparison of each kind. probs: [n, m, k] of every candidate."""
    h = 1 / rows.inclusion
    most = float(h.max())
    stood = np.zeros(probs.shape, np.bool_)
    row, rank = np.nonzero(rows.slates >= 0)
    stood[row, rows.slates[row, rank], rank] = True
    yield from _lifts(rows, probs, stood, h, most)
    codes, place = _codes(rows)
    whole = np.minimum(probs.sum(axis=2), 1.0)
    yield from _items(whole, np.asarray(stood.any(axis=2)), h, most, codes, place, None, _SHARES["item"])
    ranks = min(RANKS, probs.shape[2])
    for top in range(ranks):
        one, share = (probs[:, :, top], stood[:, :, top]), _SHARES["place"] / ranks
        yield from _items(*one, h, most, codes, place, top + 1, share)


def _of_slates(rows: SampledRows, probs: Floats) -> float:
    """The chance of sums of log-probabilities that are so far off, over whole slates."""
    lifted = np.log(np.maximum(probs * rows.contexts.size[:, None, None], _LEAST_LIFT))
    filled = (np.arange(probs.shape[2]) < rows.contexts.length[:, None])[:, None, :]
    mean = (lifted * filled).sum(axis=2, keepdims=True) / np.maximum(filled.sum(axis=2, keepdims=True), 1)
    return min(_of_sum(rows, probs, value * filled) for value in (lifted, lifted - mean)) / (_SHARES["slate"] / 2)


def _of_sum(rows: SampledRows, probs: Floats, value: Floats) -> float:
    """The chance of a sum of `value` [n, m, k] over what was shown that is so far from its expectation."""
    h, expected = 1 / rows.inclusion, (probs * value).sum(axis=1)
    alone = np.maximum((probs * value**2).sum(axis=1) - expected**2, 0)
    inside = np.arange(value.shape[1]) < rows.contexts.size[:, None]
    highest = np.where(inside[:, :, None], value, -np.inf).max(axis=1) - expected
    lowest = expected - np.where(inside[:, :, None], value, np.inf).min(axis=1)
    row, rank = np.nonzero(rows.slates >= 0)
    away = np.zeros(expected.shape)
    away[row, rank] = (value[row, rows.slates[row, rank], rank] - expected[row, rank]) * h[row]
    each = away.sum(axis=1)
    most = float((np.maximum(highest, lowest).sum(axis=1) * h).max())
    if not most > _DUST:
        return 1.0
    # Of each rank the variance is exact; how ranks go together, only the rows tell.
    variance = np.maximum(each @ each, (h**2 * alone.sum(axis=1)).sum())
    return min(2 * float(bennett(np.abs(each.sum()), variance, most)), 1.0)


def _lifts(rows: SampledRows, probs: Floats, stood: Flags, h: Floats, most: float) -> Iterator[Shown]:
    ranks = min(RANKS, probs.shape[2])
    probs, stood = probs[:, :, :ranks], stood[:, :, :ranks]
    lifted = probs * rows.contexts.size[:, None, None]
    share = _SHARES["lift"] / (ranks * len(LIFTS))
    for lift in LIFTS:
        among = lifted >= lift * _ROUNDING
        expected = np.clip((probs * among).sum(axis=1), 0, 1)
        counts = _count(expected, np.asarray((stood & among).any(axis=1)), h[:, None])
        chance = np.minimum(counts.chance(most) / share, 1.0)
        worst = int(chance.argmin())
        found = float(counts.observed[worst]), float(counts.expected[worst]), float(chance[worst])
        yield Shown(worst + 1, *found, lift=lift)


def _items(
    probs: Floats,
    stood: Flags,
    h: Floats,
    most: float,
    codes: Integers,
    place: Integers,
    rank: int | None,
    share: float,
) -> Iterator[Shown]:
    """The worst item. probs, stood: [n, m] of each candidate; place: [n, m] of its code in `codes`, -1 for none."""
    row, column = np.nonzero(place >= 0)
    q, y, weight, where = probs[row, column], stood[row, column], h[row], place[row, column]
    terms = (weight * y, weight * q, weight**2 * q * (1 - q), weight**2 * (y - q) ** 2)
    counts = Counts(*(np.bincount(where, term, len(codes)).astype(np.float64) for term in terms))
    part = share * counts.expected / max(float(counts.expected.sum()), 1e-12)
    chance = np.minimum(np.divide(counts.chance(most), part, out=np.ones(len(codes)), where=part > 0), 1.0)
    worst = int(chance.argmin())
    found = float(counts.observed[worst]), float(counts.expected[worst]), float(chance[worst])
    yield Shown(rank, *found, item=int(codes[worst]))


def _count(q: Floats, y: Flags, h: Floats) -> Counts:
    """Of rows [n, c], each of which adds 1 with probability q."""
    return Counts(*(term.sum(axis=0) for term in (h * y, h * q, h * h * q * (1 - q), h * h * (y - q) ** 2)))


def _codes(rows: SampledRows) -> tuple[Integers, Integers]:
    """The items, and [n, m] the place of each candidate among them; -1 beyond a row's candidates."""
    candidates = rows.contexts.candidates
    inside = np.arange(candidates.shape[1]) < rows.contexts.size[:, None]
    codes, place = np.unique(candidates[inside], return_inverse=True)
    found = np.full(candidates.shape, -1)
    found[inside] = place
    return codes, found
