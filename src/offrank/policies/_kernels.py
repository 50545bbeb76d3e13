"""Compiled loops of the policies. Arrays as in `log.batch`; all weights are non-negative."""

from __future__ import annotations

import numba
import numpy as np

_jit = numba.njit(cache=True, nogil=True)


@_jit
def slot_probs(weights, size, slates):
    """Plackett-Luce probability of each slot given the slots above. [n, k], 1 on pads.

    Denominators add the mass not shown first, then the slots from the last one up: sums of
    non-negative numbers, so nothing cancels. A zero weight comes after every positive one, and
    zeros among themselves are in uniform order.
    """
    n, k = slates.shape
    probs = np.ones((n, k))
    shown = np.zeros(weights.shape[1], dtype=np.bool_)
    for row in range(n):
        length = 0
        while length < k and slates[row, length] >= 0:
            shown[slates[row, length]] = True
            length += 1
        rest, left = 0.0, size[row] - length
        if left > 0:
            for item in range(size[row]):
                if not shown[item]:
                    rest += weights[row, item]
        for slot in range(length - 1, -1, -1):
            item = slates[row, slot]
            shown[item] = False
            rest += weights[row, item]
            left += 1
            probs[row, slot] = weights[row, item] / rest if rest > 0.0 else 1.0 / left
    return probs


@_jit
def log_slot_probs(logs, size, slates):
    """As `slot_probs`, log-probabilities from log-weights, which may differ by more than a float can hold."""
    n, k = slates.shape
    out = np.zeros((n, k))
    shown = np.zeros(logs.shape[1], dtype=np.bool_)
    for row in range(n):
        length = 0
        while length < k and slates[row, length] >= 0:
            shown[slates[row, length]] = True
            length += 1
        largest, rest, left = -np.inf, 0.0, size[row] - length
        if left > 0:
            for item in range(size[row]):
                if not shown[item]:
                    largest = max(largest, logs[row, item])
            for item in range(size[row]):
                if not shown[item] and logs[row, item] > -np.inf:
                    rest += np.exp(logs[row, item] - largest)
        for slot in range(length - 1, -1, -1):
            item = slates[row, slot]
            shown[item] = False
            left += 1
            own = logs[row, item]
            if own > largest:
                rest, largest = rest * np.exp(largest - own) + 1.0, own
            elif own > -np.inf:
                rest += np.exp(own - largest)
            out[row, slot] = own - largest - np.log(rest) if largest > -np.inf else -np.log(left)
    return out


@_jit
def log_product(probs):
    """[n] log of the product of each row, with one logarithm for most rows."""
    n, k = probs.shape
    out = np.zeros(n)
    for row in range(n):
        total, product = 0.0, 1.0
        for slot in range(k):
            p = probs[row, slot]
            if p == 0.0:
                product = 0.0
                break
            if product * p < 1e-280:
                total += np.log(product)
                product = p
            else:
                product *= p
        out[row] = total + np.log(product) if product > 0.0 else -np.inf
    return out


@_jit
def _rescale(logs, above, weights):
    """Write the weights of the items outside a set relative to the largest of them, and return their sum.

    Where only weights of zero are left they are alike.
    """
    largest, total = -np.inf, 0.0
    for item in range(len(logs)):
        if not above & (1 << item):
            largest = max(largest, logs[item])
    for item in range(len(logs)):
        if not above & (1 << item):
            weights[item] = np.exp(logs[item] - largest) if largest > -np.inf else 1.0
            total += weights[item]
    return total


@_jit
def _block_weights(logs, size, first, rows, weights):
    """Write the weights [m, lanes] of some rows, relative to each row's largest; 0 beyond a row's candidates.

    Lanes without a row repeat the last one. False where a weight is so small that sums may underflow.
    """
    fine = True
    for lane in range(weights.shape[1]):
        row = first + min(lane, rows - 1)
        largest = -np.inf
        for item in range(size[row]):
            largest = max(largest, logs[row, item])
        for item in range(len(weights)):
            weights[item, lane] = np.exp(logs[row, item] - largest) if item < size[row] else 0.0
            fine &= item >= size[row] or weights[item, lane] > 1e-200
    return fine


@_jit
def _sum_over_sets(weights, m, depth, drawn, chance, mass, law):
    """Add up `law` [m, slots, lanes] for rows side by side; drawn[S]: size of the set S."""
    full, lanes = (1 << m) - 1, weights.shape[1]
    share = np.empty(lanes)
    # Loops, not slices: a slice that is assigned to takes half a second to compile.
    for above in range(full + 1):
        for lane in range(lanes):
            chance[above, lane] = above == 0
    for item in range(m):
        for rank in range(depth):
            for lane in range(lanes):
                law[item, rank, lane] = 0.0
    for lane in range(lanes):
        mass[0, lane] = 0.0
    for item in range(m):
        for below in range(1 << item):
            for lane in range(lanes):
                mass[(1 << item) | below, lane] = mass[below, lane] + weights[item, lane]
    for above in range(full):
        rank = drawn[above]
        if rank >= depth:
            continue
        for lane in range(lanes):
            rest = mass[full ^ above, lane]
            share[lane] = chance[above, lane] / rest if rest > 0.0 else 0.0
        for item in range(m):
            if above & (1 << item):
                continue
            after = above | (1 << item)
            for lane in range(lanes):
                p = share[lane] * weights[item, lane]
                law[item, rank, lane] += p
                chance[after, lane] += p


@_jit
def _sum_far_apart(logs, depth, drawn, chance, mass, law):
    """As `_sum_over_sets`, for one row whose weights differ by more than a float can hold."""
    m = len(logs)
    full, weights = (1 << m) - 1, np.empty(m)
    for above in range(full + 1):
        chance[above] = above == 0
    for item in range(m):
        for rank in range(depth):
            law[item, rank] = 0.0
    _rescale(logs, 0, weights)
    mass[0] = 0.0
    for item in range(m):
        for below in range(1 << item):
            mass[(1 << item) | below] = mass[below] + weights[item]
    for above in range(full):
        rank = drawn[above]
        if chance[above] == 0.0 or rank >= depth:
            continue
        rest = mass[full ^ above]
        tiny = rest < 1e-200
        if tiny:
            rest = _rescale(logs, above, weights)
        share = chance[above] / rest
        for item in range(m):
            if above & (1 << item):
                continue
            p = share * weights[item]
            law[item, rank] += p
            chance[above | (1 << item)] += p
        if tiny:
            _rescale(logs, 0, weights)


@_jit
def rank_probs(logs, size, length, items, slots):
    """Plackett-Luce P(item at rank), exactly, by summing over the sets that can stand above.

    P(S) is the probability that the first |S| draws are the set S; item i follows S with
    probability w_i / (mass outside S). [n, q, slots], at cost 2^m per row.
    """
    n, q = items.shape
    out = np.zeros((n, q, slots))
    widest = 0
    for row in range(n):
        widest = max(widest, size[row])
    lanes = 64  # rows side by side, so that the innermost loops are vectors
    chance, mass = np.empty((1 << widest, lanes)), np.empty((1 << widest, lanes))
    law, weights = np.empty((widest, slots, lanes)), np.empty((widest, lanes))
    drawn = np.zeros(1 << widest, dtype=np.int64)
    for item in range(widest):
        for below in range(1 << item):
            drawn[(1 << item) | below] = drawn[below] + 1
    for first in range(0, n, lanes):
        rows = min(lanes, n - first)
        if _block_weights(logs, size, first, rows, weights):
            m, depth = 0, 0
            for row in range(first, first + rows):
                m, depth = max(m, size[row]), max(depth, length[row])
            _sum_over_sets(weights, m, depth, drawn, chance, mass, law)
        else:
            for row in range(first, first + rows):
                lane, depth = row - first, min(length[row], size[row])
                _sum_far_apart(logs[row, : size[row]], depth, drawn, chance[:, lane], mass[:, lane], law[:, :, lane])
        for row in range(first, first + rows):
            for j in range(q):
                if items[row, j] >= 0:
                    for rank in range(min(length[row], size[row])):
                        out[row, j, rank] = law[items[row, j], rank, row - first]
    return out


@_jit
def blocks_by_score(scores, size, length, items):
    """[n, q] how many candidates have a higher score, -1 where they fill all slots, and how many have the same."""
    n, q = items.shape
    first, width = np.full((n, q), -1), np.ones((n, q), dtype=np.int64)
    for row in range(n):
        for j in range(q):
            item = items[row, j]
            if item < 0:
                continue
            own, better, equal = scores[row, item], 0, 0
            for other in range(size[row]):  # one loop without a branch, which becomes a vector
                better += scores[row, other] > own
                equal += scores[row, other] == own
            if better < length[row]:
                first[row, j], width[row, j] = better, equal
    return first, width


@_jit
def tied_at_the_top(scores, size, length):
    """[n] whether any of the `length` highest scores of a row comes twice, the next lower one included."""
    n = len(size)
    found = np.zeros(n, dtype=np.bool_)
    best = np.empty(scores.shape[1] + 1)
    for row in range(n):
        most, count = min(length[row] + 1, size[row]), 0
        for item in range(size[row]):
            score, place = scores[row, item], count
            if count == most:
                if score <= best[most - 1]:
                    continue
                place -= 1
            else:
                count += 1
            while place > 0 and best[place - 1] < score:
                best[place] = best[place - 1]
                place -= 1
            best[place] = score
        for place in range(1, count):
            found[row] |= best[place] == best[place - 1]
    return found


@_jit
def ranks_in_list(rankings, length, items, candidates):
    """[n, q] place of each item in a ranking, -1 where it is not among the first `length`."""
    n, q = items.shape
    out = np.full((n, q), -1)
    place = np.full(candidates, -1)
    for row in range(n):
        depth = min(length[row], rankings.shape[1])
        for rank in range(depth):
            if rankings[row, rank] >= 0:
                place[rankings[row, rank]] = rank
        for j in range(q):
            if items[row, j] >= 0:
                out[row, j] = place[items[row, j]]
        for rank in range(depth):
            if rankings[row, rank] >= 0:
                place[rankings[row, rank]] = -1
    return out


@_jit
def block_slot_probs(first, width, slates):
    """[n, k] one over those left of an item's block where its slot lies in the block, else 0; 1 on pads."""
    n, k = slates.shape
    out = np.ones((n, k))
    for row in range(n):
        for slot in range(k):
            if slates[row, slot] >= 0:
                start = first[row, slot]
                left = start + width[row, slot] - slot
                out[row, slot] = 1.0 / left if 0 <= start <= slot and left > 0 else 0.0
    return out


@_jit
def block_law(first, width, length, slots):
    """[n, q, slots] equal probability at each rank of an item's block, 0 beyond a row's length."""
    n, q = first.shape
    out = np.zeros((n, q, slots))
    for row in range(n):
        for j in range(q):
            start = first[row, j]
            if start >= 0:
                for rank in range(start, min(start + width[row, j], length[row])):
                    out[row, j, rank] = 1.0 / width[row, j]
    return out


@_jit
def dense_law(law, length):
    """[n, k, k] the law of a `RankLaw` written out, 0 beyond a row's slots."""
    dense, first, width, spread, point = law
    full = dense.size > 0
    k = dense.shape[1] if full else first.shape[1]
    out = np.zeros((len(length), k, k))
    for row in range(len(length)):
        slots = length[row]
        for i in range(slots):
            for j in range(slots):
                if full:
                    out[row, i, j] = dense[row, i, j]
                else:
                    start = first[row, i]
                    out[row, i, j] = spread[row]
                    if start >= 0 and start <= j < start + width[row, i]:
                        out[row, i, j] += point[row] / width[row, i]
    return out
