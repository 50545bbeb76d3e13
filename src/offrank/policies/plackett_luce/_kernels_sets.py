# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False, check-untyped-defs=False
"""Compiled loops of Plackett-Luce slates, and of their ranks and orders by sums over sets of few items.

P(order | displayed set) is proportional to prod_j 1 / (rest + w(items from slot j down)): the numerators of
Plackett-Luce cancel (paper non-shuffled-traffic, Eqs. 3-4). A weight of zero stands for the limit of small ones.
"""

from __future__ import annotations

import numba
import numpy as np

_jit = numba.njit(cache=True, nogil=True)


@_jit
def slot_probs(values, size, slates, logs):
    """[n, k] probability of each slot given the slots above, 1 on pads; values: [n, m] weights.

    With `logs` log-probabilities of log-weights, which may differ by more than a float can hold. Denominators add the
    mass not shown first, then the slots from the last one up: sums of non-negative numbers, so nothing cancels. A zero
    weight comes after every positive one, and zeros among themselves are in uniform order.
    """
    n, k = slates.shape
    out = np.full((n, k), 0.0 if logs else 1.0)
    shown = np.zeros(values.shape[1], dtype=np.bool_)
    for row in range(n):
        length = 0
        while length < k and slates[row, length] >= 0:
            shown[slates[row, length]] = True
            length += 1
        largest, rest, left = -np.inf, 0.0, size[row] - length  # with `logs` the mass left is rest * exp(largest)
        if left > 0 and logs:
            for item in range(size[row]):
                if not shown[item]:
                    largest = max(largest, values[row, item])
            for item in range(size[row]):
                if not shown[item] and values[row, item] > -np.inf:
                    rest += np.exp(values[row, item] - largest)
        elif left > 0:
            for item in range(size[row]):
                if not shown[item]:
                    rest += values[row, item]
        for slot in range(length - 1, -1, -1):
            item = slates[row, slot]
            shown[item] = False
            left += 1
            own = values[row, item]
            if not logs:
                rest += own
                out[row, slot] = own / rest if rest > 0.0 else 1.0 / left
                continue
            if own > largest:
                rest, largest = rest * np.exp(largest - own) + 1.0, own
            elif own > -np.inf:
                rest += np.exp(own - largest)
            out[row, slot] = own - largest - np.log(rest) if largest > -np.inf else -np.log(left)
    return out


@_jit
def _block_weights(logs, size, block, weights):
    """Write the weights [m, lanes] of the rows `block` [lanes], relative to each row's largest; 0 beyond its items."""
    for lane, row in enumerate(block):
        largest = -np.inf
        for item in range(size[row]):
            largest = max(largest, logs[row, item])
        for item in range(len(weights)):
            inside = item < size[row] and logs[row, item] > -np.inf
            weights[item, lane] = np.exp(logs[row, item] - largest) if inside else 0.0


@_jit
def rescale(logs, above, weights):
    """Write the weights of the items outside a set relative to the largest of them, and return their sum.

    If only weights of zero are left, they are equal.
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
def _sum_over_sets(logs, size, block, weights, m, depth, drawn, chance, mass, law):
    """Add up `law` [m, slots, lanes] for the rows `block` side by side; drawn[S]: size of the set S.

    Where the remaining weight is negligible, as with weights of zero, a row gets a scale of its own.
    """
    full, lanes = (1 << m) - 1, weights.shape[1]
    share, own = np.empty(lanes), np.empty(m)
    # Loops, not slices: assigning to a slice takes half a second to compile.
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
        tiny = False
        for lane in range(lanes):
            rest = mass[full ^ above, lane]
            tiny |= rest <= 1e-200
            share[lane] = chance[above, lane] / rest if rest > 1e-200 else 0.0
        for lane in range(lanes if tiny else 0):
            if mass[full ^ above, lane] > 1e-200 or chance[above, lane] == 0.0:
                continue
            row = block[lane]
            total = rescale(logs[row, : size[row]], above, own)
            for item in range(size[row]):
                if not above & (1 << item):
                    law[item, rank, lane] += chance[above, lane] * own[item] / total
                    chance[above | (1 << item), lane] += chance[above, lane] * own[item] / total
        for item in range(m):
            if above & (1 << item):
                continue
            after = above | (1 << item)
            for lane in range(lanes):
                p = share[lane] * weights[item, lane]
                law[item, rank, lane] += p
                chance[after, lane] += p


@_jit
def rank_probs(logs, size, length, items, out):
    """out [n, q, slots] <- exact Plackett-Luce P(item at rank), by summing over the sets of items above.

    P(S) is the probability that the first |S| draws are the set S; item i follows S with probability
    w_i / (mass outside S), at cost 2^m per row. Items of weight zero come last, in uniform order.
    """
    n, q, slots = out.shape
    widest = 0
    for row in range(n):
        widest = max(widest, size[row])
    lanes = 64  # rows side by side, so that the innermost loops are vectors
    chance, mass = np.empty((1 << widest, lanes)), np.empty((1 << widest, lanes))
    law, weights = np.empty((widest, slots, lanes)), np.empty((widest, lanes))
    block, drawn = np.empty(lanes, dtype=np.int64), np.zeros(1 << widest, dtype=np.int64)
    for above in range(1 << widest):
        drawn[above] = drawn[above >> 1] + (above & 1)
    for first in range(0, n, lanes):
        m, depth = size[first], min(length[first], size[first])  # not 0: a literal is compiled for apart
        for lane in range(lanes):
            row = block[lane] = min(first + lane, n - 1)  # lanes without a row repeat the last one
            m, depth = max(m, size[row]), max(depth, min(length[row], size[row]))
        _block_weights(logs, size, block, weights)
        _sum_over_sets(logs, size, block, weights, m, depth, drawn, chance, mass, law)
        for row in range(first, min(first + lanes, n)):
            for j in range(q):
                item = items[row, j]
                for rank in range(slots):
                    shown = item >= 0 and rank < min(length[row], size[row])
                    out[row, j, rank] = law[item, rank, row - first] if shown else 0.0


@_jit
def _set_factors(weights, rest, drawn, factor):
    """factor[S] <- 1 / (rest + w(S)), over its largest value among sets of the same size.

    The scale of a size is common to all orders, so it cancels, and nothing overflows.
    """
    size = len(weights)
    lightest = np.empty(size + 1)
    lightest[0] = rest
    for count, weight in enumerate(np.sort(weights)):
        lightest[count + 1] = lightest[count] + weight
    factor[0] = 0.0
    for item in range(size):
        for below in range(1 << item):
            factor[(1 << item) | below] = factor[below] + weights[item]
    for left in range(1 << size):
        mass = rest + factor[left]
        factor[left] = lightest[drawn[left]] / mass if mass > 0.0 else 1.0


@_jit
def _sum_over_orders(weights, rest, drawn, lowest, factor, after, law):
    """law [item, rank] <- P(item at rank | set), by a forward and a backward pass over the remaining sets.

    Lemmas 1 and 2 of paper non-shuffled-traffic for all items and ranks at once: l 2^l steps.
    drawn, lowest: size and first item of each set; factor, after: [2^l] scratch space.
    """
    size = len(weights)
    full = (1 << size) - 1
    _set_factors(weights, rest, drawn, factor)
    after[0] = 1.0  # after[S]: sum over the orders of S of their products
    for left in range(1, full + 1):
        total, items = 0.0, left
        while items:
            others = items & (items - 1)
            total += after[left ^ (items ^ others)]
            items = others
        after[left] = factor[left] * total
    law[:] = 0.0
    factor[full] /= after[full]
    for left in range(full, 0, -1):  # factor[S] becomes the sum over the orders of the items above S
        total, items = 0.0, full ^ left
        while items:
            others = items & (items - 1)
            total += factor[left | (items ^ others)]
            items = others
        if left < full:
            factor[left] *= total
        above, rank = factor[left], size - drawn[left]
        items = left
        while items:
            others = items & (items - 1)
            law[lowest[items], rank] += above * after[left ^ (items ^ others)]
            items = others


@_jit
def order_rows(shown, rest, out):
    """out [n, l, l] <- P(item at rank | set), for weights [n, l] and the total weight [n] of items not shown."""
    n, size = shown.shape
    drawn, lowest = np.zeros(1 << size, dtype=np.int64), np.zeros(1 << size, dtype=np.int64)
    for items in range(1, 1 << size):
        drawn[items] = drawn[items >> 1] + (items & 1)
        lowest[items] = 0 if items & 1 else lowest[items >> 1] + 1
    factor, after = np.empty(1 << size), np.empty(1 << size)
    for row in range(n):
        _sum_over_orders(shown[row], rest[row], drawn, lowest, factor, after, out[row])
