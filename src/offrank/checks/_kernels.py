"""Compiled loops of the checks."""

from __future__ import annotations

import numba
import numpy as np


@numba.njit(cache=True, nogil=True)
def rank_sums(clicks, length, inclusion):
    """Per rank [k, 6]: rows, and sums of h, h c, h^2, h^2 c, h^2 c^2, with h = 1 / inclusion and c the click."""
    n, k = clicks.shape
    sums = np.zeros((k, 6))
    for row in range(n):
        h = 1.0 / inclusion[row]
        for rank in range(length[row]):
            hc = h * clicks[row, rank]
            sums[rank, 0] += 1.0
            sums[rank, 1] += h
            sums[rank, 2] += hc
            sums[rank, 3] += h * h
            sums[rank, 4] += h * hc
            sums[rank, 5] += hc * hc
    return sums
