"""What a grade earns at a rank, learnt from weighted clicks, and how much more a click of it stands for.

A cell is a level of grades at a rank. Of each, four sums are known: weighted clicks A and weights B of logged slots,
and how often the target shows such items where logging may show them (E) and where it never does (U). The rate of a
cell is a factor of its level, rising with the grade, times one of its rank, so that both have the sums of A. A click
of the cell also stands for items that were never logged: omega times, a product of the same form by which omega times
what E earns has the sums of what U earns. So an error of the rates enters times one of omega.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..findings.row import GradeRow
from ..log.batch import Floats, Integers

QUERY_PARTS = 5
"""Parts of the queries; each is judged by what was learnt from the others."""
_ROUNDS, _CLOSE, _MISSED = 200, 1e-12, 1e-3
_FINE = 8.0
"""Bins of the logging probability for each halving of it."""
_RARE = 1 / 3
"""Share of the target's logged exposure that counts as rarely logged."""


@dataclass(frozen=True, eq=False)
class Rates:
    """Of each level and rank [l + 1, k] the rate, and omega; the last level are items that were not judged.

    by_rank: [k] the rate of all levels together.
    """

    rate: Floats
    omega: Floats
    by_rank: Floats


@dataclass(frozen=True, eq=False)
class Calibration:
    """What was learnt of one target. folds: for the queries of each part, from the others. whole: from all.

    sums: [4, l + 1, k] A, B, E and U of all. rare: the logging probability below which an item is logged rarely.
    seen: [t] whether a ranking has each judged pair among its candidates, and known: whether it has the query.
    """

    folds: tuple[Rates, ...]
    whole: Rates
    sums: Floats
    rare: float
    seen: Floats
    known: Floats

    def rows(self, values: Floats, impressions: float) -> tuple[GradeRow, ...]:
        """What each grade earns. values: [l] the grades. impressions: before sub-sampling."""
        logged, never = self.sums[2:]
        rate = _share((self.whole.rate * (logged + never)).sum(axis=1), (logged + never).sum(axis=1))
        shares = (one.sum(axis=1) / impressions for one in (logged, never))
        each = zip((*values.tolist(), None), *(one.tolist() for one in (rate, *shares)), strict=True)
        return tuple(GradeRow(*one) for one in each)


def rates_of(sums: Floats, *, ungraded: bool) -> Rates:
    """The rates by sums [4, l + 1, k]. ungraded: whether items that were not judged earn like logged ones of that kind.

    A level that was never logged earns like those next to it.
    """
    clicks, weights, logged, unlogged = sums
    factor, by_rank = raked(weights, clicks.sum(axis=1), clicks.sum(axis=0), rising)
    rate = factor[:, None] * by_rank
    _, pool = np.unique(factor[:-1], return_inverse=True)
    if len(known := np.flatnonzero(logged[:-1].any(axis=1))):  # what was never logged goes with the nearest that was
        pool = pool[known[np.abs(np.arange(len(pool))[:, None] - known).argmin(axis=1)]]
    pool = np.append(pool, pool.max(initial=-1) + 1)
    left = unlogged if ungraded else np.concatenate([unlogged[:-1], 0 * unlogged[-1:]])
    base, wanted = (_pooled(each * rate, pool) for each in (logged, left))
    wanted *= np.outer(base.any(axis=1), base.any(axis=0))
    row, column = raked(base, wanted.sum(axis=1), wanted.sum(axis=0))
    with np.errstate(all="ignore"):
        more = row[:, None] * column
    if not np.allclose((base * more).sum(axis=1), wanted.sum(axis=1), rtol=_MISSED):  # no such factors: without ranks
        more = np.repeat(_share(wanted.sum(axis=1), base.sum(axis=1))[:, None], len(column), axis=1)
    return Rates(rate, more[pool], _share(clicks.sum(axis=0), weights.sum(axis=0)))


def raked(
    base: Floats, rows: Floats, columns: Floats, smooth: Callable[[Floats, Floats], Floats] | None = None
) -> tuple[Floats, Floats]:
    """Factors [r] and [c] by which the products with base [r, c] have these sums of rows and columns.

    Iterative proportional fitting. smooth: what the factors of rows become, given these and their weights.
    """
    row, column = np.ones(len(rows)), np.ones(len(columns))
    with np.errstate(all="ignore"):  # where there are none, they run away
        for _ in range(_ROUNDS):
            weight = base @ column
            fresh = _share(rows, weight)
            fresh = fresh if smooth is None else smooth(fresh, weight)
            moved, row = np.abs(fresh - row).max(), fresh
            column = _share(columns, row @ base)
            if moved <= _CLOSE * np.abs(row).max():
                break
    return row, column


def rising(rates: Floats, weights: Floats) -> Floats:
    """The nearest rates [l + 1] that never fall but for the last, which is of no grade: pooled adjacent violators.

    A level without weight takes what lies between its neighbours; the last, then, the mean of all.
    """
    known = np.flatnonzero(weights[:-1] > 0)
    pools = list[tuple[float, float, int]]()
    for rate, weight in zip(rates[known].tolist(), weights[known].tolist(), strict=True):
        pools.append((rate, weight, 1))
        while len(pools) > 1 and pools[-2][0] >= pools[-1][0]:
            (one, much, many), (other, more, count) = pools.pop(), pools.pop()
            pools.append(((one * much + other * more) / (much + more), much + more, many + count))
    found = np.repeat([rate for rate, _, _ in pools], [count for _, _, count in pools])
    graded = np.interp(np.arange(len(rates) - 1), known, found) if len(known) else np.zeros(len(rates) - 1)
    alone = rates[-1] if weights[-1] > 0 else float(_share((rates * weights).sum(), weights.sum()))
    return np.append(graded, alone)


def calibrated(sums: Floats, bins: Floats, seen: Floats, known: Floats, *, ungraded: bool) -> Calibration:
    """From the sums of each part [f, 4, l + 1, k], and weights by bin of the logging probability."""
    whole = sums.sum(axis=0)
    others = (np.delete(sums, part, axis=0).sum(axis=0) for part in range(len(sums)))
    below = np.cumsum(bins[::-1])[::-1]  # the last bin has the smallest probabilities
    place = int(np.flatnonzero(below >= _RARE * below[0])[-1]) if bins.any() else 0
    rare = 2.0 ** (-place / _FINE)
    folds = tuple(rates_of(one, ungraded=ungraded) for one in others)
    return Calibration(folds, rates_of(whole, ungraded=ungraded), whole, rare, seen, known)


def bin_of(probability: Floats) -> Integers:
    """The bin of a logging probability: `_FINE` for each halving."""
    with np.errstate(divide="ignore"):
        return np.clip(-np.log2(probability) * _FINE, 0, 60 * _FINE).astype(np.int64)


def _pooled(cells: Floats, pool: Integers) -> Floats:
    """[p, k] the sums of the levels of each pool."""
    found = np.zeros((int(pool.max()) + 1, cells.shape[1]))
    np.add.at(found, pool, cells)
    return found


def _share(top: Floats, bottom: Floats) -> Floats:
    """top / bottom, 0 where there is nothing below."""
    return np.divide(top, bottom, out=np.zeros(np.shape(top)), where=np.asarray(bottom) > 0)
