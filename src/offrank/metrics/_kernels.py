"""Compiled loops of the metrics that compare a clicked item with the alternatives at its rank."""

from __future__ import annotations

import numpy as np

from ..language.compiled import inlined, jit

DISAGREEMENT, LOGISTIC, HINGE, GAIN = range(4)


@inlined
def _loss(kind, better, worse):
    """The cost of scoring the clicked item `better` and the other one `worse`."""
    if kind == DISAGREEMENT:
        return 1.0 if worse > better else 0.5 if worse == better else 0.0
    if kind == LOGISTIC:
        gap = worse - better
        return max(gap, 0.0) + np.log1p(np.exp(-abs(gap)))
    if kind == HINGE:
        return max(1.0 + worse - better, 0.0)
    return better - worse


@jit
def comparison_weights(law, own, clicks, allowed):
    """[n] weight of the comparisons: clicks times the probability that another, allowed item is at that rank.

    law [n, q, k]: P(item at rank). own [n, k]: which item was shown at a rank, -1 pads. allowed [n, q].
    """
    n, k = own.shape
    weight = np.zeros(n)
    for row in range(n):
        for rank in range(k):
            if clicks[row, rank] > 0 and own[row, rank] >= 0:
                for other in range(law.shape[1]):
                    if other != own[row, rank] and allowed[row, other]:
                        weight[row] += clicks[row, rank] * law[row, other, rank]
    return weight


@jit
def losses(law, own, clicks, allowed, scores, kind):
    """[n] the same sum, each comparison multiplied by its cost under `scores` [n, q]."""
    n, k = own.shape
    cost = np.zeros(n)
    for row in range(n):
        for rank in range(k):
            item = own[row, rank]
            if clicks[row, rank] > 0 and item >= 0:
                for other in range(law.shape[1]):
                    chance = law[row, other, rank]
                    if chance > 0 and other != item and allowed[row, other]:
                        cost[row] += clicks[row, rank] * chance * _loss(kind, scores[row, item], scores[row, other])
    return cost


@jit
def discounted_ranks(scores, inside):
    """[n, q] 1 / log2(1 + rank) of each item by score; tied items get the mean over their ranks."""
    n, q = scores.shape
    worth = np.zeros((n, q))
    total = np.zeros(q + 1)
    for j in range(q):
        total[j + 1] = total[j] + 1.0 / np.log2(j + 2.0)
    for row in range(n):
        for item in range(q):
            if inside[row, item]:
                above, ties = 0, 0
                for other in range(q):
                    if inside[row, other]:
                        above += scores[row, other] > scores[row, item]
                        ties += scores[row, other] == scores[row, item]
                worth[row, item] = (total[above + ties] - total[above]) / ties
    return worth


@jit
def count_orders(orders, counts):
    """Add drawn orders [d, l] to counts [k, k] of how often item i was at rank j."""
    for draw in range(orders.shape[0]):
        for rank in range(orders.shape[1]):
            counts[orders[draw, rank], rank] += 1.0
