# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False, check-untyped-defs=False
"""Compiled loops that draw slates, and orders of a displayed set. All draws are exact, not approximate."""

from __future__ import annotations

import numpy as np

from ...language.compiled import jit
from ._kernels_orders import log_last, mode_and_ends

_TRIES = 16


@jit
def alias_table(weights):
    """The alias table (keep [m], other [m]): column c is item c for a share keep[c], else item other[c]."""
    m = len(weights)
    keep, other = weights * (m / weights.sum()), np.arange(m)
    small, large = np.empty(m, dtype=np.int64), np.empty(m, dtype=np.int64)
    smalls, larges = 0, 0
    for item in range(m):
        if keep[item] < 1.0:
            small[smalls] = item
            smalls += 1
        else:
            large[larges] = item
            larges += 1
    while smalls > 0 and larges > 0:
        smalls -= 1
        low, high = small[smalls], large[larges - 1]
        other[low] = high
        keep[high] -= 1.0 - keep[low]
        if keep[high] < 1.0:
            larges -= 1
            small[smalls] = high
            smalls += 1
    # The remaining columns have share one, up to rounding; weights of zero are never among them.
    for index in range(smalls):
        keep[small[index]] = 1.0 if weights[small[index]] > 0.0 else 0.0
    return keep, other


@jit
def _among_the_left(weights, drawn, row, u):
    """The item at the share u of the total weight of items not drawn yet."""
    total, found = 0.0, -1
    for item in range(len(weights)):
        if drawn[item] != row:
            total += weights[item]
    target, total = u * total, 0.0
    for item in range(len(weights)):
        if drawn[item] != row and weights[item] > 0.0:
            total += weights[item]
            found = item
            if total > target:
                break
    return found


@jit
def draw_slates(weights, rng, out):
    """out [n, length] <- items, top first; weights of zero come after all others, in uniform order.

    Drawing with replacement and skipping items already drawn is drawing without replacement;
    if that fails too often, the draw is made among the remaining items, which is the same law.
    """
    m, length = len(weights), out.shape[1]
    zero = np.zeros(m)
    for item in range(m):
        zero[item] = 1.0 if weights[item] == 0.0 else 0.0
    positive = m - int(zero.sum())
    keep, other = alias_table(weights if positive else zero)
    drawn = np.full(m, -1)
    for row in range(len(out)):
        for slot in range(length):
            found, tries = -1, _TRIES if slot < positive else 0
            while found < 0 and tries > 0:
                u = rng.random() * m
                column = int(u)
                item = column if u - column < keep[column] else other[column]
                if drawn[item] != row:
                    found = item
                tries -= 1
            if found < 0:
                found = _among_the_left(weights if slot < positive else zero, drawn, row, rng.random())
            drawn[found] = row
            out[row, slot] = found


@jit
def _slope(weights, rest, log_time):
    """Derivative of `log_last`."""
    u = np.exp(log_time)
    total = 1.0 - rest * u
    for weight in weights:
        x = weight * u
        total += x / np.expm1(x) if x > 1e-12 else 1.0
    return total


@jit
def _envelope(weights, rest, points):
    """(point, height, slope, end, share) of tangents to the concave `log_last`, and their cumulative masses."""
    left, mode, right = mode_and_ends(weights, rest, 20.0)
    top = log_last(weights, rest, mode)
    point, height, slope = np.empty(points), np.empty(points), np.empty(points)
    for index in range(points):
        point[index] = left + (right - left) * index / (points - 1)
        height[index] = log_last(weights, rest, point[index]) - top
        slope[index] = _slope(weights, rest, point[index])
    end, share = np.full(points + 1, np.inf), np.zeros(points + 1)
    end[0] = -np.inf
    for index in range(1, points):
        bend = slope[index - 1] - slope[index]
        fall = height[index] - height[index - 1] - slope[index] * (point[index] - point[index - 1])
        middle = point[index - 1] + fall / bend if bend > 1e-9 else (point[index - 1] + point[index]) / 2
        end[index] = min(max(middle, point[index - 1]), point[index])
    for index in range(points):
        low, high, d = end[index] - point[index], end[index + 1] - point[index], slope[index]
        if abs(d) < 1e-9:
            mass = high - low
        else:
            mass = ((np.exp(d * high) if high < np.inf else 0.0) - (np.exp(d * low) if low > -np.inf else 0.0)) / d
        share[index + 1] = share[index] + mass * np.exp(height[index])
    return point, height, slope, end, share


@jit
def _under_tangent(low, high, d, v):
    """A draw with density proportional to exp(d x) between low and high, from a uniform v."""
    if low == -np.inf:
        return high + np.log(v) / d
    if high == np.inf:
        return low + np.log(v) / d
    if abs(d) < 1e-9:
        return low + v * (high - low)
    return low + np.log1p(v * np.expm1(d * (high - low))) / d


@jit
def _draw_last(weights, rest, top, point, height, slope, end, share, rng):
    """log u, by rejection from under the tangents; chords between the points spare most evaluations."""
    while True:
        index = np.searchsorted(share, rng.random() * share[-1], side="right") - 1
        index = min(index, len(point) - 1)
        x = _under_tangent(end[index], end[index + 1], slope[index], 1.0 - rng.random())
        above = height[index] + slope[index] * (x - point[index])
        target = above + np.log(1.0 - rng.random())
        next_to = index + 1 if x > point[index] else index - 1
        if 0 <= next_to < len(point):
            part = (x - point[index]) / (point[next_to] - point[index])
            if target <= height[index] + part * (height[next_to] - height[index]):
                return x
        if target <= log_last(weights, rest, x) - top:
            return x


@jit
def _arrival_order(keys, order):
    """order <- indices by ascending key."""
    if len(keys) > 48:
        order[:] = np.argsort(keys, kind="mergesort")
        return
    for index in range(len(keys)):
        place = index
        while place > 0 and keys[order[place - 1]] > keys[index]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = index


@jit
def draw_orders(weights, rest, rng, out):
    """out [n, l] <- orders of a displayed set, top first, as indices.

    Given that the first item not shown arrives at u, the shown ones arrive independently, each before u.
    """
    size = len(weights)
    keys, u = np.empty(size), np.inf
    if rest > 0.0:
        point, height, slope, end, share = _envelope(weights, rest, 64)
        top = log_last(weights, rest, point[32]) - height[32]
    for row in range(len(out)):
        if rest > 0.0:
            u = np.exp(_draw_last(weights, rest, top, point, height, slope, end, share, rng))
        for item in range(size):
            v = rng.random()
            if rest == 0.0:
                keys[item] = -np.log1p(-v) / weights[item] if weights[item] > 0.0 else 1e305 * (1.0 + v)
            else:
                x = weights[item] * u
                keys[item] = -np.log1p(v * np.expm1(-x)) / x if x > 1e-12 else v
        _arrival_order(keys, out[row])
