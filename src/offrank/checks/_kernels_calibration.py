# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False, check-untyped-defs=False
"""Compiled loops that compare what was shown with the law of a policy."""

from __future__ import annotations

import numpy as np

from ..language.compiled import inlined, jit


@inlined
def _add(counts, place, q, seen, h):
    """Add what a row adds to the fields [4, c] of `ShownCounts`, for a comparison whose probability is q."""
    counts[0, place] += h * seen
    counts[1, place] += h * q
    counts[2, place] += h * h * q * (1 - q)
    counts[3, place] += h * h * (seen - q) * (seen - q)


@jit
def count_lifts(probs, size, slates, h, lifts, counts):
    """Count the items of at least some lifts at each rank, into counts [ranks, 4, lifts].

    probs [n, m, k]: of each candidate at each rank. lifts: ascending, over the probability in a uniform order.
    """
    mass = np.empty(len(lifts) + 1)
    for row in range(len(size)):
        for rank in range(len(counts)):
            mass[:] = 0.0
            reached = 0
            for item in range(size[row]):
                times, level = probs[row, item, rank] * size[row], 0
                while level < len(lifts) and times >= lifts[level]:
                    level += 1
                mass[level] += probs[row, item, rank]
                if slates[row, rank] == item:
                    reached = level
            expected = 0.0
            for lift in range(len(lifts) - 1, -1, -1):
                expected += mass[lift + 1]
                _add(counts[rank], lift, min(expected, 1.0), 1.0 if reached > lift else 0.0, h[row])


@jit
def count_items(probs, place, size, slates, h, counts):
    """Count each item, at any rank and at each of the first, into counts [1 + ranks, 4, items].

    probs [n, m, k]: of each candidate at each rank; place [n, m]: its number among the items.
    """
    for row in range(len(size)):
        for item in range(size[row]):
            anywhere, seen = 0.0, 0.0
            for rank in range(probs.shape[2]):
                there = 1.0 if slates[row, rank] == item else 0.0
                anywhere += probs[row, item, rank]
                seen += there
                if rank < len(counts) - 1:
                    _add(counts[rank + 1], place[row, item], probs[row, item, rank], there, h[row])
            _add(counts[0], place[row, item], min(anywhere, 1.0), seen, h[row])


@jit
def slate_sums(probs, size, length, slates, h, least, found):
    """Sum the logarithm of each shown item's lift, minus its expectation, into the first line of found [2, 4].

    The second line has that of its excess over the item's mean over the ranks. Each line: the sum, its variance by
    rows, its variance if ranks are independent, and the maximum term of a row. probs [n, m, k]: of each candidate at
    each rank; least: smaller lifts count as this one.
    """
    value, mean_of = np.empty(probs.shape[1:]), np.empty(probs.shape[1])
    for row in range(len(size)):
        for item in range(size[row]):
            mean_of[item] = 0.0
            for slot in range(length[row]):
                value[item, slot] = np.log(max(probs[row, item, slot] * size[row], least))
                mean_of[item] += value[item, slot]
            mean_of[item] /= max(length[row], 1)
        for line in range(2):
            away, spread, widest = 0.0, 0.0, 0.0
            for slot in range(length[row] if size[row] else 0):
                mean, square, low, high, shown = 0.0, 0.0, np.inf, -np.inf, 0.0
                for item in range(size[row]):
                    here = value[item, slot] - (mean_of[item] if line else 0.0)
                    mean += probs[row, item, slot] * here
                    square += probs[row, item, slot] * here * here
                    low, high = min(low, here), max(high, here)
                    if slates[row, slot] == item:
                        shown = here
                widest += max(high - mean, mean - low, 0.0)
                spread += max(square - mean * mean, 0.0)
                away += shown - mean if slates[row, slot] >= 0 else 0.0
            found[line, 0] += away * h[row]
            found[line, 1] += (away * h[row]) ** 2
            found[line, 2] += spread * h[row] ** 2
            found[line, 3] = max(found[line, 3], widest * h[row])
