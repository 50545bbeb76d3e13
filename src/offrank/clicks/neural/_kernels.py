"""Compiled loops of the neural click models: which documents belong together, and the numbers within a batch."""

from __future__ import annotations

import numba
import numpy as np

_exact = numba.njit(cache=True, nogil=True)


@numba.njit(cache=True, nogil=True, inline="always")
def _root(parent, at):
    while parent[at] != at:
        parent[at] = parent[parent[at]]
        at = parent[at]
    return at


@_exact
def together(document, documents):
    """[documents + 1] number of each document's group: what was shown in one session is in one group.

    Groups are numbered by their first document; the last place, for documents never seen, has a number of its own.
    """
    parent = np.arange(documents + 1)
    for i in range(document.shape[0]):
        first = -1
        for j in range(document.shape[1]):
            if document[i, j] < 0:
                continue
            root = _root(parent, document[i, j])
            if first < 0:
                first = root
            elif root < first:
                parent[first] = root
                first = root
            else:
                parent[root] = first
    out = np.empty(documents + 1, dtype=np.int64)
    groups = 0
    for at in range(documents + 1):
        if parent[at] == at:  # roots come before their members
            out[at] = groups
            groups += 1
        else:
            out[at] = out[_root(parent, at)]
    return out


@_exact
def renumbered(codes, weight, numbers, rows, share):
    """Codes [n, k] as places within a batch, by rank: returns [k, n], 0 where a code is below 0.

    Fills rows with the distinct codes, in order of appearance, and share with the weight [n] behind each; numbers is
    scratch, -1 everywhere before and after.
    """
    n, k = codes.shape
    places = np.zeros((k, n), dtype=np.int32)
    count = 0
    for i in range(n):
        for j in range(k):
            code = codes[i, j]
            if code < 0:
                continue
            if numbers[code] < 0:
                numbers[code] = count
                rows[count] = code
                share[count] = 0.0
                count += 1
            places[j, i] = numbers[code]
            share[numbers[code]] += weight[i]
    for at in range(count):
        numbers[rows[at]] = -1
    return places


@_exact
def previous(click, shown):
    """[n, k] whether the nearest document above each rank was clicked: 0 or 1, and 2 where there is none above."""
    n, k = click.shape
    out = np.empty((n, k), dtype=np.uint8)
    for i in range(n):
        last = 2
        for j in range(k):
            out[i, j] = last
            if shown[i, j]:
                last = 1 if click[i, j] > 0 else 0
    return out
