"""Compiled loops of mutual information in quantile bins; see `binned`."""

from __future__ import annotations

import math

import numpy as np

from ...language.compiled import jit

PER_CELL = 6
"""Documents per cell needed by the correction: below 4, it is biased at strong dependence (benchmarks/cmip.py)."""

EXPECTED = (0.9, 0.5)
DECAY = 0.42
"""Ratio of successive increments of information per doubling, for 4, 8 and more bins: that of a Gaussian
copula, nearly the same for any correlation (.41 to .44 beyond 8 bins). Bounded smooth densities have down to 1/4."""

INCREMENT_NOISE = 1.7
"""Standard deviation of the corrected increments under independence, in units of sqrt(cells / 2) / documents."""

CLEAR_DEVIATION = 12.0
"""An increment this many noise variances from the expected one (3.5 deviations) is not shrunk. There are some
25 increments: at 6, one log in three had one by chance, and twice the spread if the truth is 0."""


@jit
def informations(x, y, orders, logs):
    """[draws, orders] the information of each row of x [draws, n] and y [n] in each order [orders, n].

    x and y are ranks, from 0. logs: Grassberger's G at 0, ..., at least n.
    """
    found, middle = np.empty((len(x), len(orders))), _quantiles(y)
    for draw in range(len(x)):
        found[draw] = _climbed(x[draw], y, orders, _quantiles(x[draw]), middle, logs)
    return found


@jit
def _quantiles(ranks):
    """[most + 1] the mean quantile of each rank; -1 where no document has it."""
    held, below = np.bincount(ranks), 0
    found = np.empty(len(held))
    for rank in range(len(held)):
        below += held[rank]
        found[rank] = (below - held[rank] / 2) / len(ranks) if held[rank] > 0 else -1.0
    return found


@jit
def _climbed(x, y, orders, middle_x, middle_y, logs):
    """[orders] the sum of the shrunk increments of 2, 4, 8, ... bins, extrapolated beyond the last number.

    There are as many bins as the documents can fill. middle_x, middle_y: the mean quantile of each rank.
    """
    n, distinct_x, distinct_y = len(x), (middle_x >= 0).sum(), (middle_y >= 0).sum()
    code_x, code_y = np.empty(len(middle_x), np.int32), np.empty(len(middle_y), np.int32)
    bins, rung, freedom = 2, 0, 0
    found, step, level = np.zeros(len(orders)), np.zeros(len(orders)), np.zeros(len(orders))
    while True:
        rows, columns = _cut(middle_x, distinct_x, bins, code_x), _cut(middle_y, distinct_y, bins, code_y)
        if rung > 0 and rows * columns * PER_CELL > n:
            return found + step * _beyond(rung)
        before, level = level, _corrected(code_x[x], code_y[y], orders, rows, columns, logs)
        gained, freedom = max((rows - 1) * (columns - 1) - freedom, 0), (rows - 1) * (columns - 1)
        if rung == 0:
            step = level
        else:
            step = _shrunk(level - before, _ratio(rung) * step, INCREMENT_NOISE * math.sqrt(gained / 2) / n)
        found += step
        rung += 1
        if distinct_x <= bins and distinct_y <= bins:  # all values are apart
            return found
        bins *= 2


@jit
def _cut(middle, distinct, bins, code):
    """Fill in the bin of each rank; the number of bins.

    Bins have equal counts. Equal values share one, by their mean quantile; few values get one each.
    """
    last, used = -1, -1
    for rank in range(len(middle)):
        if middle[rank] >= 0:
            place = rank if distinct <= bins else int(middle[rank] * bins)
            if place != last:
                last = place
                used += 1
            code[rank] = used
    return used + 1


@jit
def _corrected(x, y, orders, rows, columns, logs):
    """[orders] the mutual information of the bins x [n] and those y [n] in each order, corrected for its bias."""
    n, found = len(x), np.empty(len(orders))
    margins = _weighted(np.bincount(x), logs) + _weighted(np.bincount(y), logs)
    for place in range(len(orders)):
        order, counts = orders[place], np.zeros(rows * columns, np.int64)
        for document in range(n):
            counts[x[document] * columns + y[order[document]]] += 1
        found[place] = logs[n] + (_weighted(counts, logs) - margins) / n
    return found


@jit
def _weighted(counts, logs):
    """The sum of c G(c)."""
    total = 0.0
    for count in counts:
        total += count * logs[count]
    return total


@jit
def _ratio(rung):
    """The expected ratio of an increment to the one before it."""
    return EXPECTED[rung - 1] if rung <= len(EXPECTED) else DECAY


@jit
def _beyond(rungs):
    """The expected sum of all increments after so many, in units of the last."""
    total, product = 0.0, 1.0
    for rung in range(rungs, len(EXPECTED) + 1):
        product *= _ratio(rung)
        total += product
    return total + product * DECAY / (1 - DECAY)


@jit
def _shrunk(increment, expected, noise):
    """The increment, shrunk towards the expected one as far as noise can explain the difference."""
    if noise == 0:
        return increment
    surprise = (increment - expected) ** 2 - CLEAR_DEVIATION * noise**2
    trust = np.maximum((expected / 2) ** 2, surprise)
    return expected + (increment - expected) * trust / (trust + noise**2)
