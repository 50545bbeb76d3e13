# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False, check-untyped-defs=False
"""Compiled loops that count and sum: a hash table of blocks, each of one document in eight adjacent cells.

slots [a power of two] holds indices of blocks, -1 where free; block i belongs to the cells from 8 keys[i, 0] on of the
document of query keys[i, 1] and item keys[i, 2]; counts[i, cell % 8] is (shown, clicked).
"""

from __future__ import annotations

import numpy as np

from ..language.compiled import inlined, jit
from ..log.hashing import ODD, SEED, joined_key


@inlined
def _slot(slots, keys, block, query, item, key):
    """The slot of a block, or the slot where it would be inserted; key: that of the query."""
    mask = np.uint64(len(slots) - 1)
    x = (joined_key(item, key) + np.uint64(block) * np.uint64(0xD6E8FEB86659FD93)) * ODD
    at = (x ^ (x >> np.uint64(32))) & mask
    while slots[at] >= 0:
        held = keys[slots[at]]
        if held[2] == item and held[1] == query and held[0] == block:
            break
        at = (at + np.uint64(1)) & mask
    return at


@jit
def add_sessions(
    slots, keys, counts, used, most, limit, row, candidates, slates, clicks, query, weight, browsing, base
):
    """Count sessions from `row` on until the table may be full; returns (blocks used, largest count, next row).

    candidates [n, m], slates and clicks [n, k], query and weight [n]. Cells are ranks, or (browsing) rank
    (rank + 1) / 2 + the last clicked rank above, counted from 1; from base [n] on, a multiple of 8. No count goes above
    limit.
    """
    n, k = slates.shape
    while row < n and used + k <= len(keys) and most < limit:
        key, last, w = joined_key(query[row], SEED), 0, weight[row]
        for rank in range(k):
            if slates[row, rank] < 0:
                continue
            item = candidates[row, slates[row, rank]]
            cell = base[row] + (rank * (rank + 1) // 2 + last if browsing else rank)
            at = _slot(slots, keys, cell >> 3, query[row], item, key)
            if slots[at] < 0:
                slots[at] = used
                keys[used, 0], keys[used, 1], keys[used, 2] = cell >> 3, query[row], item
                used += 1
            counts[slots[at], cell & 7, 0] += w
            most = max(most, counts[slots[at], cell & 7, 0])
            if clicks[row, rank] > 0:
                counts[slots[at], cell & 7, 1] += w
                last = rank + 1
        row += 1
    return used, most, row


@jit
def find_slots(slots, keys, used):
    """Write the indices of the blocks in use to free slots."""
    for block in range(used):
        own = keys[block]
        slots[_slot(slots, keys, own[0], own[1], own[2], joined_key(own[1], SEED))] = block


@jit
def add_blocks(slots, keys, counts, used, more_keys, more_counts):
    """Add the counts of another table, for which there must be room; returns the number of blocks used."""
    for other in range(len(more_keys)):  # loops: rows of unknown shapes take long to compile
        own = more_keys[other]
        at = _slot(slots, keys, own[0], own[1], own[2], joined_key(own[1], SEED))
        if slots[at] < 0:
            slots[at] = used
            for part in range(keys.shape[1]):
                keys[used, part] = more_keys[other, part]
            used += 1
        for cell in range(counts.shape[1]):
            for kind in range(counts.shape[2]):
                counts[slots[at], cell, kind] += more_counts[other, cell, kind]
    return used


@jit
def look_at(clicks):
    """(row of the first click that is not a whole number, or -1; clicks beyond the first on the same rank)."""
    n, k = clicks.shape
    repeated = 0.0
    for row in range(n):
        for rank in range(k):
            count = clicks[row, rank]
            if count != np.floor(count):
                return row, repeated
            if count > 1.0:
                repeated += count - 1.0
    return -1, repeated


@jit
def add_features(line, place, offsets, indices, values, out):
    """Add the sparse features of line[i] to the row place[i] of `out` [rows, width]; more are left out."""
    for i in range(len(line)):
        for entry in range(offsets[line[i]], offsets[line[i] + 1]):
            if indices[entry] < out.shape[1]:
                out[place[i], indices[entry]] += values[entry]
