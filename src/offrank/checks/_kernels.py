"""Compiled loops of the checks."""

from __future__ import annotations

import numba
import numpy as np

from ..log.hashing import ODD


@numba.njit(cache=True, nogil=True)
def rank_sums(clicks, length, inclusion):
    """Return per rank [k, 6]: rows, and sums of h, h c, h^2, h^2 c, h^2 c^2, with h = 1 / inclusion and c the click."""
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


@numba.njit(cache=True, nogil=True, inline="always")
def _joined(key, bits):
    key = (key ^ bits) * ODD
    return key ^ (key >> np.uint64(29))


@numba.njit(cache=True, nogil=True)
def join_slots(key, values, length, slates):
    """Mix the bits of each slot's value into the key [n] of its row.

    values: [n, m] beside the candidates, indexed by slates [n, k]; or, if slates is empty, [n, k] beside
    the slots. An empty slot counts too.
    """
    beside = slates.shape[1] == 0
    for row in range(len(key)):
        mixed = key[row]
        for slot in range(length[row]):
            place = slot if beside else slates[row, slot]
            mixed = _joined(mixed, values[row, place] if place >= 0 else ODD)
        key[row] = mixed


@numba.njit(cache=True, nogil=True)
def join_rows(key, values):
    """Mix the bits of a value [n] into the key [n] of each row."""
    for row in range(len(key)):
        key[row] = _joined(key[row], values[row])


@numba.njit(cache=True, nogil=True)
def lifted_counts(probs, slates, size, h, lifts, out):
    """Add to out [4, lifts, ranks] the `calibration.Counts` of items that are `lift` times likelier than under uniform.

    probs: [n, m, k] of each candidate at each rank; slates: [n, k] candidate indices; size, h: [n].
    """
    expected, seen = np.zeros(len(lifts)), np.zeros(len(lifts))
    for row in range(len(probs)):
        for rank in range(out.shape[2]):
            expected[:], seen[:] = 0.0, 0.0
            for item in range(size[row]):
                q = probs[row, item, rank]
                for place in range(len(lifts)):
                    if q * size[row] < lifts[place]:
                        break
                    expected[place] += q
                    if slates[row, rank] == item:
                        seen[place] = 1.0
            for place in range(len(lifts)):
                _count(out[:, place, rank], min(expected[place], 1.0), seen[place], h[row])


@numba.njit(cache=True, nogil=True)
def item_counts(probs, slates, place, size, h, out):
    """Add to out [4, items, ranks + 1] the `calibration.Counts` of each item at each rank; at any rank in the last.

    place: [n, m] index of each candidate among the items.
    """
    ranks = out.shape[2] - 1
    for row in range(len(probs)):
        for item in range(size[row]):
            whole = anywhere = 0.0
            for rank in range(probs.shape[2]):
                seen = 1.0 if slates[row, rank] == item else 0.0
                whole += probs[row, item, rank]
                anywhere += seen
                if rank < ranks:
                    _count(out[:, place[row, item], rank], probs[row, item, rank], seen, h[row])
            _count(out[:, place[row, item], ranks], min(whole, 1.0), anywhere, h[row])


@numba.njit(cache=True, nogil=True, inline="always")
def _count(out, q, seen, weight):
    out[0] += weight * seen
    out[1] += weight * q
    out[2] += weight**2 * q * (1 - q)
    out[3] += weight**2 * (seen - q) ** 2


@numba.njit(cache=True, nogil=True)
def log_sums(probs, slates, size, length, h, least, centred):
    """Sum log(probability times candidates) of the shown items, minus its expectation.

    Returns the sum, its variance by rows, its variance if ranks are independent, and the maximum term of a row.
    centred: whether each item's mean over the ranks is subtracted. least: probabilities below are raised to it.
    """
    total, by_rows, alone, most = 0.0, 0.0, 0.0, 0.0
    value = np.empty(probs.shape[1:])
    for row in range(len(probs)):
        m, k = size[row], length[row]
        for item in range(m):  # loops, not slices: assigning to a slice takes seconds to compile
            mean = 0.0
            for rank in range(k):
                value[item, rank] = np.log(max(probs[row, item, rank] * m, least))
                mean += value[item, rank] / k
            for rank in range(k if centred else 0):
                value[item, rank] -= mean
        each, widest = 0.0, 0.0
        for rank in range(k):
            mean, square, low, high = 0.0, 0.0, np.inf, -np.inf
            for item in range(m):
                x = value[item, rank]
                mean += probs[row, item, rank] * x
                square += probs[row, item, rank] * x**2
                low, high = min(low, x), max(high, x)
            alone += h[row] ** 2 * max(square - mean**2, 0.0)
            widest += max(high - mean, mean - low)
            if slates[row, rank] >= 0:
                each += (value[slates[row, rank], rank] - mean) * h[row]
        total += each
        by_rows += each**2
        most = max(most, widest * h[row])
    return total, by_rows, alone, most
