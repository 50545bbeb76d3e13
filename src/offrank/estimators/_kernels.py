"""Compiled loops of the item-level estimators.

target, logging: [n, k, k] probability of displayed item i at rank j. A displayed item's own rank
is its slot, since slates are written top first.
"""

from __future__ import annotations

import numba
import numpy as np


@numba.njit(cache=True, nogil=True)
def interpol(target, logging, length, examination, window, windowed):
    """Weight and control [n, k] of INTERPOL, expected over the target's rank j of item i.

    Paper form (Eq. 5): 1{|i - j| <= T} / P(rank in [j - T, j + T]) * p_j / p_i.
    Windowed form: 1{|i - j| <= T} * p_j / sum over the window of P(rank = l) p_l.
    The control is the weight of a click worth p_i / p_j: its expectation is 1 for each target slot.
    """
    n, k = target.shape[0], target.shape[1]
    weight, control = np.zeros((n, k)), np.zeros((n, k))
    for row in range(n):
        slots = length[row]
        for i in range(slots):
            for j in range(max(0, i - window), min(slots, i + window + 1)):
                chance = target[row, i, j]
                if chance == 0.0:
                    continue
                inside = 0.0
                for l in range(max(0, j - window), min(slots, j + window + 1)):  # noqa: E741
                    inside += logging[row, i, l] * (examination[l] if windowed else 1.0)
                if windowed:
                    weight[row, i] += chance * examination[j] / inside if inside > 0.0 else np.inf
                    control[row, i] += chance * examination[i] / inside if inside > 0.0 else np.inf
                else:
                    share = chance / inside if inside > 0.0 else np.inf
                    weight[row, i] += share * examination[j] / examination[i]
                    control[row, i] += share
    return weight, control
