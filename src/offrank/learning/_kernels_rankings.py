# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False, check-untyped-defs=False
"""Compiled loops of Plackett-Luce gradients from drawn rankings.

The metric of a ranking y is sum_k R(y_k, k) with R(item, k) = curve_k worth_item + 1{item = shown_k} excess_k: a
product, and a correction for the item that was shown at each rank.
"""

from __future__ import annotations

import numpy as np

from ..language.compiled import inlined, jit
from ..log.hashing import finish, joined_key

_LEAST = 1e-300


@jit
def ranking_slopes(mass, ranking, depth, curve, worth, shown, excess, slope, rank, left, ahead):
    """slope [m] += the gradient by the scores that one drawn ranking [depth] gives; its expectation is exact.

    By prefix sums in O(m + depth), as PL-Rank (Oosterhuis 2022, "Learning-to-rank at the speed of sampling"): what is
    earned below an item is a reason to place it, its own reward counts by the chance of each choice it was part of.
    mass [m]: exp(score) up to a factor. rank [m], left [depth + 1], ahead [depth + 2]: scratch.
    """
    m = len(mass)
    for item in range(m):
        rank[item] = depth
    for k in range(depth):
        rank[ranking[k]] = k
    left[depth] = 0.0
    for item in range(m):
        if rank[item] == depth:
            left[depth] += mass[item]
    ahead[depth] = 0.0
    for k in range(depth - 1, -1, -1):
        item = ranking[k]
        left[k] = left[k + 1] + mass[item]  # the mass that the choice at rank k is from
        ahead[k] = ahead[k + 1] + curve[k] * worth[item] + (excess[k] if shown[k] == item else 0.0)
    own, paid, unplaced = 0.0, 0.0, depth
    for k in range(depth):
        share = 1.0 / max(left[k], _LEAST)
        own += curve[k] * share
        paid += ahead[k] * share
        item = ranking[k]
        slope[item] += ahead[k + 1] + mass[item] * (worth[item] * own - paid)
        other = shown[k]
        if other >= 0 and rank[other] >= k:
            slope[other] += mass[other] * excess[k] * share
    for item in range(m):
        if rank[item] == unplaced:
            slope[item] += mass[item] * (worth[item] * own - paid)


@inlined
def _exponential(key, stream):
    """Standard exponential noise of a key in a stream of random numbers."""
    return -np.log((float(joined_key(key, stream) >> np.uint64(11)) + 0.5) * 2.0**-53)


@jit
def draw_ranking(mass, keys, stream, depth, ranking, best):
    """ranking [depth] <- the first items of a race at speeds `mass`, whose noise depends on their keys only.

    best: scratch.
    """
    filled = 0
    for item in range(len(mass)):
        time = _exponential(keys[item], stream) / max(mass[item], _LEAST)
        if filled == depth and time >= best[depth - 1]:
            continue
        filled = min(filled + 1, depth)
        place = filled - 1
        while place > 0 and time < best[place - 1]:
            best[place], ranking[place] = best[place - 1], ranking[place - 1]
            place -= 1
        best[place], ranking[place] = time, item


@jit
def mean_slopes(scores, keys, stream, draws, depth, curve, worth, shown, excess, slope, floats, integers):
    """slope [m] <- the mean gradient of drawn rankings. floats [m + 3 depth + 3], integers [m + depth]: scratch."""
    m = len(scores)
    mass, left = floats[:m], floats[m : m + depth + 1]
    ahead, best = floats[m + depth + 1 : m + 2 * depth + 2], floats[m + 2 * depth + 2 : m + 3 * depth + 2]
    rank, ranking = integers[:m], integers[m : m + depth]
    largest = scores.max()
    for item in range(m):
        mass[item], slope[item] = np.exp(scores[item] - largest), 0.0
    for number in range(draws):
        draw_ranking(mass, keys, finish(stream + np.uint64(number)), depth, ranking, best)
        ranking_slopes(mass, ranking, depth, curve, worth, shown, excess, slope, rank, left, ahead)
    for item in range(m):
        slope[item] /= draws


@jit
def row_slopes(starts, scores, keys, stream, draws, curve, worth, slates, excess, share, out):
    """out [lines] <- share [n] times the gradient of each row by the scores [lines] of its candidates."""
    widest, slots = 0, slates.shape[1]
    for row in range(len(share)):
        widest = max(widest, starts[row + 1] - starts[row])
    floats, integers = np.empty(widest + 3 * slots + 3), np.empty(widest + slots, dtype=np.int64)
    for row in range(len(share)):
        first, last = starts[row], starts[row + 1]
        depth = 0
        while depth < slots and slates[row, depth] >= 0:
            depth += 1
        given = (curve, worth[first:last], slates[row], excess[row], out[first:last], floats, integers)
        mean_slopes(scores[first:last], keys[first:last], stream, draws, depth, *given)
        for line in range(first, last):
            out[line] *= share[row]


@jit
def line_scores(offsets, indices, values, weights):
    """Return the linear score of each candidate [lines]."""
    out = np.zeros(len(offsets) - 1)
    for line in range(len(out)):
        for at in range(offsets[line], offsets[line + 1]):
            out[line] += weights[indices[at]] * values[at]
    return out


@jit
def scatter(offsets, indices, values, slope, gradient):
    """gradient += that of the linear scores' weights, from the slope [lines] by the scores."""
    for line in range(len(slope)):
        for at in range(offsets[line], offsets[line + 1]):
            gradient[indices[at]] += slope[line] * values[at]
