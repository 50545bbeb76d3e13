# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False, check-untyped-defs=False
"""Compiled loops of the model of the history of clicks.

theta holds the logits of the attractions of documents, then the numbers of the behaviour: shape are the three numbers
of a `history.HistoryShape`. attraction: [documents] of the same. lists: [n, k] documents, -1 after the last one. at and
by: room for the numbers that a chance depends on, and for its derivatives.
"""

from __future__ import annotations

import numpy as np

from ..language.compiled import inlined, jit

BENDS = 0.9
"""Where e (a + t) is larger, the chance of a click is bent so that it stays below 1, without a jump of its slope."""
CERTAIN_CLICK = 1 - 1e-9


@inlined
def _chance(theta, attraction, shape, items, rank, last, at, by):
    """The chance of a click at a rank if the last one was at `last` (-1: none), and how many numbers it depends on."""
    documents, ranks, away = shape
    row = min(rank, ranks - 1)
    cell = documents + row * (away + 1) + (min(rank - last, away) if last >= 0 else 0)
    trusted = documents + ranks * (away + 1) + row
    lost, satisfied = trusted + ranks, documents + ranks * (away + 1) + 2 * ranks
    compared = satisfied + 1
    passed = 0.0
    for above in range(last + 1, rank):
        passed += attraction[items[above]]
    own, clicked = attraction[items[rank]], attraction[items[last]] if last >= 0 else 0.0
    below = attraction[items[rank + 1]] if rank + 1 < len(items) and items[rank + 1] >= 0 else 0.0
    trust = np.exp(theta[trusted])
    looks = np.exp(theta[cell] - theta[lost] * passed - theta[satisfied] * clicked - theta[compared] * below)
    found = looks * (own + trust)
    at[0], by[0] = items[rank], looks * own * (1 - own)
    at[1], by[1] = trusted, looks * trust
    at[2], by[2] = cell, found
    at[3], by[3] = lost, -found * passed
    count = 4
    for above in range(last + 1, rank):
        one = attraction[items[above]]
        at[count], by[count] = items[above], -found * theta[lost] * one * (1 - one)
        count += 1
    if last >= 0:
        at[count], by[count] = satisfied, -found * clicked
        at[count + 1], by[count + 1] = items[last], -found * theta[satisfied] * clicked * (1 - clicked)
        count += 2
    if below > 0:
        at[count], by[count] = compared, -found * below
        at[count + 1], by[count + 1] = items[rank + 1], -found * theta[compared] * below * (1 - below)
        count += 2
    if found > BENDS:
        slope = np.exp((BENDS - found) / (1 - BENDS))
        for one in range(count):
            by[one] *= slope
        return min(1 - (1 - BENDS) * slope, CERTAIN_CLICK), count
    return found, count


@jit
def log_likelihoods(theta, attraction, shape, lists, clicks, weight, gradient):
    """The log-likelihood of sessions that count `weight` times each; adds its gradient to `gradient`."""
    found, (n, k) = 0.0, lists.shape
    at, by = np.empty(k + 8, np.int64), np.empty(k + 8)
    for row in range(n):
        last = -1
        for rank in range(k):
            if lists[row, rank] < 0:
                break
            chance, count = _chance(theta, attraction, shape, lists[row], rank, last, at, by)
            clicked = clicks[row, rank] > 0
            found += weight[row] * np.log(chance if clicked else 1 - chance)
            step = weight[row] * (1 / chance if clicked else -1 / (1 - chance))
            for one in range(count):
                gradient[at[one]] += step * by[one]
            if clicked:
                last = rank
    return found


@jit
def information_times(theta, attraction, shape, lists, clicks, weight, vector, found, diagonal):
    """Add Fisher's information, given the clicks above, times a vector to `found`, and its diagonal to `diagonal`."""
    n, k = lists.shape
    at, by = np.empty(k + 8, np.int64), np.empty(k + 8)
    for row in range(n):
        last = -1
        for rank in range(k):
            if lists[row, rank] < 0:
                break
            chance, count = _chance(theta, attraction, shape, lists[row], rank, last, at, by)
            each, along = weight[row] / (chance * (1 - chance)), 0.0
            for one in range(count):
                along += by[one] * vector[at[one]]
            for one in range(count):
                found[at[one]] += each * along * by[one]
                diagonal[at[one]] += each * by[one] ** 2
            if clicks[row, rank] > 0:
                last = rank


@jit
def scores_along(theta, attraction, shape, lists, clicks, directions, found):
    """The derivative of the log-probability of each session in directions [a, p], into `found` [n, a]."""
    n, k = lists.shape
    at, by = np.empty(k + 8, np.int64), np.empty(k + 8)
    for row in range(n):
        last = -1
        for rank in range(k):
            if lists[row, rank] < 0:
                break
            chance, count = _chance(theta, attraction, shape, lists[row], rank, last, at, by)
            clicked = clicks[row, rank] > 0
            step = 1 / chance if clicked else -1 / (1 - chance)
            for which in range(len(directions)):
                along = 0.0
                for one in range(count):
                    along += by[one] * directions[which, at[one]]
                found[row, which] += step * along
            if clicked:
                last = rank


@jit
def expected_of_lists(theta, attraction, shape, lists, weight, found, gradient):
    """The expected clicks of each list, into `found` [n]; adds their gradient, `weight` times each, to `gradient`.

    What is above a rank enters by the last click alone, so that these are sums over its places, not over all patterns.
    """
    n, k = lists.shape
    at, by = np.empty(k + 8, np.int64), np.empty(k + 8)
    chance, here, rest = np.zeros((k, k + 1)), np.zeros((k + 1, k + 1)), np.zeros((k + 1, k + 1))
    for row in range(n):
        length = 0
        while length < k and lists[row, length] >= 0:
            length += 1
        here[:], rest[:] = 0.0, 0.0
        here[0, 0] = 1.0  # the chance that the last click above a rank was at place - 1
        for rank in range(length):
            for place in range(rank + 1):
                one, _ = _chance(theta, attraction, shape, lists[row], rank, place - 1, at, by)
                chance[rank, place] = one
                here[rank + 1, rank + 1] += here[rank, place] * one
                here[rank + 1, place] += here[rank, place] * (1 - one)
        for rank in range(length - 1, -1, -1):  # the clicks that are still to come
            for place in range(rank + 1):
                one = chance[rank, place]
                rest[rank, place] = one * (1 + rest[rank + 1, rank + 1]) + (1 - one) * rest[rank + 1, place]
        found[row] = rest[0, 0]
        for rank in range(length):
            for place in range(rank + 1):
                more = here[rank, place] * (1 + rest[rank + 1, rank + 1] - rest[rank + 1, place]) * weight[row]
                if more == 0:
                    continue
                _, count = _chance(theta, attraction, shape, lists[row], rank, place - 1, at, by)
                for one in range(count):
                    gradient[at[one]] += more * by[one]
