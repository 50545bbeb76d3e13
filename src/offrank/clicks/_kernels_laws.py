# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False, check-untyped-defs=False
"""Compiled loops of the click distributions: a forward pass over the ranks of each slate. All arrays are [n, k]."""

from __future__ import annotations

import numba
import numpy as np

_exact = numba.njit(cache=True, nogil=True)


@_exact
def browsing_marginal(attraction, examination):
    """P(C_k = 1), from the distribution of the last click above each rank: O(k^2) per slate."""
    n, k = attraction.shape
    out = np.empty((n, k))
    last = np.empty(k + 1)
    for i in range(n):
        last[:] = 0.0
        last[0] = 1.0
        for rank in range(k):
            total = 0.0
            for above in range(rank + 1):
                click = last[above] * examination[rank, above] * attraction[i, rank]
                last[above] -= click
                total += click
            last[rank + 1] = total
            out[i, rank] = total
    return out


@_exact
def browsing_conditional(attraction, examination, clicks):
    n, k = attraction.shape
    out = np.empty((n, k))
    for i in range(n):
        last = 0
        for rank in range(k):
            out[i, rank] = examination[rank, last] * attraction[i, rank]
            if clicks[i, rank] > 0:
                last = rank + 1
    return out


@_exact
def browsing_sample(attraction, examination, draws):
    n, k = attraction.shape
    out = np.zeros((n, k))
    for i in range(n):
        last = 0
        for rank in range(k):
            if draws[i, rank] < examination[rank, last] * attraction[i, rank]:
                out[i, rank] = 1.0
                last = rank + 1
    return out


@_exact
def cascading_marginal(attraction, after_click, after_skip):
    n, k = attraction.shape
    out = np.empty((n, k))
    for i in range(n):
        examined = 1.0
        for rank in range(k):
            a = attraction[i, rank]
            out[i, rank] = examined * a
            examined *= a * after_click[i, rank] + (1.0 - a) * after_skip[i, rank]
    return out


@numba.njit(cache=True, nogil=True, inline="always")
def _next(examined, a, clicked, after_click, after_skip):
    """Posterior probability that the next rank is examined, given what was observed at this one."""
    if clicked:
        return after_click
    unclicked = 1.0 - examined * a
    # The rank was certainly examined and would certainly be clicked, yet was not: no later rank can be examined.
    return after_skip * examined * (1.0 - a) / unclicked if unclicked > 0.0 else 0.0


@_exact
def cascading_conditional(attraction, after_click, after_skip, clicks):
    n, k = attraction.shape
    out = np.empty((n, k))
    for i in range(n):
        examined = 1.0
        for rank in range(k):
            a = attraction[i, rank]
            out[i, rank] = examined * a
            examined = _next(examined, a, clicks[i, rank] > 0, after_click[i, rank], after_skip[i, rank])
    return out


@_exact
def cascading_sample(attraction, after_click, after_skip, clicking, going_on):
    n, k = attraction.shape
    out = np.zeros((n, k))
    for i in range(n):
        for rank in range(k):
            on = after_skip[i, rank]
            if clicking[i, rank] < attraction[i, rank]:
                out[i, rank] = 1.0
                on = after_click[i, rank]
            if going_on[i, rank] >= on:
                break
    return out


@_exact
def upward_conditional(attraction, after_click, after_skip, clicks):
    """P(C_k = 1 | C_1 ... C_{k-1}) of a user who reads from the bottom.

    Ranks below k were read before and are unobserved: rank k is examined with its marginal probability. From there
    the ranks above are observed one after another: P(C_1 ... C_k) is a product of O(k) factors.
    """
    n, k = attraction.shape
    out = np.empty((n, k))
    arrival = np.empty(k)
    for i in range(n):
        examined = 1.0
        for rank in range(k - 1, -1, -1):
            arrival[rank] = examined
            a = attraction[i, rank]
            examined *= a * after_click[i, rank] + (1.0 - a) * after_skip[i, rank]
        for rank in range(k):
            clicked, skipped = 0.0, 0.0
            for outcome in range(2):
                examined, chance = arrival[rank], 1.0
                for j in range(rank, -1, -1):
                    seen = outcome == 1 if j == rank else clicks[i, j] > 0
                    click = examined * attraction[i, j]
                    chance *= click if seen else 1.0 - click
                    examined = _next(examined, attraction[i, j], seen, after_click[i, j], after_skip[i, j])
                if outcome == 1:
                    clicked = chance
                else:
                    skipped = chance
            above = clicked + skipped  # P(C_1 ... C_{k-1})
            out[i, rank] = clicked / above if above > 0.0 else 0.0
    return out
