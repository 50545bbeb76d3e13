# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False, check-untyped-defs=False
"""Compiled loops over exponential races, for any number of items.

Item i arrives at T_i ~ Exp(w_i), and the slate is the order of arrival. At a time t, item i has arrived with
probability p_i = 1 - exp(-w_i t). How many of a set of items have arrived is the polynomial prod_i (q_i + p_i x), cut
off at the length of the slate. Polynomials stand for LANES times at once, side by side, so that the innermost loops
are vectors.
"""

from __future__ import annotations

import numpy as np

from ...language.compiled import jit
from ...log.hashing import ODD

LANES = 8


@jit
def times(poly, p, q, depth):
    """Multiply poly [depth, lanes] by q + p x, in every lane."""
    for j in range(depth - 1, 0, -1):
        for lane in range(LANES):
            poly[j, lane] = poly[j, lane] * q[lane] + poly[j - 1, lane] * p[lane]
    for lane in range(LANES):
        poly[0, lane] *= q[lane]


@jit
def one(poly):
    """poly <- 1."""
    for place in range(len(poly)):
        for lane in range(LANES):
            poly[place, lane] = 0.0 if place else 1.0


@jit
def copy(poly, source):
    """poly <- source, up to the length of poly."""
    for place in range(len(poly)):
        for lane in range(LANES):
            poly[place, lane] = source[place, lane]


@jit
def product(p, q, first, depth, poly):
    """poly <- product of the factors of the items from `first` on."""
    one(poly)
    for item in range(first, len(p)):
        times(poly, p[item], q[item], min(depth, item - first + 2))


@jit
def _leave_one_out(stack, p, q, gain, count, depth, law):
    """Add sum_lanes gain[i] [x^j] (stack[0] * product of the factors of all items but i) to law[i, j].

    By halving: the left half inherits the product of the right half, and the other way round. Only sums of non-negative
    numbers, so nothing cancels. stack: [levels, depth, lanes], first the product of everything outside these items;
    level by level, that of all but a range of items.
    """
    for item in range(count):
        low, high, level = 0, count, 0
        while high - low > 1:
            middle, first, last = (low + high) // 2, low, high
            if item < middle:
                high, first = middle, middle
            else:
                low, last = middle, middle
            level += 1
            if item == low:  # the first item of a range not visited before
                poly = stack[level]
                copy(poly, stack[level - 1])
                for other in range(first, last):
                    times(poly, p[other], q[other], depth)
        poly = stack[level]
        for j in range(depth):
            total = 0.0
            for lane in range(LANES):
                total += gain[item, lane] * poly[j, lane]
            law[item, j] += total


@jit
def _arrivals(weights, logs, log_time, p, q, x):
    """p, q [m, lanes]: P(each item has arrived by each time) and its complement; x = weight * time.

    weights: over the largest; read only if they did not underflow.
    """
    m = len(logs)
    far = weights[m - 1] < 1e-250
    for lane in range(LANES):
        time = np.exp(min(logs[0] + log_time[lane], 700.0))
        for item in range(m):
            own = np.exp(min(logs[item] + log_time[lane], 700.0)) if far else weights[item] * time
            x[item, lane] = own
            if own < 0.7:
                p[item, lane] = -np.expm1(-own)
                q[item, lane] = 1.0 - p[item, lane]
            else:
                q[item, lane] = np.exp(-own)
                p[item, lane] = 1.0 - q[item, lane]


@jit
def _heavy(p, q, poly, reach):
    """The number of items, heaviest first, that cannot be divided out of the product without losing precision.

    Division c_j = (P_j - p c_(j-1)) / q keeps its relative accuracy where p c_(j-1) <= q c_j for all j,
    which follows, the coefficients being log-concave, from 2 p / q <= P_last / P_(last - 1).
    At most three items per rank fail that. reach [lanes] <- number of coefficients that have not underflowed.
    """
    count = 0
    for lane in range(LANES):
        top = len(poly) - 1
        while top >= 0 and poly[top, lane] < 1e-280:
            top -= 1
        reach[lane] = top + 1
        if top > 0:
            while count < len(p) and 2 * p[count, lane] * poly[top - 1, lane] > q[count, lane] * poly[top, lane]:
                count += 1
    return count


@jit
def _divide_out(p, q, poly, reach, gain, first, law, rows):
    """Add the integrals of the items from `first` on, each divided out of the product of all.

    One lane after the other, vectorised over the items. rows: four arrays [m] of scratch space.
    """
    m = len(p)
    arrived, density, inverse, rest = rows
    for lane in range(LANES):
        for item in range(first, m):
            arrived[item], density[item] = p[item, lane], gain[item, lane]
            # Items with so small a probability of not having arrived add nothing, and would overflow.
            inverse[item] = 1.0 / q[item, lane] if q[item, lane] > 1e-150 else 0.0
            rest[item] = poly[0, lane] * inverse[item]
            law[0, item] += density[item] * rest[item]
        for j in range(1, reach[lane]):
            for item in range(first, m):
                rest[item] = (poly[j, lane] - arrived[item] * rest[item]) * inverse[item]
                law[j, item] += density[item] * rest[item]


@jit
def _race_ranks(logs, depth, law):
    """law [m, depth] <- P(item at rank) for finite log-weights, heaviest first, depth > 1.

    P(a at j) = int w_a exp(-w_a t) [x^j] prod_(i != a) (q_i + p_i x) dt by the
    trapezoid rule in s, where log t = s - exp(-s) + const: doubly exponential at both ends.
    """
    m = len(logs)
    weights, total = np.empty(m), 0.0
    for item in range(m):
        weights[item] = np.exp(logs[item] - logs[0])
        total += weights[item]
    start = -logs[0] - np.log(total) - 3.0  # well before the first arrival
    step = min(0.2, 0.6 / np.sqrt(depth))
    p, q, gain = np.empty((m, LANES)), np.empty((m, LANES)), np.empty((m, LANES))
    log_time, reach, poly = np.empty(LANES), np.empty(LANES, dtype=np.int64), np.empty((depth, LANES))
    stack = np.empty((1 + int(np.ceil(np.log2(m))), depth, LANES))
    divided, rows = np.zeros((depth, m)), (np.empty(m), np.empty(m), np.empty(m), np.empty(m))
    law[:] = 0.0
    s = -3.7
    while True:
        for lane in range(LANES):
            log_time[lane] = start + (s + lane * step) - np.exp(-(s + lane * step))
        _arrivals(weights, logs, log_time, p, q, gain)
        arrived = 0
        while arrived < m and q[arrived, LANES - 1] == 0.0:
            arrived += 1
        if 0 < arrived < m and logs[arrived] + log_time[LANES - 1] < -75.0:
            s = -75.0 - logs[arrived] - start  # nothing changes until the next one may arrive
            continue
        product(p, q, 0, depth, poly)
        alive = 0.0
        for j in range(depth):
            alive += poly[j, 0]
        if alive < 1e-18:
            break
        for lane in range(LANES):
            slope = step * (1.0 + np.exp(-(s + lane * step)))
            for item in range(m):
                gain[item, lane] *= slope * q[item, lane]
        count = _heavy(p, q, poly, reach)
        _divide_out(p, q, poly, reach, gain, count, divided, rows)
        if count > 0:
            product(p, q, count, depth, stack[0])
            _leave_one_out(stack, p, q, gain, count, depth, law)
        s += LANES * step
    for item in range(m):
        for j in range(depth):
            law[item, j] += divided[j, item]


@jit
def _row_law(logs, depth, law):
    """law [m, depth] <- P(item at rank) for log-weights in any order, -inf for a weight of zero.

    Zeros come after all others, in uniform order.
    """
    m = len(logs)
    order = np.argsort(-logs, kind="mergesort")
    positive = 0
    while positive < m and logs[order[positive]] > -np.inf:
        positive += 1
    for item in range(m):
        for rank in range(depth):
            law[item, rank] = 0.0
    reached = min(depth, positive)
    if reached == 1:
        total = 0.0
        for index in range(positive):
            law[order[index], 0] = np.exp(logs[order[index]] - logs[order[0]])
            total += law[order[index], 0]
        for index in range(positive):
            law[order[index], 0] /= total
    elif reached > 1:
        part, heaviest = np.empty((positive, reached)), np.empty(positive)
        for index in range(positive):
            heaviest[index] = logs[order[index]]
        _race_ranks(heaviest, reached, part)
        for index in range(positive):
            for rank in range(reached):
                law[order[index], rank] = max(part[index, rank], 0.0)
    for index in range(positive, m):
        for rank in range(reached, depth):
            law[order[index], rank] = 1.0 / (m - positive)


@jit
def log_keys(bits, size, length):
    """[n] hashes of the content that determines a row's law, to sort equal rows together. bits: float bits [n, m]."""
    keys = np.empty(len(bits), dtype=np.uint64)
    for row in range(len(bits)):
        key = np.uint64(size[row] * 1000003 + length[row])
        for item in range(size[row]):
            key = (key ^ bits[row, item]) * ODD
            key ^= key >> np.uint64(29)
        keys[row] = key
    return keys


@jit
def rank_rows(logs, size, length, items, order, out):
    """out [n, q, slots] <- P(item at rank) of the items [n, q]; one law for equal neighbours in `order`."""
    law, last = np.empty((logs.shape[1], out.shape[2])), -1
    for row in order:
        m, depth = size[row], min(length[row], size[row])
        same = last >= 0 and size[last] == m and length[last] == length[row]
        item = 0
        while same and item < m:
            same = logs[row, item] == logs[last, item]
            item += 1
        if not same:
            _row_law(logs[row, :m], depth, law)
        last = row
        for j in range(items.shape[1]):
            for rank in range(out.shape[2]):
                out[row, j, rank] = law[items[row, j], rank] if items[row, j] >= 0 and rank < depth else 0.0
