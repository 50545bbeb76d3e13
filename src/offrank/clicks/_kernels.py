"""Compiled loops of click models: hash tables of documents. Keys are 64-bit; tables hold places, -1 where free."""

from __future__ import annotations

import numba
import numpy as np

from ..log.hashing import ODD, SEED, joined

_exact = numba.njit(cache=True, nogil=True)


@numba.njit(cache=True, nogil=True, inline="always")
def _slot(key, mask):
    """Where to look first: items may be small integers, so the bits are mixed."""
    x = np.uint64(key) * ODD
    return (x ^ (x >> np.uint64(32))) & mask


@_exact
def _filled(keys, size):
    table = np.full(size, -1, dtype=np.int64)
    mask = np.uint64(len(table) - 1)
    for place in range(len(keys)):
        at = _slot(keys[place], mask)
        while table[at] >= 0:
            at = (at + np.uint64(1)) & mask
        table[at] = place
    return table


@_exact
def hash_table(keys):
    """Places of distinct keys [d] by open addressing, at most half full."""
    size = 16
    while size < 2 * len(keys):
        size *= 2
    return _filled(keys, size)


@_exact
def find(table, keys, wanted):
    """Place of each wanted key, -1 where it is none of `keys`."""
    out = np.empty(wanted.shape, dtype=np.int64)
    flat, found = wanted.ravel(), out.ravel()
    mask = np.uint64(len(table) - 1)
    for i in range(len(flat)):
        at = _slot(flat[i], mask)
        place = table[at]
        while place >= 0 and keys[place] != flat[i]:
            at = (at + np.uint64(1)) & mask
            place = table[at]
        found[i] = place
    return out


@_exact
def encode(wanted, shown):
    """(distinct keys in order of appearance, [n, k] place of each shown key, -1 where nothing is shown)."""
    n, k = wanted.shape
    codes = np.full((n, k), -1, dtype=np.int32)
    keys = np.empty(n * k, dtype=np.int64)
    table = np.full(1024, -1, dtype=np.int64)
    count = 0
    for i in range(n):
        for j in range(k):
            if not shown[i, j]:
                continue
            mask = np.uint64(len(table) - 1)
            at = _slot(wanted[i, j], mask)
            while table[at] >= 0 and keys[table[at]] != wanted[i, j]:
                at = (at + np.uint64(1)) & mask
            if table[at] < 0:
                keys[count] = wanted[i, j]
                table[at] = count
                count += 1
            codes[i, j] = table[at]
            if 2 * count > len(table):
                table = _filled(keys[:count], 4 * len(table))
    return keys[:count].copy(), codes


@_exact
def session_hash(document, click):
    """[n] 64-bit hash of the documents and clicks of each session."""
    n, k = document.shape
    out = np.empty(n, dtype=np.uint64)
    for i in range(n):
        x = SEED
        for j in range(k):
            x = joined(np.int64(document[i, j]) * 2 + click[i, j], x)
        out[i] = x
    return out
