"""Compiled loops of the estimators.

target, logging: the arrays of a `RankLaw`, P(displayed item i at rank j). A displayed item's own
rank is its slot, since slates are written top first. Loops write to arrays of the caller: an array
made inside takes longer to compile than most loops.
"""

from __future__ import annotations

import numpy as np

from ..language.compiled import njit

# "numpy": a division by zero gives infinity, which callers reject, instead of a branch in each loop.
_jit = njit(error_model="numpy")


@_jit
def item_position(wanted, drawn, length, weight):
    """weight [n, k] <- target over logging probability of each item at its own rank; infinite where that is zero."""
    for row in range(len(length)):
        for i in range(length[row]):
            weight[row, i] = wanted[row, i] / drawn[row, i] if drawn[row, i] > 0.0 else np.inf


@_jit
def interpol_weights(target, logging, length, examination, mass, whole, own, window, weight, control):
    """Add weight and control [n, k]; infinite where the logged rank was impossible.

    The sum over the target's rank j of item i, within the window, of
    P(j | target) / sum over the window around j of P(rank l | logging) mass[l],
    times own[i] examination[j] for the weight and own[i] examination[i] for the control.
    whole: [k + 1, k] sum of mass within the window around rank j, by the number of slots of the slate.
    """
    t_dense, t_first, t_width, t_spread, t_point = target
    l_dense, l_first, l_width, l_spread, l_point = logging
    t_full, l_full = t_dense.size > 0, l_dense.size > 0
    for row in range(len(length)):
        slots = length[row]
        for i in range(slots):
            first, last = max(0, i - window), min(slots, i + window + 1)
            if l_full:
                drawn = l_dense[row, i, i]
            else:
                here = l_first[row, i] <= i < l_first[row, i] + l_width[row, i]
                drawn = l_spread[row] + (l_point[row] / l_width[row, i] if here else 0.0)
            if drawn <= 0.0:
                weight[row, i] = np.inf
                continue
            if not t_full and t_spread[row] == 0.0:  # only in its block
                first, last = max(first, t_first[row, i]), min(last, t_first[row, i] + t_width[row, i])
            for j in range(first, last):
                if t_full:
                    chance = t_dense[row, i, j]
                else:
                    here = t_first[row, i] <= j < t_first[row, i] + t_width[row, i]
                    chance = t_spread[row] + (t_point[row] / t_width[row, i] if here else 0.0)
                if chance == 0.0:
                    continue
                low, high = max(0, j - window), min(slots, j + window + 1)
                inside = 0.0
                if l_full:
                    for l in range(low, high):  # noqa: E741
                        inside += l_dense[row, i, l] * mass[l]
                else:
                    start = l_first[row, i]
                    inside = l_spread[row] * whole[slots, j]
                    if start >= 0:
                        for l in range(max(low, start), min(high, start + l_width[row, i])):  # noqa: E741
                            inside += l_point[row] / l_width[row, i] * mass[l]
                share = chance / inside * own[i]
                weight[row, i] += share * examination[j]
                control[row, i] += share * examination[i]


@_jit
def position_based(dense, length, examination, weight, control):
    """Add the expected examination at the target's rank over that at the logged rank; and P(the target shows it)."""
    for row in range(len(length)):
        for i in range(length[row]):
            for j in range(length[row]):
                weight[row, i] += dense[row, i, j] * examination[j]
                control[row, i] += dense[row, i, j]
            weight[row, i] /= examination[i]


@_jit
def position_based_in_blocks(first, width, spread, point, length, examination, weight, control):
    """As `position_based`, for a law with structure."""
    for row in range(len(length)):
        slots, everywhere = length[row], 0.0
        for j in range(slots):
            everywhere += examination[j]
        for i in range(slots):
            start, share = first[row, i], point[row] / width[row, i]
            weight[row, i] = spread[row] * everywhere
            control[row, i] = spread[row] * slots
            for j in range(start, min(start + width[row, i], slots) if start >= 0 else start):
                weight[row, i] += share * examination[j]
                control[row, i] += share
            weight[row, i] /= examination[i]


@_jit
def slot_terms(weight, control, clicks, length, value, mean):
    """value, mean [n] <- sum of weighted clicks, and mean control per slot."""
    n, k = weight.shape
    for row in range(n):
        earned, total = 0.0, 0.0
        for i in range(k):
            earned += weight[row, i] * clicks[row, i]
            total += control[row, i]
        value[row], mean[row] = earned, total / max(length[row], 1)


@_jit
def settle(values, least, largest):
    """Set values [d, n] below `least` in size to 0 in place; return column and row of one beyond `largest`, else -1.

    It is the first in the first such row.
    """
    odd = 0  # almost never, which a loop without branches tells faster
    for line in range(len(values)):
        some = values[line]
        for at in range(len(some)):
            size = abs(some[at])
            odd += ((size < least) & (size > 0.0)) | ~(size <= largest)
    if not odd:
        return -1, -1
    for row in range(values.shape[1]):
        for column in range(values.shape[0]):
            size = abs(values[column, row])
            if size < least:
                values[column, row] = 0.0
            elif not size <= largest:  # also rejects NaN
                return column, row
    return -1, -1


@_jit
def prefix_weights(target, logging, length, weight, impossible):
    """weight [n, k] <- product of target over logging probabilities of the slots so far; not on pads.

    impossible [n] <- whether the logging policy gives a slot the probability 0.
    """
    for row in range(len(length)):
        product = 1.0
        for i in range(length[row]):
            impossible[row] |= logging[row, i] <= 0.0
            product *= target[row, i] / logging[row, i]
            weight[row, i] = product
