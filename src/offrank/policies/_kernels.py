"""Compiled loops of the policies. Arrays as in `log.batch`."""

from __future__ import annotations

import numba
import numpy as np

_jit = numba.njit(cache=True, nogil=True)


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
