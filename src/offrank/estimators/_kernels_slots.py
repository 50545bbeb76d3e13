"""Compiled loops over the slots of weighted clicks: sums per block of slots, row by row.

out: [n, d]; block b of a row has `stride` columns from first + b * stride on. inverse: [n] 1 / inclusion.
"""

from __future__ import annotations

import numba

_jit = numba.njit(cache=True, nogil=True)


@_jit
def logged(clicks, length, inverse, out, first, stride, blocks):
    """Add slots, clicks, and clicks above each slot."""
    for row in range(len(length)):
        above, h = 0.0, inverse[row]
        for i in range(length[row]):
            place = first + min(i, blocks - 1) * stride
            click = clicks[row, i]
            out[row, place] += h
            out[row, place + 1] += h * click
            out[row, place + 2] += h * above
            above += click


@_jit
def weighted(weight, control, clicks, length, inverse, out, square, first, stride, blocks):
    """Add, with a = clicks above the slot: control, weight c, weight c^2, weight c a, control a.

    Column `square` gets the squares of control / inclusion.
    """
    for row in range(len(length)):
        above, h = 0.0, inverse[row]
        for i in range(length[row]):
            place = first + min(i, blocks - 1) * stride
            click = clicks[row, i]
            c, v = h * control[row, i], h * weight[row, i] * click
            out[row, place] += c
            out[row, place + 1] += v
            out[row, place + 2] += v * click
            out[row, place + 3] += v * above
            out[row, place + 4] += c * above
            out[row, square] += c * c
            above += click


@_jit
def normalising(weight, control, clicks, length, out, first, stride, blocks):
    """Add weight c and control; not divided by the inclusion."""
    for row in range(len(length)):
        for i in range(length[row]):
            place = first + min(i, blocks - 1) * stride
            out[row, place] += weight[row, i] * clicks[row, i]
            out[row, place + 1] += control[row, i]
