"""Compiled loops over sessions and their tails: what follows the last click is all that is hidden."""

from __future__ import annotations

import numba
import numpy as np

_exact = numba.njit(cache=True, nogil=True)


@_exact
def ends(document, click):
    """(rank of the last click, -1 for none; number of ranks down to the last item) of each session."""
    n, k = document.shape
    last = np.full(n, -1, dtype=np.int32)
    length = np.zeros(n, dtype=np.int32)
    for i in range(n):
        for j in range(k):
            if document[i, j] >= 0:
                length[i] = j + 1
            if click[i, j]:
                last[i] = j
    return last, length


@_exact
def cut(document, click, weight, last, length, by_rank, tables):
    """Counts down to each last click, added to `tables`; and the tails below (see `Tails`).

    tables: (clicked, skipped) by document and (on,) by cell. Returns how often a skip was passed for sure, and
    first, document, cell and weight of the tails.
    """
    clicked, skipped, on = tables
    n = len(weight)
    count, places = 0, 0
    for i in range(n):
        if length[i] > last[i] + 1:
            count += 1
            places += length[i] - last[i] - 1
    first = np.zeros(count + 1, dtype=np.int64)
    below = np.empty(places, dtype=np.int32)
    cell = np.empty(count, dtype=np.int32)
    weights = np.empty(count)
    passed = 0.0
    tail, place = 0, 0
    for i in range(n):
        w = weight[i]
        for j in range(last[i] + 1):
            if click[i, j]:
                clicked[document[i, j]] += w
                if j < last[i]:
                    on[j if by_rank else document[i, j]] += w
            else:
                passed += w
                if document[i, j] >= 0:
                    skipped[document[i, j]] += w
        if length[i] > last[i] + 1:
            cell[tail] = -1
            if last[i] >= 0:
                cell[tail] = last[i] if by_rank else document[i, last[i]]
            weights[tail] = w
            for j in range(last[i] + 1, length[i]):
                below[place] = document[i, j]
                place += 1
            tail += 1
            first[tail] = place
    return passed, first, below, cell, weights


@numba.njit(cache=True, nogil=True, inline="always")
def _backward(document, start, end, attraction, after_skip, further):
    """P(no click in the tail | its first place is examined).

    further[j] <- P(place j + 1 is examined | place j is, and no click from there on); 0 at the end.
    """
    silence, stays = 1.0, 1.0
    for place in range(end - 1, start - 1, -1):
        goes = after_skip * silence if place < end - 1 else 0.0
        if place < end - 1:
            stays = 1.0 - after_skip + goes
        further[place - start] = goes / stays if stays > 0.0 else 0.0
        d = document[place]
        silence = stays * (1.0 - attraction[d]) if d >= 0 else stays
    return silence


@numba.njit(cache=True, nogil=True, inline="always")
def _entered(cell, after_click, silence):
    """(P(tail), P(its first place is examined | tail))."""
    if cell < 0:
        return silence, 1.0
    goes = after_click[cell] * silence
    chance = 1.0 - after_click[cell] + goes
    return chance, goes / chance if chance > 0.0 else 0.0


@_exact
def expect(first, document, cell, weight, attraction, after_click, after_skip, ranks):
    """Forward and backward over every tail.

    Returns the log-probability of all tails, and expected counts: examined by document; on and off by cell; skips
    that were passed, and after which the user left.
    """
    examined, on, off = np.zeros(len(attraction)), np.zeros(len(after_click)), np.zeros(len(after_click))
    passed, left, height = 0.0, 0.0, 0.0
    further = np.empty(ranks)
    for tail in range(len(weight)):
        w, start, end = weight[tail], first[tail], first[tail + 1]
        silence = _backward(document, start, end, attraction, after_skip, further)
        chance, q = _entered(cell[tail], after_click, silence)
        if cell[tail] >= 0:
            on[cell[tail]] += w * q
            off[cell[tail]] += w * (1.0 - q)
        height += w * np.log(chance)
        for place in range(start, end):
            d = document[place]
            if d >= 0:
                examined[d] += w * q
            if place < end - 1:
                below = q * further[place - start]
                passed += w * below
                left += w * (q - below)
                q = below
    return height, examined, on, off, passed, left


@_exact
def beliefs(first, document, cell, attraction, after_click, after_skip, ranks):
    """P(examined | session) of each place of these tails."""
    found = np.empty(first[-1] - first[0])
    further = np.empty(ranks)
    for tail in range(len(cell)):
        start, end = first[tail], first[tail + 1]
        silence = _backward(document, start, end, attraction, after_skip, further)
        q = _entered(cell[tail], after_click, silence)[1]
        for place in range(start, end):
            found[place - first[0]] = q
            q *= further[place - start]
    return found


@_exact
def add_information(document, success, failure, weight, value, information):
    """information[d] += weight p (1 - p) (s + f) - variance of the score, over p (1 - p): Louis 1982."""
    for i in range(len(document)):
        d = document[i]
        if d >= 0:
            s, f, p = success[i], failure[i], value[d]
            slope = s * (1.0 - p) - f * p
            variance = s * (1.0 - p) ** 2 + f * p**2 - slope**2
            information[d] += weight[i] * (s + f - variance / (p * (1.0 - p)))


@_exact
def add_logs(document, success, failure, weight, row, odds, logs):
    """logs[row, g] += weight log P(seen at the probability of grid place g / seen at the present one).

    odds: [rows, g, 2] that probability over the present one, and of their complements.
    """
    for i in range(len(document)):
        d = document[i]
        if d >= 0 and row[d] >= 0 and weight[i] > 0.0:
            s, f, r = success[i], failure[i], row[d]
            for g in range(logs.shape[1]):
                logs[r, g] += weight[i] * np.log(s * odds[r, g, 0] + f * odds[r, g, 1] + (1.0 - s - f))
