"""Compiled loops of the simulation: draw slates, weigh and reward them; learn a lasso, and follow a tree.

A log has no storage: number i of a seed is the same in every pass. Rows are the candidates of all queries, each
query's in the order of the logging ranker; the row after the last stands for an empty slot, and counts for nothing.
"""
# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False, check-untyped-defs=False

from __future__ import annotations

import numba
import numpy as np

from offrank.log.hashing import ODD, finish, joined_key

_jit = numba.njit(cache=True, nogil=True)
_UNIT = 1.0 / 2**53


@_jit
def draw(seed, start, stop, first, weight, query, shown):
    """query [n], shown [n, l] <- logs `start` to `stop`: a query, and rows of its candidates without replacement.

    first: [q + 1] offsets of the candidates. weight: [types] of rank r, of type floor(log2 r). The next candidate is
    drawn from those left, in proportion to their weights.
    """
    queries, slots, pad = len(first) - 1, shown.shape[1], first[-1]
    order, left = np.empty(np.diff(first).max(), np.int64), np.empty(len(weight), np.int64)
    for i in range(start, stop):
        state = joined_key(i, seed)
        q = np.int64((finish(state) >> np.uint64(11)) * _UNIT * queries)
        query[i - start], m = q, first[q + 1] - first[q]
        total, types = 0.0, 0
        while (1 << types) <= m:
            left[types] = min((2 << types) - 1, m) - (1 << types) + 1
            total += left[types] * weight[types]
            types += 1
        for item in range(m):
            order[item] = item
        for slot in range(slots):
            if slot >= m:
                shown[i - start, slot] = pad
                continue
            state += ODD
            rest, kind = (finish(state) >> np.uint64(11)) * _UNIT * total, 0
            while kind < types - 1 and rest >= left[kind] * weight[kind]:
                rest -= left[kind] * weight[kind]
                kind += 1
            while left[kind] == 0:  # by rounding only
                kind -= 1
            left[kind] -= 1
            base = (1 << kind) - 1
            place = base + min(np.int64(rest / weight[kind]), left[kind])
            shown[i - start, slot] = first[q] + order[place]
            order[place] = order[base + left[kind]]
            total -= weight[kind]


@_jit
def weigh(query, shown, table, target, weights, same):
    """weights [n, t], same [n, t] <- the pseudoinverse weights of slates, and whether they are the target's.

    table: [rows + 1, l, t] summands of the weights. target: [q, l, t] rows.
    """
    n, slots = shown.shape
    targets = table.shape[2]
    for i in range(n):
        for t in range(targets):
            total, equal = 0.0, True
            for slot in range(slots):
                row = shown[i, slot]
                total += table[row, slot, t]
                equal = equal and row == target[query[i], slot, t]
            weights[i, t], same[i, t] = total, equal


@_jit
def reward(query, shown, gain, ideal, discount, stops, rewards):
    """rewards [n, d + 1] <- DCG over the ideal one, for each of the discounts [d, l], and ERR, of slates [n, l].

    gain, stops: [rows + 1]. ideal: [q, d], 0 where no candidate has a gain.
    """
    n, slots = shown.shape
    kinds = len(discount)
    for i in range(n):
        rewards[i] = 0.0
        going = 1.0
        for slot in range(slots):
            row = shown[i, slot]
            for kind in range(kinds):
                rewards[i, kind] += gain[row] * discount[kind, slot]
            rewards[i, kinds] += going * stops[row] / (slot + 1)
            going *= 1.0 - stops[row]
        for kind in range(kinds):
            best = ideal[query[i], kind]
            rewards[i, kind] = rewards[i, kind] / best if best > 0.0 else 0.0


@_jit
def linear_values(table, shown, values):
    """values [n] <- sums over slots of table [rows + 1, l]."""
    for i in range(len(shown)):
        values[i] = 0.0
        for slot in range(shown.shape[1]):
            values[i] += table[shown[i, slot], slot]


@_jit
def tree_values(feature, threshold, lower, higher, value, depth, features, document, shown, values):
    """values [n] <- the predictions of a regression tree cut at a depth, on the joined features of slates.

    feature: [nodes] slot * columns + column, -1 - or below - at leaves. features: [documents + 1, columns];
    document: [rows + 1] index into it.
    """
    columns = features.shape[1]
    for i in range(len(shown)):
        node = 0
        for _ in range(depth):
            split = feature[node]
            if split < 0:
                break
            slot = split // columns
            x = features[document[shown[i, slot]], split - slot * columns]
            node = lower[node] if x <= threshold[node] else higher[node]
        values[i] = value[node]


@_jit
def lasso(gram, product, power, rows, penalty, weights, most, tolerance):
    """Descend to the minimum of |y - X w|^2 / (2 rows) + penalty |w|_1 from `weights` [d]; return the sweeps needed.

    gram, product, power: X'X, X'y, y'y. most: sweeps.
    Converged: no step in a sweep changed the predictions by more than the tolerance times y's root mean square.
    """
    slope = gram @ weights
    least = tolerance * np.sqrt(power / rows)
    for sweep in range(most):
        largest = 0.0
        for j in range(len(weights)):
            if gram[j, j] <= 0.0:
                continue
            old = weights[j]
            wanted = product[j] - slope[j] + gram[j, j] * old
            new = max(abs(wanted) - penalty * rows, 0.0) / gram[j, j]
            step = (new if wanted > 0.0 else -new) - old
            if step != 0.0:
                weights[j] += step
                for i in range(len(weights)):
                    slope[i] += gram[j, i] * step
                largest = max(largest, abs(step) * np.sqrt(gram[j, j] / rows))
        if largest <= least:
            return sweep + 1
    return most
