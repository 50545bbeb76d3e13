"""Compiled loops of the users with fading attention. Arrays [n, k]; moments [n, k, k + 1]."""

from __future__ import annotations

import numpy as np

from offrank.language.compiled import jit

UNKNOWN, SKIPPED, CLICKED = -1, 0, 1


@jit
def _chance(clicking, going_on, kept, outcome, order, steps, values, next_values):
    """Return the probability of the outcomes at the first `steps` ranks that are read.

    The probability of later outcomes is a polynomial in the attention e on arrival at a rank; it is built from the
    last rank to the first, where e is 1. clicking[rank, m]: E[a (1 - s)^m].
    """
    values[:] = 0.0
    values[0] = 1.0
    for step in range(steps - 1, -1, -1):
        rank = order[step]
        next_values[:] = 0.0
        power = 1.0
        share = 1.0 if outcome[rank] == UNKNOWN else kept[rank] if outcome[rank] == CLICKED else 1.0 - kept[rank]
        for m in range(steps - step):
            value = values[m] * power
            next_values[m + 1] += share * value * clicking[rank, m]
            if outcome[rank] != CLICKED:
                next_values[m] += value
                next_values[m + 1] -= value * clicking[rank, 0]
            power *= going_on[rank]
        values[:] = next_values
    return values.sum()


@jit
def fading_marginal(clicking, going_on, kept, order):
    n, k = going_on.shape
    out = np.empty((n, k))
    outcome, values, next_values = np.empty(k, dtype=np.int64), np.empty(k + 1), np.empty(k + 1)
    for i in range(n):
        for step in range(k):
            outcome[:] = UNKNOWN
            outcome[order[step]] = CLICKED
            out[i, order[step]] = _chance(
                clicking[i], going_on[i], kept[i], outcome, order, step + 1, values, next_values
            )
    return out


@jit
def fading_conditional(clicking, going_on, kept, order, clicks):
    """Return P(C_k = 1 | C_1 ... C_{k-1}), given the ranks above, in either reading direction."""
    n, k = going_on.shape
    out = np.empty((n, k))
    outcome, values, next_values = np.empty(k, dtype=np.int64), np.empty(k + 1), np.empty(k + 1)
    for i in range(n):
        outcome[:] = UNKNOWN
        for rank in range(k):
            # From the top, the outcomes after this rank sum to one; from the bottom, all are read before.
            steps = rank + 1 if order[0] == 0 else k
            outcome[rank] = CLICKED
            clicked = _chance(clicking[i], going_on[i], kept[i], outcome, order, steps, values, next_values)
            outcome[rank] = SKIPPED
            skipped = _chance(clicking[i], going_on[i], kept[i], outcome, order, steps, values, next_values)
            above = clicked + skipped
            out[i, rank] = clicked / above if above > 0.0 else 0.0
            outcome[rank] = CLICKED if clicks[i, rank] > 0 else SKIPPED
    return out


@jit
def fading_sample(attraction, satisfaction, going_on, kept, order, clicking, keeping):
    n, k = attraction.shape
    out = np.zeros((n, k))
    for i in range(n):
        attention = 1.0
        for rank in order:
            if clicking[i, rank] < attention * attraction[i, rank]:
                attention *= 1.0 - satisfaction[i, rank]
                out[i, rank] = 1.0 if keeping[i, rank] < kept[i, rank] else 0.0
            attention *= going_on[i, rank]
    return out
