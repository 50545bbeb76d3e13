"""Compiled loops of counting: a hash table by open addressing, whose entries lie side by side in memory."""

from __future__ import annotations

import numba
import numpy as np

ENTRY = np.dtype([("document", np.int64), ("cell", np.int64), ("shown", np.float64), ("clicked", np.float64)])
"""What was counted of a document in a cell. An entry that was never shown is free."""

SEED = np.uint64(0x243F6A8885A308D3)

_exact = numba.njit(cache=True, nogil=True)
_inline = numba.njit(cache=True, nogil=True, inline="always")


@_inline
def _mixed(part, key):
    """A step of folds.counts.join."""
    x = (np.uint64(part) ^ key) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@_inline
def _place(table, mask, document, cell):
    """Where the entry of a document in a cell is, or would be."""
    x = (np.uint64(document) + np.uint64(cell) * np.uint64(0xD6E8FEB86659FD93)) * np.uint64(0x9E3779B97F4A7C15)
    at = (x ^ (x >> np.uint64(32))) & mask
    while table[at].shown != 0.0 and (table[at].document != document or table[at].cell != cell):
        at = (at + np.uint64(1)) & mask
    return at


@_exact
def add_sessions(table, used, row, candidates, slates, clicks, query, grouped, weight, browsing):
    """Count sessions from `row` on until the table is half full: (entries used, next row).

    candidates [n, m], slates and clicks [n, k], query and weight [n]. Cells are ranks, or (browsing) rank
    (rank + 1) / 2 + the last clicked rank above, counted from 1.
    """
    n, k = slates.shape
    mask = np.uint64(len(table) - 1)
    while row < n and 2 * (used + k) <= len(table):
        key, last = _mixed(query[row], SEED), 0
        for rank in range(k):
            if slates[row, rank] >= 0:
                document = candidates[row, slates[row, rank]]
                if grouped:
                    document = np.int64(_mixed(document, key))
                cell = rank * (rank + 1) // 2 + last if browsing else rank
                at = _place(table, mask, document, cell)
                if table[at].shown == 0.0:
                    used += 1
                    table[at].document, table[at].cell = document, cell
                table[at].shown += weight[row]
                if clicks[row, rank] > 0:
                    table[at].clicked += weight[row]
                    last = rank + 1
        row += 1
    return used, row


@_exact
def add_entries(table, used, entries):
    """Count what another table has counted; there must be room. Returns the number of entries used."""
    mask = np.uint64(len(table) - 1)
    for other in range(len(entries)):
        if entries[other].shown == 0.0:
            continue
        at = _place(table, mask, entries[other].document, entries[other].cell)
        if table[at].shown == 0.0:
            used += 1
            table[at].document, table[at].cell = entries[other].document, entries[other].cell
        table[at].shown += entries[other].shown
        table[at].clicked += entries[other].clicked
    return used


@_exact
def look_at(clicks):
    """(row of the first click that is no whole number or -1, clicks beyond the first on the same rank)."""
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
