# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False, check-untyped-defs=False
"""Compiled loops over pairs of arrivals, for weights that all differ.

P(a at j, b at k), j < k, is a double integral over the times t < v when a and b arrive, of w_a
exp(-w_a t) w_b exp(-w_b v) [x^j y^(k-j-1)] prod_(i not a, b) (x p_i + y s_i + r_i), where item i has
arrived by t with probability p_i, in between with s_i, and not by v with r_i. A polynomial is an
array [places, lanes]: place(i, j) of x^i y^j, i + j <= degree, in rows of equal i.
"""

from __future__ import annotations

import numpy as np

from ...language.compiled import jit
from ._kernels_races import LANES, copy, one


@jit
def _rows(degree):
    """[degree + 2] place where each power of x begins."""
    begin = np.zeros(degree + 2, dtype=np.int64)
    for i in range(degree + 1):
        begin[i + 1] = begin[i] + degree + 1 - i
    return begin


@jit
def _times(poly, p, s, r, begin):
    """Multiply by r + p x + s y, in every lane."""
    degree = len(begin) - 2
    for i in range(degree, -1, -1):
        for j in range(degree - i, -1, -1):
            here, left, down = begin[i] + j, begin[i] + j - 1, begin[i - 1] + j
            for lane in range(LANES):
                value = poly[here, lane] * r[lane]
                if j > 0:
                    value += poly[left, lane] * s[lane]
                if i > 0:
                    value += poly[down, lane] * p[lane]
                poly[here, lane] = value


@jit
def _divide(poly, p, s, r, begin, out):
    """out <- poly / (r + p x + s y); keeps its precision where r >= 1 / 2."""
    degree = len(begin) - 2
    for i in range(degree + 1):
        for j in range(degree + 1 - i):
            here, left, down = begin[i] + j, begin[i] + j - 1, begin[i - 1] + j
            for lane in range(LANES):
                value = poly[here, lane]
                if j > 0:
                    value -= out[left, lane] * s[lane]
                if i > 0:
                    value -= out[down, lane] * p[lane]
                out[here, lane] = value / r[lane]


@jit
def _light_pairs(full, p, s, r, gain, first, begin, rest, law):
    """Add to law [places, items] the integrals of the items from `first` on, divided out side by side."""
    degree, m = len(begin) - 2, law.shape[1]
    inverse = np.empty(m)
    for lane in range(LANES):
        for b in range(first, m):
            inverse[b] = 1.0 / r[lane, b]
        for i in range(degree + 1):
            for j in range(degree + 1 - i):
                here, left, down = begin[i] + j, begin[i] + j - 1, begin[i - 1] + j
                value = full[here, lane]
                if i > 0 and j > 0:
                    for b in range(first, m):
                        x = value - rest[left, b] * s[lane, b] - rest[down, b] * p[b]
                        rest[here, b] = x * inverse[b]
                        law[here, b] += gain[lane, b] * rest[here, b]
                elif i > 0 or j > 0:
                    for b in range(first, m):
                        x = value - (rest[down, b] * p[b] if i > 0 else rest[left, b] * s[lane, b])
                        rest[here, b] = x * inverse[b]
                        law[here, b] += gain[lane, b] * rest[here, b]
                else:
                    for b in range(first, m):
                        rest[here, b] = value * inverse[b]
                        law[here, b] += gain[lane, b] * rest[here, b]


@jit
def _heavy_pairs(stack, p, s, r, gain, members, begin, law):
    """Add the integrals of the items `members`, by halving as in `leave_one_out`; stack[0]: all other items."""
    for index in range(len(members)):
        low, high, level = 0, len(members), 0
        while high - low > 1:
            middle, first, last = (low + high) // 2, low, high
            if index < middle:
                high, first = middle, middle
            else:
                low, last = middle, middle
            level += 1
            if index == low:
                poly = stack[level]
                copy(poly, stack[level - 1])
                for other in range(first, last):
                    item = members[other]
                    _times(poly, p[item], s[item], r[item], begin)
        poly, item = stack[level], members[index]
        for place in range(len(poly)):
            total = 0.0
            for lane in range(LANES):
                total += gain[lane, item] * poly[place, lane]
            law[place, item] += total


@jit
def _second_arrivals(weights, time, gap, slope, p, s, r, rows):
    """p, s, r [m, lanes] at t and t + gap.

    rows: the same items side by side, p [m], then s, r and the density of the arrival at t + gap [lanes, m].
    """
    by_p, by_s, by_r, gain = rows
    for item in range(len(weights)):
        early, arrived = np.exp(-weights[item] * time), -np.expm1(-weights[item] * time)
        by_p[item] = arrived
        for lane in range(LANES):
            x = weights[item] * gap[lane]
            p[item, lane] = arrived
            r[item, lane] = early * np.exp(-x)
            s[item, lane] = -early * np.expm1(-x)
            by_s[lane, item], by_r[lane, item] = s[item, lane], r[item, lane]
            gain[lane, item] = slope[lane] * x * r[item, lane]


@jit
def _add_block(p, s, r, rows, first_gain, begin, work, law):
    """Add to law[a, place, b], for one time of the first arrival and LANES of the second."""
    m, heavy = len(p), 0
    by_p, by_s, by_r, gain = rows
    light, base, stack, rest, own, members = work
    for lane in range(LANES):
        while heavy < m and r[heavy, lane] < 0.5:
            heavy += 1
    one(light)
    for item in range(heavy, m):
        _times(light, p[item], s[item], r[item], begin)
    for a in range(m):
        if a < heavy:
            copy(base, light)
        else:
            _divide(light, p[a], s[a], r[a], begin, base)
        for lane in range(LANES):  # density of a arriving first, and each other item second
            for b in range(m):
                own[lane, b] = first_gain[a] * gain[lane, b]
            own[lane, a] = 0.0
        count = 0
        for b in range(heavy):
            if b != a:
                members[count] = b
                count += 1
        copy(stack[0], base)
        _heavy_pairs(stack, p, s, r, own, members[:count], begin, law[a])
        for b in members[:count]:
            _times(base, p[b], s[b], r[b], begin)
        _light_pairs(base, by_p, by_s, by_r, own, heavy, begin, rest, law[a])


@jit
def _chance_below(weights, time, count):
    """Probability that fewer than `count` items have arrived."""
    poly, total = np.zeros(count), 0.0
    poly[0] = 1.0
    for weight in weights:
        arrived = -np.expm1(-weight * time)
        for j in range(count - 1, 0, -1):
            poly[j] = poly[j] * (1.0 - arrived) + poly[j - 1] * arrived
        poly[0] *= 1.0 - arrived
    for j in range(count):
        total += poly[j]
    return total


@jit
def pair_race(weights, length, law):
    """Add to law [m, places, m] P(a at j, b at k), j < k, in the order of (j, k); positive weights, heaviest first.

    Both integrals by the trapezoid rule in log time, doubly exponential at both ends.
    """
    m, begin = len(weights), _rows(length - 2)
    places = begin[length - 1]
    step = min(0.22, 0.7 / np.sqrt(length))
    start = -np.log(weights.sum()) - 3.0
    p, s, r = np.empty((m, LANES)), np.empty((m, LANES)), np.empty((m, LANES))
    rows = (np.empty(m), np.empty((LANES, m)), np.empty((LANES, m)), np.empty((LANES, m)))
    first_gain, gap, slope = np.empty(m), np.empty(LANES), np.empty(LANES)
    light, base, rest = np.empty((places, LANES)), np.empty((places, LANES)), np.empty((places, m))
    stack = np.empty((1 + int(np.ceil(np.log2(m))), places, LANES))
    work = (light, base, stack, rest, np.empty((LANES, m)), np.empty(m, dtype=np.int64))
    outer = -3.3
    while True:
        time = np.exp(start + outer - np.exp(-outer))
        if _chance_below(weights, time, length - 1) < 1e-14:
            break
        for item in range(m):
            first_gain[item] = step * (1.0 + np.exp(-outer)) * weights[item] * time * np.exp(-weights[item] * time)
        inner = -3.3
        while True:
            for lane in range(LANES):
                point = inner + lane * step
                gap[lane] = np.exp(start + point - np.exp(-point))
                slope[lane] = step * (1.0 + np.exp(-point))
            if _chance_below(weights, time + gap[0], length) < 1e-14:
                break
            _second_arrivals(weights, time, gap, slope, p, s, r, rows)
            _add_block(p, s, r, rows, first_gain, begin, work, law)
            inner += LANES * step
        outer += step
