# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False, check-untyped-defs=False
"""Compiled loop over the sparse features of candidates."""

from __future__ import annotations

import numba

_exact = numba.njit(cache=True, nogil=True)


@_exact
def add_features(line, place, offsets, indices, values, out):
    """Add the features of line[i] to the row place[i] of `out` [rows, width]; more are left out."""
    for i in range(len(line)):
        for entry in range(offsets[line[i]], offsets[line[i] + 1]):
            if indices[entry] < out.shape[1]:
                out[place[i], indices[entry]] += values[entry]
