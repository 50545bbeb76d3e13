"""Compiled loops of the worlds: sums over the sets of documents above a rank."""

from __future__ import annotations

import numpy as np

from ..language.compiled import jit
from ..policies.plackett_luce._kernels_sets import rescale


@jit
def cascade_worth(logs, attraction, passing, slots, upward):
    """Return expected clicks [q] of users who read one by one, under Plackett-Luce with log-weights [q, m].

    passing: [q, m] probability that the user continues after a document is read. The documents already read matter
    only as a set, and so do those above a rank: chance[S] is the probability that these are on top, times, for users
    who read from the top, the probability that they passed them all.
    """
    q, m = logs.shape
    full = (1 << m) - 1
    out = np.zeros(q)
    chance, below, weights = np.empty(full + 1), np.ones(full + 1), np.empty(m)
    size = np.zeros(full + 1, dtype=np.int64)
    for item in range(m):
        for others in range(1 << item):
            size[(1 << item) | others] = size[others] + 1
    for row in range(q):
        chance[:] = 0.0
        chance[0] = 1.0
        if upward:
            for item in range(m):
                for others in range(1 << item):
                    below[(1 << item) | others] = below[others] * passing[row, item]
        for above in range(full):
            if size[above] >= slots or chance[above] == 0.0:
                continue
            total = rescale(logs[row], True, above, weights)
            for item in range(m):
                if above & (1 << item):
                    continue
                after = above | (1 << item)
                p = chance[above] * weights[item] / total
                out[row] += p * attraction[row, item] * below[full ^ after]
                chance[after] += p if upward else p * passing[row, item]
    return out
