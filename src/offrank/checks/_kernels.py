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


_ODD = np.uint64(0x9E3779B97F4A7C15)


@numba.njit(cache=True, nogil=True, inline="always")
def _joined(key, bits):
    key = (key ^ bits) * _ODD
    return key ^ (key >> np.uint64(29))


@numba.njit(cache=True, nogil=True)
def join_slots(key, values, length, slates):
    """Join the bits of what stands in each slot to the key [n] of its row.

    values: [n, m] beside the candidates, of which slates [n, k] are indices; or, where slates is empty, [n, k] beside
    the slots. A slot without an item counts too.
    """
    beside = slates.shape[1] == 0
    for row in range(len(key)):
        for slot in range(length[row]):
            place = slot if beside else slates[row, slot]
            key[row] = _joined(key[row], values[row, place] if place >= 0 else _ODD)


@numba.njit(cache=True, nogil=True)
def join_rows(key, values):
    """Join the bits of a value [n] to the key [n] of each row."""
    for row in range(len(key)):
        key[row] = _joined(key[row], values[row])


@numba.njit(cache=True, nogil=True)
def hashed(row):
    """[n] 64-bit words that have nothing to do with the ids of the rows (splitmix64)."""
    out = np.empty(len(row), np.uint64)
    for i in range(len(row)):
        x = row[i] + _ODD
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        out[i] = x ^ (x >> np.uint64(31))
    return out
