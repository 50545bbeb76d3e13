# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False, check-untyped-defs=False
"""Compiled loops over the races of a displayed set of any size, in which shown items arrive before all others."""

from __future__ import annotations

import numpy as np

from ...language.compiled import jit
from ._kernels_races import LANES, product


@jit
def log_last(weights, rest, log_time):
    """Log-density, up to a constant, of the log of the time u when the first item that is not shown arrives.

    u exp(-rest u) prod_i (1 - exp(-w_i u)) / w_i: concave in log u.
    """
    u = np.exp(log_time)
    total = log_time - rest * u
    for weight in weights:
        x = weight * u
        if x > 1e-12:
            total += np.log(-np.expm1(-x)) - np.log(weight)
        else:
            total += log_time - 0.5 * x
    return total


@jit
def mode_and_ends(weights, rest, drop):
    """(left, mode, right) in log u: the maximum of `log_last`, and where it has fallen by `drop`."""
    low, high = -800.0, 800.0
    while high - low > 1e-6:
        first, second = low + (high - low) / 3, high - (high - low) / 3
        if log_last(weights, rest, first) < log_last(weights, rest, second):
            low = first
        else:
            high = second
    mode = (low + high) / 2
    target = log_last(weights, rest, mode) - drop
    ends = np.empty(2)
    for side in range(2):
        inside, outside = mode, mode + (2 * side - 1) * 1.0
        while log_last(weights, rest, outside) > target:
            outside = mode + 2 * (outside - mode)
        while abs(outside - inside) > 1e-3:
            middle = (inside + outside) / 2
            if log_last(weights, rest, middle) > target:
                inside = middle
            else:
                outside = middle
        ends[side] = outside
    return ends[0], mode, ends[1]


@jit
def _truncated(weights, u, share, slope, p, q, gain):
    """p, q, gain [l, lanes]: P(arrival by t), P(arrival after t) and density, given arrival before u.

    share[lane] = t / u; slope[lane] = d log(t / (u - t)) of the node.
    """
    for item, weight in enumerate(weights):
        x = weight * u
        for lane in range(LANES):
            before, left = share[0, lane], share[1, lane]
            if x > 1e-12:
                whole = -np.expm1(-x)
                own = np.exp(-x * before)
                p[item, lane] = -np.expm1(-x * before) / whole
                q[item, lane] = -own * np.expm1(-x * left) / whole
                gain[item, lane] = slope[lane] * before * left * x * own / whole
            else:
                p[item, lane], q[item, lane] = before, left
                gain[item, lane] = slope[lane] * before * left


@jit
def _divide_both_ways(p, q, gain, poly, lane, law):
    """Add gain[i] [x^j] (product of all factors but i) to law[j, i], for one lane.

    c_j = (P_j - p c_(j-1)) / q keeps its precision where p c_(j-1) <= q c_j, and the reverse,
    c_(j-1) = (P_j - q c_j) / p, elsewhere. Since the coefficients are log-concave, the first holds up to
    some j and the second from there on; p P_(j-1) <= q P_j finds that j.
    """
    size = len(p)
    meet, rest, inverse = np.empty(size, dtype=np.int64), np.zeros(size), np.empty(size)
    first, last = size, 0
    for item in range(size):
        j = 0
        while j + 1 < size and p[item, lane] * poly[j, lane] <= q[item, lane] * poly[j + 1, lane]:
            j += 1
        meet[item] = j
        first, last = min(first, j), max(last, j)
        inverse[item] = 1.0 / q[item, lane] if q[item, lane] > 1e-150 else 0.0
    for j in range(last + 1):
        above = poly[j, lane]
        for item in range(size):
            rest[item] = (above - p[item, lane] * rest[item]) * inverse[item]
            law[j, item] += gain[item, lane] * rest[item] if j <= meet[item] else 0.0
    for item in range(size):
        inverse[item] = 1.0 / p[item, lane] if p[item, lane] > 1e-150 else 0.0
        rest[item] = 0.0
    for j in range(size - 1, first, -1):
        above = poly[j + 1, lane]
        for item in range(size):
            rest[item] = (above - q[item, lane] * rest[item]) * inverse[item]
            law[j, item] += gain[item, lane] * rest[item] if j > meet[item] else 0.0


@jit
def _given_last(weights, u, step, poly, p, q, gain, law):
    """Add P(item at rank | all arrive before u), by the trapezoid rule in s, doubly exponential at both ends.

    log(t / (u - t)) = s - exp(-s - a) + exp(s - b): `a` lies before the first arrival.
    """
    size = len(weights)
    early = np.log(1.0 + weights.sum() * u) + 3.0
    late = 5.0
    share, slope = np.empty((2, LANES)), np.empty(LANES)
    s = -early - 3.7
    while s < late + 3.7:
        for lane in range(LANES):
            point = s + lane * step
            left, right = np.exp(-point - early), np.exp(point - late)
            odds = np.exp(point - left + right)
            share[0, lane], share[1, lane] = odds / (1.0 + odds), 1.0 / (1.0 + odds)
            slope[lane] = step * (1.0 + left + right)
        _truncated(weights, u, share, slope, p, q, gain)
        product(p, q, 0, size + 1, poly)
        for lane in range(LANES):
            _divide_both_ways(p, q, gain, poly, lane, law)
        s += LANES * step


@jit
def integrate(weights, rest, law):
    """law [rank, item] <- P(item at rank | set) for rest > 0, by quadrature.

    Given that the first item not shown arrives at u, the shown ones arrive independently, each
    before u: an outer integral over log u, an inner one over the arrival of the item.
    """
    size = len(weights)
    step = min(0.2, 0.6 / np.sqrt(size + 1))
    left, mode, right = mode_and_ends(weights, rest, 38.0)
    largest = log_last(weights, rest, mode)
    p, q, gain = np.empty((size, LANES)), np.empty((size, LANES)), np.empty((size, LANES))
    poly, part = np.empty((size + 1, LANES)), np.empty((size, size))
    law[:] = 0.0
    whole, lump = 0.0, 0.0
    settled = 45.0 / max(weights.min(), 1e-300)  # beyond it all have arrived, and the law does not change
    for index in range(int((right - left) / step), -1, -1):
        log_time = left + index * step
        share = np.exp(log_last(weights, rest, log_time) - largest)
        u = np.exp(log_time)
        whole += share
        lump += share
        if index > 0 and np.exp(log_time - step) > settled:
            continue
        part[:] = 0.0
        _given_last(weights, u, 1.3 * step, poly, p, q, gain, part)
        law += lump * part
        lump = 0.0
    law /= whole
