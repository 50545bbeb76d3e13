# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False, check-untyped-defs=False
"""Compiled loop of intervention harvesting over all pairs of ranks of each document."""

from __future__ import annotations

import numba

_exact = numba.njit(cache=True, nogil=True)


@_exact
def add_pairs(document, rank, shown, clicked, group, used, by_views, rate, weight, documents, clicks):
    """Add the contribution of each document to every pair of ranks at which it was shown.

    document, rank, shown, clicked: counts [c] by document and rank. group: [d]. used: [k, k] which pairs are compared.
    Written to, at (a, b) and (b, a): rate [g, k, k] weighted click rate at the first of two ranks, weight [g, k, k],
    documents [k, k] their number; and clicks [k] on documents that were shown at two ranks.
    """
    for i in range(len(document)):
        again = i > 0 and document[i - 1] == document[i]
        j = i + 1
        while j < len(document) and document[j] == document[i]:
            a, b, g = rank[i], rank[j], group[document[i]]
            documents[a, b] += 1
            documents[b, a] += 1
            if used[a, b]:
                one = shown[i] * shown[j] / (shown[i] + shown[j]) if by_views else 1.0
                rate[g, a, b] += one * clicked[i] / shown[i]
                rate[g, b, a] += one * clicked[j] / shown[j]
                weight[g, a, b] += one
                weight[g, b, a] += one
            j += 1
        if again or j > i + 1:
            clicks[rank[i]] += clicked[i]
