"""Compiled loops over documents: posteriors on a grid of attractions, each on the part of it where its mass is.

Documents d have the entries first[d] : first[d + 1], sorted by document: cell, clicked, skipped. Tables of the grid are
[cells, nodes]: on_click and on_skip, log-probabilities of a click and of none. A document's posterior lives on the
nodes low[d] + stride[d] * (0 ... count[d] - 1).
"""

from __future__ import annotations

import numba
import numpy as np

DROP = 30.0
"""Nodes whose log-density is further below the largest are left out."""
ENOUGH = 16
"""Nodes that a posterior rests on at least: about one per standard deviation."""
ROOM = 80

_exact = numba.njit(cache=True, nogil=True)


@_exact
def _log_density(d, first, cell, clicked, skipped, log_prior, on_click, on_skip, low, stride, count, out):
    """Write the log-posterior of a document, but for its constant, to out; return its largest value."""
    for j in range(count):
        out[j] = log_prior[low + stride * j]
    for i in range(first[d], first[d + 1]):
        c, y, n = cell[i], clicked[i], skipped[i]
        if n > 0.0:
            for j in range(count):
                out[j] += n * on_skip[c, low + stride * j]
        if y > 0.0:
            for j in range(count):
                out[j] += y * on_click[c, low + stride * j]
    largest = out[0]
    for j in range(1, count):
        largest = max(largest, out[j])
    return largest


@_exact
def narrow(first, cell, clicked, skipped, log_prior, on_click, on_skip, widest, low, stride, count):
    """Find each document's nodes, from coarse to fine. widest: the largest stride, a power of two."""
    nodes, out = len(log_prior), np.empty(ROOM)
    for d in range(len(first) - 1):
        a, s, k = 0, widest, (nodes - 1) // widest + 1
        while True:
            top = _log_density(d, first, cell, clicked, skipped, log_prior, on_click, on_skip, a, s, k, out)
            left, right = 0, k - 1
            while out[left] < top - DROP:
                left += 1
            while out[right] < top - DROP:
                right -= 1
            # A step more on either side: between two nodes there may be mass.
            left, right = max(left - 1, 0), min(right + 1, k - 1)
            a, k = a + s * left, right - left + 1
            if s == 1 or k >= ENOUGH:
                break
            s, k = s // 2, 2 * k - 1
        low[d], stride[d], count[d] = a, s, k


@_exact
def expect(
    first, cell, clicked, skipped, log_prior, on_click, on_skip, hit, missed, nodes, low, stride, count, moments
):
    """One pass of expectations: (log-likelihood, [cells, 2] attracted clicks and attracted skips, [2] prior's sums).

    hit, missed: [cells, nodes] P(attracted | click) and P(attracted | no click); hit is empty where clicks are always
    of the attracted. nodes: [3, nodes] attraction, its logarithm, that of one less it. moments: [documents, 2] filled
    with the mean and the variance of the attraction.
    """
    cells = len(on_skip)
    attracted, sums, height = np.zeros((cells, 2)), np.zeros(2), 0.0
    w = np.empty(ROOM)
    for d in range(len(first) - 1):
        a, s, k = low[d], stride[d], count[d]
        top = _log_density(d, first, cell, clicked, skipped, log_prior, on_click, on_skip, a, s, k, w)
        total = 0.0
        for j in range(k):
            w[j] = np.exp(w[j] - top)
            total += w[j]
        height += top + np.log(total * s)
        mean = 0.0
        for j in range(k):
            w[j] /= total
            mean += w[j] * nodes[0, a + s * j]
            sums[0] += w[j] * nodes[1, a + s * j]
            sums[1] += w[j] * nodes[2, a + s * j]
        variance = 0.0
        for j in range(k):
            variance += w[j] * (nodes[0, a + s * j] - mean) ** 2
        moments[d, 0], moments[d, 1] = mean, variance
        for i in range(first[d], first[d + 1]):
            c, share = cell[i], 0.0
            if skipped[i] > 0.0:
                for j in range(k):
                    share += w[j] * missed[c, a + s * j]
                attracted[c, 1] += skipped[i] * share
            if clicked[i] > 0.0:
                share = 1.0
                if len(hit):
                    share = 0.0
                    for j in range(k):
                        share += w[j] * hit[c, a + s * j]
                attracted[c, 0] += clicked[i] * share
    return height, attracted, sums
