# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False, check-untyped-defs=False
"""Compiled loops over pairs of arrivals, for weights that all differ.

P(a at j, b at k), j < k, is a double integral over the times t < v when a and b arrive, of w_a
exp(-w_a t) w_b exp(-w_b v) [x^j y^(k-j-1)] prod_(i not a, b) (x p_i + y s_i + r_i), where item i has
arrived by t with probability p_i, in between with s_i, and not by v with r_i. A polynomial is an
array [places, lanes]: place(i, j) of x^i y^j, i + j <= degree, in rows of equal i.
"""

from __future__ import annotations

import numba
import numpy as np

from ._kernels import LANES, levels

_jit = numba.njit(cache=True, nogil=True)


@_jit
def _rows(degree):
    """[degree + 2] place where each power of x begins."""
    begin = np.zeros(degree + 2, dtype=np.int64)
    for i in range(degree + 1):
        begin[i + 1] = begin[i] + degree + 1 - i
    return begin


@_jit
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


@_jit
def _divide(poly, p, s, r, begin, out):
    """out <- poly / (r + p x + s y); keeps its digits where r >= 1 / 2."""
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


@_jit
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


@_jit
def _heavy_pairs(stack, p, s, r, gain, members, begin, law):
    """Add the integrals of the items `members`, by halving as in `leave_one_out`; stack[0]: all other items."""
    todo = np.empty((2 * len(stack) + 2, 5), dtype=np.int64)
    todo[0] = (0, len(members), 0, 0, 0)
    left = 1 if len(members) > 0 else 0
    while left > 0:
        left -= 1
        low, high, level, other_low, other_high = todo[left]
        poly = stack[level]
        if level > 0:
            poly[:] = stack[level - 1]
        for index in range(other_low, other_high):
            item = members[index]
            _times(poly, p[item], s[item], r[item], begin)
        if high - low == 1:
            for place in range(len(poly)):
                total = 0.0
                for lane in range(LANES):
                    total += gain[lane, members[low]] * poly[place, lane]
                law[place, members[low]] += total
            continue
        middle = (low + high) // 2
        todo[left] = (low, middle, level + 1, middle, high)
        todo[left + 1] = (middle, high, level + 1, low, middle)
        left += 2


@_jit
def _second_arrivals(weights, time, gap, slope, p, s, r, gain):
    """p, s, r [m, lanes] at t and t + gap, and gain [lanes, m]: density of the arrival at t + gap."""
    for item in range(len(weights)):
        early = np.exp(-weights[item] * time)
        for lane in range(LANES):
            x = weights[item] * gap[lane]
            p[item, lane] = -np.expm1(-weights[item] * time)
            r[item, lane] = early * np.exp(-x)
            s[item, lane] = -early * np.expm1(-x)
            gain[lane, item] = slope[lane] * x * r[item, lane]


@_jit
def _add_block(p, s, r, gain, first_gain, begin, work, law):
    """Add to law[a, place, b], for one time of the first arrival and LANES of the second."""
    m, places = len(p), begin[len(begin) - 1]
    light, base, stack, rest = work
    first = 0
    for lane in range(LANES):
        while first < m and r[first, lane] < 0.5:
            first += 1
    light[:] = 0.0
    light[0] = 1.0
    for item in range(first, m):
        _times(light, p[item], s[item], r[item], begin)
    flat_s, flat_r, own = np.ascontiguousarray(s.T), np.ascontiguousarray(r.T), np.empty_like(gain)
    for a in range(m):
        if a < first:
            base[:] = light
        else:
            _divide(light, p[a], s[a], r[a], begin, base)
        for lane in range(LANES):
            for b in range(m):
                own[lane, b] = first_gain[a] * gain[lane, b]
            own[lane, a] = 0.0
        members = np.array([b for b in range(first) if b != a])
        stack[0, :places] = base
        _heavy_pairs(stack, p, s, r, own, members, begin, law[a])
        for b in members:
            _times(base, p[b], s[b], r[b], begin)
        _light_pairs(base, p[:, 0].copy(), flat_s, flat_r, own, first, begin, rest, law[a])


@_jit
def _chance_below(p, count):
    """Probability that fewer than `count` items have arrived."""
    poly = np.zeros(count)
    poly[0] = 1.0
    for arrived in p:
        for j in range(count - 1, 0, -1):
            poly[j] = poly[j] * (1.0 - arrived) + poly[j - 1] * arrived
        poly[0] *= 1.0 - arrived
    return poly.sum()


@_jit
def pair_race(weights, length, law):
    """law [m, places, m] <- P(a at j, b at k), j < k, at place(j, k - j - 1); positive weights, heaviest first.

    Both integrals by the trapezoid rule in log time, doubly exponential at both ends.
    """
    m = len(weights)
    begin = _rows(length - 2)
    places = begin[length - 1]
    step = min(0.22, 0.7 / np.sqrt(length))
    start = -np.log(weights.sum()) - 3.0
    p, s, r = np.empty((m, LANES)), np.empty((m, LANES)), np.empty((m, LANES))
    gain, first_gain, gap, slope = np.empty((LANES, m)), np.empty(m), np.empty(LANES), np.empty(LANES)
    stack = np.empty((levels(m), places, LANES))
    work = (np.empty((places, LANES)), np.empty((places, LANES)), stack, np.empty((places, m)))
    law[:] = 0.0
    outer = -3.3
    while True:
        time = np.exp(start + outer - np.exp(-outer))
        if _chance_below(-np.expm1(-weights * time), length - 1) < 1e-14:
            break
        first_gain[:] = step * (1.0 + np.exp(-outer)) * weights * time  # exp(-w t) stands in the factor below
        first_gain *= np.exp(-weights * time)
        inner = -3.3
        while True:
            for lane in range(LANES):
                point = inner + lane * step
                gap[lane] = np.exp(start + point - np.exp(-point))
                slope[lane] = step * (1.0 + np.exp(-point))
            if _chance_below(-np.expm1(-weights * (time + gap[0])), length) < 1e-14:
                break
            _second_arrivals(weights, time, gap, slope, p, s, r, gain)
            _add_block(p, s, r, gain, first_gain, begin, work, law)
            inner += LANES * step
        outer += step


@_jit
def unfold(pairs, length, law):
    """law [m, l, m, l] <- pairs [m, places, m] of `pair_race` (its blocks j != k)."""
    begin = _rows(length - 2)
    m = len(pairs)
    for a in range(m):
        for above in range(length - 1):
            for rank in range(above + 1, length):
                place = begin[above] + rank - above - 1
                for b in range(m):
                    law[a, above, b, rank] = pairs[a, place, b]
                    law[b, rank, a, above] = pairs[a, place, b]
