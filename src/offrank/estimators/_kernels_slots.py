# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False, check-untyped-defs=False
"""Compiled loops that sum weighted clicks per block of slots.

Block b has `stride` numbers from first + b * stride on. inverse: [n] 1 / inclusion. rows: those to include.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from ..compiled import jit


@jit
def squares(rows, reward, inverse):
    """The sum of the squared rewards [n]."""
    found = 0.0
    for row in rows:
        found += inverse[row] * reward[row] * reward[row]
    return found


@jit
def whole(rows, weight, control, reward, inverse, out, first):
    """Add to out [d], for weights of whole slates: weighted reward, its product with the reward, squared control."""
    earned, squared, mass = 0.0, 0.0, 0.0
    for row in rows:
        value, c = inverse[row] * weight[row] * reward[row], inverse[row] * control[row]
        earned += value
        squared += value * reward[row]
        mass += c * c
    out[first] += earned
    out[first + 1] += squared
    out[first + 2] += mass


@jit
def logged(rows, clicks, length, inverse, out, first, stride, blocks):
    """Add to out [d]: slots, clicks, and clicks above each slot."""
    for row in rows:
        above, h = 0.0, inverse[row]
        for i in range(length[row]):
            place = first + min(i, blocks - 1) * stride
            click = clicks[row, i]
            out[place] += h
            out[place + 1] += h * click
            out[place + 2] += h * above
            above += click


@jit
def weighted(rows, weight, control, clicks, length, inverse, out, square, first, stride, blocks):
    """Add to out [d], with a = clicks above the slot: control, weight c, weight c^2, weight c a, control a.

    Adds the squares of control / inclusion to out[square].
    """
    squares = 0.0
    for row in rows:
        above, h = 0.0, inverse[row]
        for i in range(length[row]):
            place = first + min(i, blocks - 1) * stride
            click = clicks[row, i]
            c, v = h * control[row, i], h * weight[row, i] * click
            out[place] += c
            out[place + 1] += v
            out[place + 2] += v * click
            out[place + 3] += v * above
            out[place + 4] += c * above
            squares += c * c
            above += click
    out[square] += squares


@jit
def normalising(weight, control, clicks, length, out, first, stride, blocks):
    """Add to out [n, d], row by row: weight c and control, not divided by the inclusion."""
    for row in range(len(length)):
        for i in range(length[row]):
            place = first + min(i, blocks - 1) * stride
            out[row, place] += weight[row, i] * clicks[row, i]
            out[row, place + 1] += control[row, i]
