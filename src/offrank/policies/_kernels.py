"""Compiled loops of the policies. Arrays as in `log.batch`.

They write to arrays of the caller: an array made inside takes longer to compile than most loops.
"""

from __future__ import annotations

import numpy as np

from ..compiled import jit
from ..races.shuffles import shuffled_slots as _shuffled_slots

shuffled_slots = jit(_shuffled_slots)


@jit
def blocks_by_score(scores, size, length, items, first, width):
    """[n, q] number of candidates with a higher score, and number with the same score.

    Written to first and width, unless the former fill all slots.
    """
    n, q = items.shape
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


@jit
def top_k(keys, size, depth, best, items, tied):
    """items [n, k] <- the `depth` [n] items of largest key of each row, in order; of ties the first item comes first.

    tied [n] <- whether any of their keys are equal. best: [k] scratch space.
    """
    for row in range(len(keys)):
        filled = 0
        for item in range(size[row]):
            key, place = keys[row, item], filled
            if filled == depth[row]:
                if place == 0 or key <= best[place - 1]:
                    continue
                place -= 1
            else:
                filled += 1
            while place > 0 and best[place - 1] < key:
                best[place], items[row, place] = best[place - 1], items[row, place - 1]
                place -= 1
            best[place], items[row, place] = key, item
        tied[row] = False
        for place in range(1, filled):
            tied[row] |= best[place] == best[place - 1]


@jit
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


@jit
def block_slot_probs(first, width, slates, out):
    """out [n, k] <- 1 / (number of items left in an item's block) if its slot is in the block, else 0; not on pads."""
    n, k = slates.shape
    for row in range(n):
        for slot in range(k):
            if slates[row, slot] >= 0:
                start = first[row, slot]
                left = start + width[row, slot] - slot
                out[row, slot] = 1.0 / left if 0 <= start <= slot and left > 0 else 0.0


@jit
def log_products(probs, out):
    """out [n] <- log of the product of each row [n, k]: one logarithm where the product is not tiny."""
    for row in range(len(probs)):
        product = 1.0
        for slot in range(probs.shape[1]):
            product *= probs[row, slot]
        if not product < 1e-280:
            out[row] = np.log(product)
            continue
        out[row] = 0.0
        for slot in range(probs.shape[1]):
            if probs[row, slot] == 0.0:
                out[row] = -np.inf
                break
            out[row] += np.log(probs[row, slot])


@jit
def mixed_slots(shares, probs, out):
    """out [n, k] <- the mixture of slot probabilities [p, n, k] over whole slates, with shares [p, n], which change."""
    for row in range(len(out)):
        for slot in range(out.shape[1]):
            total = 0.0
            for part in range(len(probs)):
                shares[part, row] *= probs[part, row, slot]
                total += shares[part, row]
            out[row, slot] = total
            # Shares are updated by slot, because products over all slots so far underflow on long slates.
            if total > 0.0:
                for part in range(len(probs)):
                    shares[part, row] /= total


@jit
def block_law(first, width, spread, point, count, length, out):
    """Add to out [n, q, slots] the structured law of a `RankLaw` of the first `count` items."""
    for row in range(len(first)):
        for j in range(count[row]):
            start = first[row, j]
            if spread[row] > 0.0:
                for rank in range(length[row]):
                    out[row, j, rank] = spread[row]
            if start >= 0:
                for rank in range(start, min(start + width[row, j], length[row])):
                    out[row, j, rank] += point[row] / width[row, j]
