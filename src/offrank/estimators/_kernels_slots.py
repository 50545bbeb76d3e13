# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False, check-untyped-defs=False
"""Compiled loops that sum weighted clicks per block of slots.

The last block holds all further slots. inverse: [n] 1 / inclusion. rows: those to include. Sums [blocks] are added to.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from ..language.compiled import jit
from ..log.batch import PRICED


@jit
def outcomes(rows, reward, clicks, kind, known, rounding, inverse, found):
    """Add the squares of the logged rewards and clicks, both [n], then the counts of `Marks`, to `found`.

    kind: [n] of the clicks, as in `LogBatch`. known: whether there are clicks. rounding: the share of the larger one by
    which a reward and the sum of the clicks may differ.
    """
    rewards, squares, unlike, priced, rewarded, clicked = 0.0, 0.0, 0, 0, 0, 0
    for row in rows:
        r, c = reward[row], clicks[row]
        rewards += inverse[row] * r * r
        squares += inverse[row] * c * c
        rewarded += r != 0.0
        clicked += c != 0.0
        unlike += r != c and not abs(r - c) <= rounding * max(c, abs(r))
        priced += kind[row] == PRICED
    found[0] += rewards
    found[1] += squares
    if known:
        found[2] += len(rows)
        found[3] += unlike
        found[4] += priced
    found[5] += rewarded
    found[6] += clicked


@jit
def whole(rows, weight, control, reward, inverse):
    """The sums of weighted reward, of its product with the reward, and of the squared control, of whole slates."""
    earned, squared, mass = 0.0, 0.0, 0.0
    for row in rows:
        value, c = inverse[row] * weight[row] * reward[row], inverse[row] * control[row]
        earned += value
        squared += value * reward[row]
        mass += c * c
    return earned, squared, mass


@jit
def logged(rows, clicks, length, inverse, number, clicked, over):
    """Add slots, clicks, and clicks above each slot."""
    for row in rows:
        above, h = 0.0, inverse[row]
        for i in range(length[row]):
            place = min(i, len(number) - 1)
            click = clicks[row, i]
            number[place] += h
            clicked[place] += h * click
            over[place] += h * above
            above += click


@jit
def weighted(rows, weight, control, clicks, length, inverse, mass, value, square, pair, beside):
    """Add, with a = clicks above the slot: control, weight c, weight c^2, weight c a, control a.

    Returns the sum of the squares of control / inclusion.
    """
    squares = 0.0
    for row in rows:
        above, h = 0.0, inverse[row]
        for i in range(length[row]):
            place = min(i, len(mass) - 1)
            click = clicks[row, i]
            c, v = h * control[row, i], h * weight[row, i] * click
            mass[place] += c
            value[place] += v
            square[place] += v * click
            pair[place] += v * above
            beside[place] += c * above
            squares += c * c
            above += click
    return squares


@jit
def normalising(weight, control, clicks, length, value, mass):
    """Add to value and mass [n, blocks], row by row: weight c and control, not divided by the inclusion."""
    for row in range(len(length)):
        for i in range(length[row]):
            place = min(i, value.shape[1] - 1)
            value[row, place] += weight[row, i] * clicks[row, i]
            mass[row, place] += control[row, i]
