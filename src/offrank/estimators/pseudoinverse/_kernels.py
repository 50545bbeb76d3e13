"""Compiled loops of the pseudoinverse estimator.

A coordinate is item * k + slot: a slate is k coordinates, an inverse a matrix of coordinates.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from ...log.hashing import ODD

_jit = numba.njit(cache=True, nogil=True)


@_jit
def uniform_weights(target, size, length, k):
    """[n] q' Gamma^+ 1_s under uniform logging, from the target's law over the displayed items only.

    target: the arrays of a `RankLaw`. Paper slate-pseudoinverse, Eqs. 23 and 26, expected over the target.
    """
    dense, first, width, spread, point = target
    n, full = len(length), dense.size > 0
    out = np.empty(n)
    for row in range(n):
        m, slots = size[row], min(length[row], k)
        same, shown = 0.0, 0.0
        for i in range(slots):
            if full:
                same += dense[row, i, i]
                for j in range(slots):
                    shown += dense[row, i, j]
            else:
                start, wide = first[row, i], width[row, i]
                same += spread[row] + (point[row] / wide if start <= i < start + wide else 0.0)
                shown += spread[row] * slots
                if start >= 0:
                    shown += point[row] * (min(start + wide, slots) - start) / wide
        if slots < m:
            out[row] = 1.0 + (m - 1) * (same + (shown - slots) / (m - slots))
        else:
            out[row] = (m - 1) * same - m + 2.0
    return out


@_jit
def slate_weights(inverse, wanted, shown):
    """[n] 1_w' Gamma^+ 1_s for the coordinates wanted and shown, both [n, k]."""
    n, k = shown.shape
    out = np.zeros(n)
    for row in range(n):
        for i in range(k):
            line = inverse[wanted[row, i]]
            for j in range(k):
                out[row] += line[shown[row, j]]
    return out


@_jit
def expected_weights(inverse, wanted, shown):
    """[n] q' Gamma^+ 1_s for expected indicators wanted [n, m * k] and coordinates shown [n, k]."""
    n, k = shown.shape
    out = np.zeros(n)
    for row in range(n):
        for j in range(k):
            out[row] += np.dot(wanted[row], inverse[shown[row, j]])
    return out


def hashes(content: NDArray[np.int64]) -> NDArray[np.uint64]:
    """[n] 64-bit hashes of rows of integers."""
    out = np.empty(len(content), np.uint64)
    _hash(content, out)
    return out


@_jit
def _hash(content, out):
    n, width = content.shape
    for row in range(n):
        state = ODD
        for column in range(width):
            state ^= np.uint64(content[row, column])
            state ^= state >> np.uint64(32)
            state *= np.uint64(0xD6E8FEB86659FD93)
            state ^= state >> np.uint64(29)
        out[row] = state


@_jit
def feature_hashes(first, size, offsets, indices, values, m):
    """[n, m] 64-bit hash of each candidate's features, 0 beyond a row's candidates."""
    out = np.zeros((len(size), m), np.uint64)
    for row in range(len(size)):
        for item in range(size[row]):
            line, state = first[row] + item, ODD
            for at in range(offsets[line], offsets[line + 1]):
                for part in (np.uint64(indices[at]), np.float64(values[at] + 0.0).view(np.uint64)):
                    state ^= part
                    state ^= state >> np.uint64(32)
                    state *= np.uint64(0xD6E8FEB86659FD93)
                    state ^= state >> np.uint64(29)
            out[row, item] = state
    return out


@_jit
def inverse_of_positive(matrix):
    """[n, n] inverse of a positive definite matrix by its Cholesky factor, and whether it is one.

    For small matrices: in a linear algebra library, thread synchronisation takes longer than this does.
    """
    n = len(matrix)
    factor, lower, inverse = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            total = matrix[i, j]
            for k in range(j):
                total -= factor[i, k] * factor[j, k]
            if i > j:
                factor[i, j] = total / factor[j, j]
            elif total > 0.0:
                factor[i, i] = np.sqrt(total)
            else:
                return inverse, False
    for i in range(n):  # lower = factor^-1, row by row
        for k in range(i):
            for j in range(k + 1):
                lower[i, j] -= factor[i, k] * lower[k, j]
        lower[i, i] = 1.0
        for j in range(i + 1):
            lower[i, j] /= factor[i, i]
    for k in range(n):  # inverse = lower' lower
        for i in range(k + 1):
            for j in range(i + 1):
                inverse[i, j] += lower[k, i] * lower[k, j]
    for i in range(n):
        for j in range(i):
            inverse[j, i] = inverse[i, j]
    return inverse, True
