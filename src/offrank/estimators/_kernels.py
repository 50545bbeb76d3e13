"""Compiled loops of the estimators.

target, logging: the arrays of a `RankLaw`, P(displayed item i at rank j). A displayed item's own
rank is its slot, since slates are written top first.
"""

from __future__ import annotations

import numba
import numpy as np

# "numpy": a division by zero is an infinity, which the callers refuse, rather than a branch in each loop.
_jit = numba.njit(cache=True, nogil=True, error_model="numpy")


@numba.njit(inline="always")
def _chance(law, row, i, j):
    """P(displayed item i at rank j)."""
    dense, ranks, spread, point = law
    if dense.size:
        return dense[row, i, j]
    return spread[row] + point[row] if ranks[row, i] == j else spread[row]


@numba.njit(inline="always")
def _inside(law, row, i, first, last, mass, whole):
    """Sum of P(displayed item i at rank l) mass[l] over first <= l < last; whole: the sum of mass there."""
    dense, ranks, spread, point = law
    if dense.size:
        total = 0.0
        for l in range(first, last):  # noqa: E741
            total += dense[row, i, l] * mass[l]
        return total
    rank = ranks[row, i]
    return spread[row] * whole + (point[row] * mass[rank] if first <= rank < last else 0.0)


@numba.njit(inline="always")
def _reach(law, row, i, first, last):
    """The part of first <= j < last where the item can stand at all."""
    dense, ranks, spread, _ = law
    if dense.size == 0 and spread[row] == 0.0:
        return max(first, ranks[row, i]), min(last, ranks[row, i] + 1)
    return first, last


@_jit
def item_position(target, logging, length, k):
    """[n, k] target over logging probability of the item at its own rank; not finite where that was impossible."""
    n = len(length)
    weight = np.zeros((n, k))
    for row in range(n):
        for i in range(length[row]):
            drawn = _chance(logging, row, i, i)
            weight[row, i] = _chance(target, row, i, i) / drawn if drawn > 0.0 else np.inf
    return weight


@_jit
def interpol(target, logging, length, examination, window, windowed):
    """Weight and control [n, k] of INTERPOL, expected over the target's rank j of item i.

    Paper form (Eq. 5): 1{|i - j| <= T} / P(rank in [j - T, j + T]) * p_j / p_i.
    Windowed form: 1{|i - j| <= T} * p_j / sum over the window of P(rank = l) p_l.
    The control is the weight of a click worth p_i / p_j: its expectation is 1 for each target slot.
    """
    n, k = len(length), len(examination)
    weight, control = np.zeros((n, k)), np.zeros((n, k))
    mass = examination if windowed else np.ones(k)
    whole = np.zeros((k + 1, k))  # mass within the window around j, in a slate of so many slots
    for slots in range(k + 1):
        for j in range(slots):
            whole[slots, j] = mass[max(0, j - window) : min(slots, j + window + 1)].sum()
    for row in range(n):
        slots = length[row]
        for i in range(slots):
            moved, total = 0.0, 0.0
            first, last = _reach(target, row, i, max(0, i - window), min(slots, i + window + 1))
            for j in range(first, last):
                chance = _chance(target, row, i, j)
                if chance == 0.0:
                    continue
                low, high = max(0, j - window), min(slots, j + window + 1)
                share = chance / _inside(logging, row, i, low, high, mass, whole[slots, j])
                moved += share * examination[j]
                total += share
            weight[row, i] = moved if windowed else moved / examination[i]
            control[row, i] = total * examination[i] if windowed else total
    return weight, control


@_jit
def position_based(target, length, examination):
    """[n, k] expected examination at the target's rank over that at the own rank; and P(the target shows it)."""
    n, k = len(length), len(examination)
    weight, control, ones = np.zeros((n, k)), np.zeros((n, k)), np.ones(k)
    whole = np.zeros(k + 1)
    whole[1:] = np.cumsum(examination)
    for row in range(n):
        slots = length[row]
        for i in range(slots):
            weight[row, i] = _inside(target, row, i, 0, slots, examination, whole[slots]) / examination[i]
            control[row, i] = _inside(target, row, i, 0, slots, ones, slots)
    return weight, control


@_jit
def slot_terms(weight, control, clicks, length):
    """[n] sum of weighted clicks, and mean control per slot."""
    n, k = weight.shape
    value, mean = np.empty(n), np.empty(n)
    for row in range(n):
        earned, total = 0.0, 0.0
        for i in range(k):
            earned += weight[row, i] * clicks[row, i]
            total += control[row, i]
        value[row], mean[row] = earned, total / max(length[row], 1)
    return value, mean


@_jit
def prefix_weights(target, logging, length):
    """[n, k] product of target over logging probabilities of the slots so far; 0 on pads."""
    n, k = target.shape
    weight = np.zeros((n, k))
    for row in range(n):
        product = 1.0
        for i in range(length[row]):
            product *= target[row, i] / logging[row, i]
            weight[row, i] = product
    return weight
