"""Compiled loops of linear scorers. Lines: `starts` [n + 1] of each row, `offsets` [lines + 1] into their features."""

from __future__ import annotations

import numpy as np

from ...language.compiled import inlined, jit
from ...log.hashing import ODD, finish


@inlined
def _bucket(index, bits):
    """The bucket of an index: the index itself if it fits, else a hash of it."""
    if index < 1 << bits:
        return np.int64(index)
    return np.int64(finish(np.uint64(index)) >> np.uint64(64 - bits))


@inlined
def _crossed(one, other, bits):
    return np.int64(finish(np.uint64(one) * ODD + np.uint64(other)) >> np.uint64(64 - bits))


@jit
def line_offsets(first, size, offsets, indices, bits, context, cross):
    """[lines + 1] where each candidate's encoded features begin."""
    total = 0
    for row in range(len(size)):
        total += size[row]
    out, line = np.zeros(total + 1, dtype=np.int64), 0
    for row in range(len(size)):
        for source in range(first[row], first[row] + size[row]):
            count = offsets[source + 1] - offsets[source]
            if cross:
                shared = 0
                for at in range(offsets[source], offsets[source + 1]):
                    shared += context[_bucket(indices[at], bits)]
                count = (count - shared) * (1 + shared)
            out[line + 1] = out[line] + count
            line += 1
    return out


@jit
def encode(first, size, offsets, indices, values, bits, context, cross, scale, out_offsets, out_indices, out_values):
    """Fill in each candidate's features: its own and, with `cross`, their products with the context's.

    Features of the context alone are left out where they are crossed: added to all candidates they change nothing.
    """
    line = 0
    for row in range(len(size)):
        for source in range(first[row], first[row] + size[row]):
            to, low, high = out_offsets[line], offsets[source], offsets[source + 1]
            for at in range(low, high):
                own = _bucket(indices[at], bits)
                if cross and context[own]:
                    continue
                value = values[at] * scale[own]
                out_indices[to], out_values[to] = own, value
                to += 1
                if cross:
                    for other_at in range(low, high):
                        other = _bucket(indices[other_at], bits)
                        if context[other]:
                            out_indices[to] = _crossed(other, own, bits)
                            out_values[to] = value * values[other_at] * scale[other]
                            to += 1
            line += 1


@jit
def survey(starts, offsets, indices, values, seen, differs, largest, total, line_of, count, low, high):
    """Mark the features that occur, those that differ within a row, and the largest absolute value of each.

    The last five arrays [features] are scratch: the value in a line, its line (initially -1), and over the lines
    of a row their number and extremes.
    """
    for row in range(len(starts) - 1):
        for line in range(starts[row], starts[row + 1]):
            for at in range(offsets[line], offsets[line + 1]):
                f = indices[at]
                largest[f] = max(largest[f], abs(values[at]))
                if differs[f]:
                    continue
                if line_of[f] != line:
                    if line_of[f] < starts[row]:
                        count[f], low[f], high[f] = 0, np.inf, -np.inf
                    line_of[f], total[f] = line, 0.0
                    count[f] += 1
                seen[f] = True
                total[f] += values[at]
            for at in range(offsets[line], offsets[line + 1]):
                f = indices[at]
                if not differs[f]:
                    low[f], high[f] = min(low[f], total[f]), max(high[f], total[f])
        for at in range(offsets[starts[row]], offsets[starts[row + 1]]):  # the features of all lines of the row
            f = indices[at]
            if not differs[f] and (count[f] < starts[row + 1] - starts[row] or low[f] != high[f]):
                differs[f] = True
    return 0


@jit
def padded_scores(starts, offsets, indices, values, weights, out):
    """out [n, m] <- sum of weight times value for each candidate."""
    for row in range(len(starts) - 1):
        for line in range(starts[row], starts[row + 1]):
            total = 0.0
            for at in range(offsets[line], offsets[line + 1]):
                total += weights[indices[at]] * values[at]
            out[row, line - starts[row]] = total
