"""Compiled loops that turn flat lists into checked, padded arrays.

Lists are flat: `values` with `starts` [n] and `lengths` [n].
"""

from __future__ import annotations

import numba
import numpy as np

_jit = numba.njit(cache=True, nogil=True)

_FEW = 16  # up to here comparing all pairs beats a hash table


@_jit
def hash_strings(data, offsets):
    """64-bit code of each string: FNV-1a, then splitmix64's finish so that all bits count."""
    n = len(offsets) - 1
    codes = np.empty(n, dtype=np.uint64)
    for i in range(n):
        h = np.uint64(0xCBF29CE484222325)
        for at in range(offsets[i], offsets[i + 1]):
            h = (h ^ np.uint64(data[at])) * np.uint64(0x100000001B3)
        h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        codes[i] = h ^ (h >> np.uint64(31))
    return codes


@_jit
def pad(values, starts, lengths, out):
    """Copy row i's values to the head of out[i]."""
    for row in range(len(starts)):
        for j in range(lengths[row]):
            out[row, j] = values[starts[row] + j]


@_jit
def pad_square(values, starts, lengths, out):
    """Copy row i's lengths[i]^2 values, row-major, to the corner of out[i]."""
    for row in range(len(starts)):
        size = lengths[row]
        for i in range(size):
            for j in range(size):
                out[row, i, j] = values[starts[row] + i * size + j]


@numba.njit(cache=True, nogil=True, inline="always")
def _slot(code, mask):
    h = np.uint64(code) * np.uint64(0x9E3779B97F4A7C15)
    return np.int64((h ^ (h >> np.uint64(32))) & np.uint64(mask))


@_jit
def duplicates(values, starts, lengths):
    """[n] whether a list holds a value twice."""
    n = len(starts)
    found = np.zeros(n, dtype=np.bool_)
    mask = _table_mask(lengths)
    table, stamp = np.empty(mask + 1, dtype=np.int64), np.full(mask + 1, -1)
    for row in range(n):
        first, size = starts[row], lengths[row]
        if size <= _FEW:
            for i in range(1, size):
                for j in range(i):
                    found[row] |= values[first + i] == values[first + j]
            continue
        for i in range(size):
            slot = _slot(values[first + i], mask)
            while stamp[slot] == row and values[first + table[slot]] != values[first + i]:
                slot = (slot + 1) & mask
            found[row] |= stamp[slot] == row
            table[slot], stamp[slot] = i, row
    return found


@_jit
def locate(items, item_starts, item_lengths, values, starts, lengths, out):
    """Write to out[n, k] the place of each item in the row's list of values, -2 where it has none."""
    mask = _table_mask(lengths)
    table, stamp = np.empty(mask + 1, dtype=np.int64), np.full(mask + 1, -1)
    for row in range(len(starts)):
        first, size = starts[row], lengths[row]
        hashed = size > _FEW
        if hashed:
            for i in range(size):
                slot = _slot(values[first + i], mask)
                while stamp[slot] == row and values[first + table[slot]] != values[first + i]:
                    slot = (slot + 1) & mask
                if stamp[slot] != row:
                    table[slot], stamp[slot] = i, row
        for j in range(item_lengths[row]):
            item, place = items[item_starts[row] + j], -2
            if hashed:
                slot = _slot(item, mask)
                while stamp[slot] == row and values[first + table[slot]] != item:
                    slot = (slot + 1) & mask
                if stamp[slot] == row:
                    place = table[slot]
            else:
                for i in range(size):
                    if values[first + i] == item:
                        place = i
                        break
            out[row, j] = place


@_jit
def _table_mask(lengths):
    """Size of a hash table for the longest list, less one: a power of two at least twice as large."""
    size = 2
    longest = 0
    for length in lengths:
        longest = max(longest, length)
    while size < 2 * longest:
        size *= 2
    return size - 1


@_jit
def bad_rank_propensity(matrices, lengths):
    """[n] whether a matrix [k, k] is not one of probabilities with a positive diagonal."""
    n = len(lengths)
    bad = np.zeros(n, dtype=np.bool_)
    for row in range(n):
        for i in range(lengths[row]):
            total = 0.0
            for j in range(lengths[row]):
                p = matrices[row, i, j]
                bad[row] |= not p >= 0.0
                total += p
            bad[row] |= (not total <= 1.001) | (matrices[row, i, i] <= 0.0)
    return bad
