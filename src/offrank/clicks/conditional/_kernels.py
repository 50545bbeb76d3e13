"""Compiled loops of conditional likelihoods. Documents d have the entries first[d] : first[d + 1]."""

from __future__ import annotations

import numba
import numpy as np

_exact = numba.njit(cache=True, nogil=True)


@_exact
def expected(first, cell, shown, clicked, curve):
    """(clicks that each cell would have at examination one [cells], sum_d clicks_d log exposure_d)."""
    out, height = np.zeros(len(curve)), 0.0
    for d in range(len(first) - 1):
        exposure, clicks = 0.0, 0.0
        for i in range(first[d], first[d + 1]):
            exposure += shown[i] * curve[cell[i]]
            clicks += clicked[i]
        if clicks > 0.0:
            height += clicks * np.log(exposure)
            for i in range(first[d], first[d + 1]):
                out[cell[i]] += shown[i] * clicks / exposure
    return out, height


@_exact
def curvature(first, cell, shown, clicked, curve):
    """(information, products of scores), both [cells, cells], of the logarithms of the curve."""
    cells, widest = len(curve), 0
    for d in range(len(first) - 1):
        widest = max(widest, first[d + 1] - first[d])
    information, products = np.zeros((cells, cells)), np.zeros((cells, cells))
    share, score = np.empty(widest), np.empty(widest)
    for d in range(len(first) - 1):
        a, b = first[d], first[d + 1]
        exposure, clicks = 0.0, 0.0
        for i in range(a, b):
            exposure += shown[i] * curve[cell[i]]
            clicks += clicked[i]
        if clicks == 0.0:
            continue
        for i in range(a, b):
            share[i - a] = shown[i] * curve[cell[i]] / exposure
            score[i - a] = clicked[i] - clicks * share[i - a]
            information[cell[i], cell[i]] += clicks * share[i - a]
        for i in range(a, b):
            for j in range(a, b):
                information[cell[i], cell[j]] -= clicks * share[i - a] * share[j - a]
                products[cell[i], cell[j]] += score[i - a] * score[j - a]
    return information, products
