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
    """[n, q] number of candidates with a higher score, -1 if they fill all slots, and number with the same score."""
    n, q = items.shape
    first, width = np.full((n, q), -1), np.ones((n, q), dtype=np.int64)
    for row in range(n):
        for j in range(q):
            item = items[row, j]
            if item < 0:
                continue
            own, better, equal = scores[row, item], 0, 0
            for other in range(size[row]):  # a single loop without branches, which vectorises
                better += scores[row, other] > own
                equal += scores[row, other] == own
            if better < length[row]:
                first[row, j], width[row, j] = better, equal
    return first, width


@_jit
def tied_at_the_top(scores, size, length):
    """[n] whether any of the `length` highest scores of a row is tied, also with the next lower one."""
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
    """[n, k] 1 / (number of items left in an item's block) if its slot is in the block, else 0; 1 on pads."""
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
def block_law(first, width, spread, point, count, length, slots):
    """[n, q, slots] the structured law of a `RankLaw` of the first `count` items, 0 beyond a row's length."""
    n, q = first.shape
    out = np.zeros((n, q, slots))
    for row in range(n):
        for j in range(count[row]):
            start = first[row, j]
            if spread[row] > 0.0:
                for rank in range(length[row]):
                    out[row, j, rank] = spread[row]
            if start >= 0:
                for rank in range(start, min(start + width[row, j], length[row])):
                    out[row, j, rank] += point[row] / width[row, j]
    return out
