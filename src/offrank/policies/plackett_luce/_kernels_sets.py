# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False, check-untyped-defs=False
"""Compiled loops of Plackett-Luce slates, and of their ranks and orders by sums over sets of few items.

P(order | displayed set) is proportional to prod_j 1 / (rest + w(items from slot j down)): the numerators of
Plackett-Luce cancel (paper non-shuffled-traffic, Eqs. 3-4). A weight of zero stands for the limit of small ones.
"""

from __future__ import annotations

import numpy as np

from ...language.compiled import inlined, jit
from ...log.batch import Floats, Integers


@jit
def slot_probs(weights, size, slates, shown, out):
    """out [n, k] <- probability of each slot given the slots above, 1 on pads. shown: [m] False, scratch space.

    Denominators add the mass not shown first, then the slots from the last one up: sums of non-negative numbers, so
    nothing cancels. A zero weight comes after every positive one, and zeros among themselves are in uniform order.
    """
    for row in range(len(slates)):
        length, rest = _mark(slates[row], shown), 0.0
        for item in range(size[row]):
            if not shown[item]:
                rest += weights[row, item]
        for slot in range(length - 1, -1, -1):
            item = slates[row, slot]
            shown[item] = False
            rest += weights[row, item]
            out[row, slot] = weights[row, item] / rest if rest > 0.0 else 1.0 / (size[row] - slot)
        for slot in range(length, out.shape[1]):
            out[row, slot] = 1.0


@jit
def log_slot_probs(logs, size, slates, shown, out):
    """As `slot_probs`, for log-weights, which may differ by more than a float can hold; out: log-probabilities."""
    for row in range(len(slates)):
        length, largest, rest = _mark(slates[row], shown), -np.inf, 0.0  # the mass is rest * exp(largest)
        for item in range(size[row]):
            if not shown[item]:
                largest = max(largest, logs[row, item])
        for item in range(size[row]):
            if not shown[item] and logs[row, item] > -np.inf:
                rest += np.exp(logs[row, item] - largest)
        for slot in range(length - 1, -1, -1):
            item = slates[row, slot]
            shown[item] = False
            own = logs[row, item]
            if own > largest:
                rest, largest = rest * np.exp(largest - own) + 1.0, own
            elif own > -np.inf:
                rest += np.exp(own - largest)
            out[row, slot] = own - largest - np.log(rest) if largest > -np.inf else -np.log(size[row] - slot)


@inlined
def _mark(slate, shown):
    """Mark the items of a slate, and return how many there are."""
    length = 0
    while length < len(slate) and slate[length] >= 0:
        shown[slate[length]] = True
        length += 1
    return length


@inlined
def rescale(values, logs, above, weights):
    """Write the weights of the items outside a set relative to the largest of them, and return their sum.

    If only weights of zero are left, they are equal.
    """
    largest, total = -np.inf if logs else 0.0, 0.0
    for item in range(len(values)):
        if not above & (1 << item):
            largest = max(largest, values[item])
    for item in range(len(values)):
        if not above & (1 << item):
            if logs:
                weights[item] = np.exp(values[item] - largest) if largest > -np.inf else 1.0
            else:
                weights[item] = values[item] / largest if largest > 0.0 else 1.0
            total += weights[item]
    return total


def rank_probs(
    values: Floats, size: Integers, length: Integers, items: Integers, out: Floats, *, logs: bool, alone: bool = False
) -> None:
    """Write to out [n, q, slots] the exact Plackett-Luce P(item at rank), by summing over the sets of items above.

    P(S) is the probability that the first |S| draws are the set S; item i follows S with probability
    w_i / (mass outside S), at cost 2^m per row. Items of weight zero come last, in uniform order.

    values: [n, m] weights, or their logarithms. alone: out [n, k, 1] is of the items of slates at their own ranks.
    """
    m, lanes = int(size.max(initial=0)), 64  # rows side by side, so that the innermost loops are vectors
    slots = items.shape[1] if alone else out.shape[2]
    drawn = np.bitwise_count(np.arange(1 << m)).astype(np.int64)
    block, own, law = np.empty((m, lanes)), np.empty(m), np.empty((1 if alone else m, slots, lanes))
    (mass, chance), share = np.empty((2, 1 << m, lanes)), np.empty(lanes)
    bit, mine = np.empty((slots if alone else 0, lanes), np.int64), np.empty((slots, lanes))
    least = -np.inf if logs else 0.0
    weights = np.where(np.arange(values.shape[1])[:, None] < size, values.T, least)
    largest = weights.max(axis=0, initial=least)
    if logs:
        np.exp(weights - np.where(largest > least, largest, 0.0), out=weights)
    else:
        weights /= np.where(largest > least, largest, 1.0)
    sums = drawn, block, bit, mine, mass, chance, law, share, own
    _sum_over_sets(values, logs, weights, size, length, items, *sums, out)


@inlined
def _fill(weights, length, items, first, rows, m, block, bit, mine, mass):
    """Write the weights of a block of rows, and their sums by set; bit and mine: of the item of each rank."""
    for lane in range(block.shape[1]):
        row = first + min(lane, rows - 1)  # lanes without a row repeat the last
        for item in range(m):
            block[item, lane] = weights[item, row]
        for rank in range(len(bit)):
            item = items[row, rank] if rank < length[row] else -1
            bit[rank, lane], mine[rank, lane] = 1 << max(item, 0), weights[item, row] if item >= 0 else 0.0
        mass[0, lane] = 0.0
    for item in range(m):
        for below in range(1 << item):
            for lane in range(block.shape[1]):
                mass[(1 << item) | below, lane] = mass[below, lane] + block[item, lane]


@inlined
def _in_own_scale(values, logs, above, rank, lane, bit, chance, law, own):
    """Add what follows a set in one row whose remaining weight is negligible, as with weights of zero."""
    total = rescale(values, logs, above, own)
    for item in range(len(values)):
        if not above & (1 << item):
            p = chance[above, lane] * own[item] / total
            chance[above | (1 << item), lane] += p
            if not len(bit):
                law[item, rank, lane] += p
            elif bit[rank, lane] == 1 << item:
                law[0, rank, lane] += p


@jit
def _sum_over_sets(
    values, logs, weights, size, length, items, drawn, block, bit, mine, mass, chance, law, share, own, out
):
    """As `rank_probs`. weights: [m, n] relative to the largest of a row. drawn[S]: size of S. bit: empty unless alone.

    The others are scratch space: block [m, lanes] weights, bit and mine [slots, lanes] the set of the item of a rank
    and its weight, mass and chance [sets, lanes], law [m or 1, slots, lanes], share [lanes], own [m].
    """
    n, lanes, alone = len(size), len(share), len(bit) > 0
    # Loops, not slices: assigning to a slice takes half a second to compile.
    for first in range(0, n, lanes):
        rows, m, depth = min(lanes, n - first), 0, 0
        for row in range(first, first + rows):
            m, depth = max(m, size[row]), max(depth, min(length[row], size[row]))
        full = (1 << m) - 1
        _fill(weights, length, items, first, rows, m, block, bit, mine, mass)
        for item in range(len(law)):
            for rank in range(depth):
                for lane in range(lanes):
                    law[item, rank, lane] = 0.0
        for above in range(full + 1):
            for lane in range(lanes if drawn[above] < depth else 0):
                chance[above, lane] = above == 0
        for above in range(full):
            rank = drawn[above]
            if rank >= depth:
                continue
            tiny, last = False, rank == depth - 1  # after the last rank nothing comes
            for lane in range(lanes):
                rest = mass[full ^ above, lane]
                tiny |= rest <= 1e-200
                share[lane] = chance[above, lane] / rest if rest > 1e-200 else 0.0
            for lane in range(rows if tiny else 0):
                if mass[full ^ above, lane] <= 1e-200 and chance[above, lane] > 0.0:
                    some = values[first + lane, : size[first + lane]]
                    _in_own_scale(some, logs, above, rank, lane, bit, chance, law, own)
            for lane in range(lanes if alone else 0):
                law[0, rank, lane] += share[lane] * mine[rank, lane] if above & bit[rank, lane] == 0 else 0.0
            for item in range(0 if alone and last else m):
                if above & (1 << item):
                    continue
                after = above | (1 << item)
                for lane in range(lanes if alone else 0):
                    chance[after, lane] += share[lane] * block[item, lane]
                for lane in range(lanes if last else 0):
                    law[item, rank, lane] += share[lane] * block[item, lane]
                for lane in range(0 if alone or last else lanes):
                    p = share[lane] * block[item, lane]
                    law[item, rank, lane] += p
                    chance[after, lane] += p
        for row in range(first, first + rows):
            for j in range(items.shape[1]):
                item = items[row, j]
                if alone and j < length[row]:
                    out[row, j, 0] = law[0, j, row - first]
                for rank in range(length[row] if item >= 0 and not alone else 0):
                    out[row, j, rank] = law[item, rank, row - first]


@jit
def _set_factors(weights, rest, drawn, factor):
    """factor[S] <- 1 / (rest + w(S)), over its largest value among sets of the same size.

    The scale of a size is common to all orders, so it cancels, and nothing overflows.
    """
    size = len(weights)
    lightest = np.empty(size + 1)
    lightest[0] = rest
    for item in range(size):  # sorted by insertion: np.sort of a few weights takes longer to compile than all else here
        place = item
        while place > 0 and lightest[place] > weights[item]:
            lightest[place + 1] = lightest[place]
            place -= 1
        lightest[place + 1] = weights[item]
    for count in range(size):
        lightest[count + 1] += lightest[count]
    factor[0] = 0.0
    for item in range(size):
        for below in range(1 << item):
            factor[(1 << item) | below] = factor[below] + weights[item]
    for left in range(1 << size):
        mass = rest + factor[left]
        factor[left] = lightest[drawn[left]] / mass if mass > 0.0 else 1.0


@jit
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


@jit
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
