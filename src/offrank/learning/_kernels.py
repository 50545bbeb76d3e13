"""Compiled loops of learning: gradients over sparse lines.

An impression has the lines starts[i] : starts[i + 1], one per candidate; a line has the coordinates
indices[offsets[l] : offsets[l + 1]] with `values` beside them.
"""

from __future__ import annotations

import numpy as np

from ..language.compiled import inlined, jit


@inlined
def _sigmoid(score):
    return 1.0 / (1.0 + np.exp(-score)) if score > 0.0 else np.exp(score) / (1.0 + np.exp(score))


@inlined
def _score(offsets, indices, values, line, weights):
    total = 0.0
    for at in range(offsets[line], offsets[line + 1]):
        total += weights[indices[at]] * values[at]
    return total


@inlined
def _scatter(offsets, indices, values, line, factor, gradient):
    for at in range(offsets[line], offsets[line + 1]):
        gradient[indices[at]] += factor * values[at]


@jit
def click_chances(offsets, indices, values, weights, intercept):
    """Return the logistic probability of a click on each candidate [lines]."""
    lines = len(offsets) - 1
    out = np.empty(lines)
    for line in range(lines):
        out[line] = _sigmoid(intercept + _score(offsets, indices, values, line, weights))
    return out


@jit
def adagrad(starts, offsets, indices, values, order, positive, total, rate, weights, squares, intercept):
    """Make a pass of logistic regression in `order`; changes weights, squares and intercept [2] in place.

    Line l counts as `total[l]` observations, of which `positive[l]` are ones. intercept: its value and its squares.
    """
    for row in order:
        for line in range(starts[row], starts[row + 1]):
            if total[line] == 0.0:
                continue
            chance = _sigmoid(intercept[0] + _score(offsets, indices, values, line, weights))
            slope = total[line] * chance - positive[line]
            for at in range(offsets[line], offsets[line + 1]):
                step = slope * values[at]
                if step != 0.0:
                    f = indices[at]
                    squares[f] += step * step
                    weights[f] -= rate * step / np.sqrt(squares[f])
            intercept[1] += slope * slope
            if slope != 0.0:
                intercept[0] -= rate * slope / np.sqrt(intercept[1])


@jit
def _slate_law(scores, m, slate, left, slope):
    """Return Plackett-Luce log p = sum_j (s_{y_j} - log sum of exp over those not above j), and set its slope [m]."""
    log_p = 0.0
    for item in range(m):
        left[item], slope[item] = True, 0.0
    for slot in range(len(slate)):
        chosen = slate[slot]
        if chosen < 0:
            break
        largest, rest = -np.inf, 0.0
        for item in range(m):
            if left[item]:
                largest = max(largest, scores[item])
        for item in range(m):
            if left[item]:
                rest += np.exp(scores[item] - largest)
        log_p += scores[chosen] - largest - np.log(rest)
        for item in range(m):
            if left[item]:
                slope[item] -= np.exp(scores[item] - largest) / rest
        slope[chosen] += 1.0
        left[chosen] = False
    return log_p


@jit
def weighted_slates(
    starts,
    offsets,
    indices,
    values,
    slates,
    log_q,
    gain,
    share,
    chances,
    clip,
    linear,
    square,
    weights,
    gradient,
    terms,
):
    """Compute terms [n] u = -gain min(w, clip) - share sum_a p_a chance_a, w = slate probability over exp(log_q).

    gradient += that of the sum of linear u + square u^2, without the first part in clipped rows. chances: [lines]
    predicted reward of each candidate, for slates of one slot, or empty; rows of gain 0 are then skipped.
    """
    widest, robust = 0, len(chances) > 0
    for row in range(len(gain)):
        widest = max(widest, starts[row + 1] - starts[row])
    scores, slope, left = np.empty(widest), np.empty(widest), np.empty(widest, dtype=np.bool_)
    for row in range(len(gain)):
        terms[row] = 0.0
        if gain[row] == 0.0 and not robust:
            continue
        first, m = starts[row], starts[row + 1] - starts[row]
        for item in range(m):
            scores[item] = _score(offsets, indices, values, first + item, weights)
        weight = np.exp(_slate_law(scores, m, slates[row], left, slope) - log_q[row])
        u, moved, direct = -gain[row] * min(weight, clip), -gain[row] * weight if weight < clip else 0.0, 0.0
        if robust:
            for item in range(m):  # the gradient is 1{item = shown} - p
                direct += ((item == slates[row, 0]) - slope[item]) * chances[first + item]
            u -= share[row] * direct
        terms[row] = u
        factor = linear + 2.0 * square * u
        if moved == 0.0 and not robust:
            continue
        for item in range(m):
            rise = moved * slope[item]
            if robust:
                p = (item == slates[row, 0]) - slope[item]
                rise -= share[row] * p * (chances[first + item] - direct)
            _scatter(offsets, indices, values, first + item, factor * rise, gradient)


@jit
def add_slates(first, n, sums, query, slates, reward, weight):
    """Add impressions to the sums of their queries, in place; see `action_rewards.ActionSums`."""
    for row in range(len(query)):
        base, earned = first[query[row]], reward[row] * weight[row]
        n[query[row]] += weight[row]
        for slot in range(slates.shape[1]):
            item = slates[row, slot]
            if item < 0:
                break
            sums[base + item, slot, 0] += weight[row]
            sums[base + item, slot, 1] += earned


@jit
def merge_sums(first, n, sums, query, other_first, other_n, other_sums):
    """Add the sums of other impressions to those of their queries, in place; see `action_rewards.ActionSums`."""
    for one in range(len(query)):
        n[query[one]] += other_n[one]
        shift = first[query[one]] - other_first[one]
        for row in range(other_first[one], other_first[one + 1]):
            for slot in range(other_sums.shape[1]):
                sums[row + shift, slot, 0] += other_sums[row, slot, 0]
                sums[row + shift, slot, 1] += other_sums[row, slot, 1]


@jit
def solve_uniform_slates(first, slots, theta):
    """Replace theta [rows, k] by Gamma^+ theta of uniform slates, query by query (slate-pseudoinverse, Prop. 4)."""
    by_slot = np.empty(theta.shape[1])
    for query in range(len(slots)):
        m, k = first[query + 1] - first[query], slots[query]
        by_slot[:], total = 0.0, 0.0
        for row in range(first[query], first[query + 1]):
            for slot in range(k):
                by_slot[slot] += theta[row, slot]
                total += theta[row, slot]
        if k < m:
            everywhere, item = 1.0 / k**2 - (m - 1) / (m * (m - k)), (m - 1) / (m - k)
        else:
            everywhere, item = 1.0 / m, -(m - 1) / m
        for row in range(first[query], first[query + 1]):
            by_item = 0.0
            for slot in range(k):
                by_item += theta[row, slot]
            for slot in range(k):
                constant = everywhere * total - (m - 1) / m * by_slot[slot] + item * by_item
                theta[row, slot] = (m - 1) * theta[row, slot] + constant
