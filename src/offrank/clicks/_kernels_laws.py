# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False, check-untyped-defs=False
"""Compiled loops of the click distributions: a forward pass over the ranks of each slate. All arrays are [n, k]."""

from __future__ import annotations

import numpy as np

from ..language.compiled import jit


@jit
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


@jit
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


@jit
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


@jit
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


@jit
def cascading_conditional(attraction, after_click, after_skip, clicks):
    n, k = attraction.shape
    out = np.empty((n, k))
    for i in range(n):
        examined = 1.0
        for rank in range(k):
            a = attraction[i, rank]
            out[i, rank] = examined * a
            unclicked = 1.0 - examined * a
            if clicks[i, rank] > 0:
                examined = after_click[i, rank]
            elif unclicked > 0.0:
                examined = after_skip[i, rank] * examined * (1.0 - a) / unclicked
            else:  # certainly examined and certain to be clicked, yet not clicked: no later rank can be examined
                examined = 0.0
    return out


@jit
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


@jit
def upward_conditional(attraction, after_click, after_skip, clicks):
    """P(C_k = 1 | C_1 ... C_{k-1}) of a user who reads from the bottom.

    Ranks below k were read before and are unobserved: rank k is examined with its marginal probability.
    """
    n, k = attraction.shape
    out = np.empty((n, k))
    for i in range(n):
        examined = 1.0
        for rank in range(k - 1, -1, -1):
            out[i, rank] = examined
            a = attraction[i, rank]
            examined *= a * after_click[i, rank] + (1.0 - a) * after_skip[i, rank]
        read, unread = 1.0, 1.0  # P(C_1 ... C_{k-1}) if rank k - 1 is examined, and if it is not
        for rank in range(k):
            examined, a, on, off = out[i, rank], attraction[i, rank], after_click[i, rank], after_skip[i, rank]
            clicked, skipped = a * (on * read + (1.0 - on) * unread), (1.0 - a) * (off * read + (1.0 - off) * unread)
            above = examined * (clicked + skipped) + (1.0 - examined) * unread  # P(C_1 ... C_{k-1})
            out[i, rank] = examined * clicked / above if above > 0.0 else 0.0
            if clicks[i, rank] > 0:
                read, unread = clicked, 0.0
            else:
                read = skipped
    return out
