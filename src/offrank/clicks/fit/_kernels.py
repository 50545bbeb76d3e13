"""Compiled loops of fitting.

- Documents d have the entries first[d] : first[d + 1], sorted by document: cell, shown or skipped, clicked.
- Posteriors are on a grid of attractions with consecutive levels: SPAN + 1 nodes, then twice as fine, and so
  on. A document's are the nodes low[d] : low[d] + count[d] of one level; count is 0 until they are found. nodes: [4,
  nodes] attraction, its logarithm, log(1 - attraction), and the logarithm of the step. Tables of the grid are [cells,
  nodes]: on_click and on_skip, the log-probabilities of a click and of no click. a, b: [documents] their priors.
- Tails are the ranks below the last click of each session, where examination is hidden: see `SessionTails`.
"""

from __future__ import annotations

import numpy as np

from ...language.compiled import inlined, jit, njit

SPAN = 64
"""Steps of the coarsest level."""
DROP = 30.0
"""Nodes whose log-density is further than this below the largest are left out."""
FEWEST_NODES = 20
"""Minimum number of nodes for a posterior when they are found: more than one per standard deviation."""
INTEGRAL_TOLERANCE = 3e-3
"""Largest relative difference between an integral and that by every second node.

Halved steps square the error of the trapezoidal rule (Trefethen and Weideman 2014): by all nodes it is about 1e-5.
"""
TRACE = 1e-10
"""Largest weight of the outermost nodes: with more, there is mass beyond them."""
LITTLE = 1e-7
"""Weight of outer nodes that are left out of covariances."""
ROOM = 4 * SPAN + 1
"""Most nodes of a posterior: all of the third level, for a long tail with a peak. A peak m standard deviations from 0
is 1 / m logits wide, and has a tail that weighs TRACE for m of 7 at most."""
WIDE = 64
"""Tails that are read side by side."""


@jit
def first_of(level):
    """The first node of a level."""
    return SPAN * (2**level - 1) + level


@jit
def _log_density(entries, d, tables, low, count, out):
    """Write the log-posterior of a document, up to a constant, to out; return its largest value."""
    first, cell, clicked, skipped = entries
    a, b, nodes, on_click, on_skip = tables
    for j in range(count):
        out[j] = a[d] * nodes[1, low + j] + b[d] * nodes[2, low + j] + nodes[3, low + j]
    for i in range(first[d], first[d + 1]):
        c, y, n = cell[i], clicked[i], skipped[i]
        if n > 0.0:
            for j in range(count):
                out[j] += n * on_skip[c, low + j]
        if y > 0.0:
            for j in range(count):
                out[j] += y * on_click[c, low + j]
    largest = out[0]
    for j in range(1, count):
        largest = max(largest, out[j])
    return largest


@inlined
def _summed(logs, begin, end, offset, top):
    """(sum of densities, whether every second node has half of it); logs become densities. offset: in the level."""
    total, coarse = 0.0, 0.0
    for j in range(begin, end):
        logs[j] = np.exp(logs[j] - top)
        total += logs[j]
        coarse += logs[j] if (offset + j) % 2 == 0 else 0.0
    return total, abs(2.0 * coarse - total) <= INTEGRAL_TOLERANCE * total


@jit
def _narrow(entries, d, tables, out):
    """(first node, number of nodes) of a document's posterior, searched from coarse to fine."""
    levels = 0
    while first_of(levels + 1) < tables[2].shape[1]:
        levels += 1
    level, a, k = 0, 0, SPAN + 1
    while True:
        low = first_of(level) + a
        top = _log_density(entries, d, tables, low, k, out)
        left, right = 0, k - 1
        while out[left] < top - DROP:
            left += 1
        while out[right] < top - DROP:
            right -= 1
        # One more step on either side: there may be mass between two nodes.
        left, right = max(left - 1, 0), min(right + 1, k - 1)
        _, even = _summed(out, left, right + 1, a, top)
        a, k = a + left, right - left + 1
        if level == levels or (even and k >= FEWEST_NODES) or 2 * k - 1 > ROOM:
            return first_of(level) + a, k
        level, a, k = level + 1, 2 * a, 2 * k - 1


@jit
def _weigh(entries, d, tables, low, count, w):
    """Write the posterior to w; return (log-likelihood, whether its nodes were the right ones)."""
    top = _log_density(entries, d, tables, low, count, w)
    level = 0
    while first_of(level + 1) <= low:
        level += 1
    total, even = _summed(w, 0, count, low - first_of(level), top)
    for j in range(count):
        w[j] /= total
    inside = w[0] <= TRACE or low == first_of(level)
    inside &= w[count - 1] <= TRACE or low + count == first_of(level + 1)
    fine = even or first_of(level + 1) >= tables[2].shape[1] or 2 * count - 1 > ROOM
    return top + np.log(total), inside and fine


@njit(fastmath={"reassoc"})  # summed side by side
def _dot(w, table, low, count):
    total = 0.0
    for j in range(count):
        total += w[j] * table[low + j]
    return total


@jit
def expect_attractions(entries, tables, hit, missed, low, count, moments):
    """The E-step: (log-likelihood without the normalisers of the priors, [cells, 2] attracted clicks and skips).

    tables: a, b [documents], nodes [4, nodes], on_click, on_skip. hit, missed: [cells, nodes] P(attracted | click) and
    P(attracted | no click); hit is empty where only the attracted click; both where they are not needed. low and
    count are updated where they do not fit. moments: [documents, 4] is filled with the mean and the variance of the
    attraction, and the means of its logarithm and of that of 1 - attraction.
    """
    first, cell, clicked, skipped = entries
    nodes = tables[2]
    attracted, log_likelihood, w = np.zeros((len(missed), 2)), 0.0, np.empty(ROOM)
    for d in range(len(first) - 1):
        own, fits = 0.0, False
        if count[d] > 0:
            own, fits = _weigh(entries, d, tables, low[d], count[d], w)
        if not fits:
            low[d], count[d] = _narrow(entries, d, tables, w)
            own, fits = _weigh(entries, d, tables, low[d], count[d], w)
        log_likelihood += own
        a, k = low[d], count[d]
        mean = _dot(w, nodes[0], a, k)
        variance = 0.0
        for j in range(k):
            variance += w[j] * (nodes[0, a + j] - mean) ** 2
        moments[d, 0], moments[d, 1] = mean, variance
        moments[d, 2], moments[d, 3] = _dot(w, nodes[1], a, k), _dot(w, nodes[2], a, k)
        for i in range(first[d], first[d + 1] if len(missed) else 0):
            c = cell[i]
            if skipped[i] > 0.0:
                attracted[c, 1] += skipped[i] * _dot(w, missed[c], a, k)
            if clicked[i] > 0.0:
                attracted[c, 0] += clicked[i] * (_dot(w, hit[c], a, k) if len(hit) else 1.0)
    return log_likelihood, attracted


@jit
def load_attractions(entries, tables, chances, along, low, count, means, products):
    """Posterior moments of the scores of directions, at the places that `expect_attractions` found.

    chances: hit, false [cells]. along: [2, cells, r] their derivatives by each direction. means: [documents, r] is
    filled with the expected scores; products: [documents, 3, 3 + r] with the covariances of the attraction, its
    logarithm, and that of 1 - attraction, with themselves and with the scores.
    """
    first, cell, clicked, skipped = entries
    nodes, r = tables[2], along.shape[2]
    w, slope, scores, center = np.empty(ROOM), np.empty(ROOM), np.empty((3 + r, ROOM)), np.empty(3 + r)
    for d in range(len(first) - 1):
        a, k = low[d], count[d]
        _weigh(entries, d, tables, a, k, w)
        left, right = 0, k - 1
        while w[left] < LITTLE and left < right:
            left += 1
        while w[right] < LITTLE and left < right:
            right -= 1
        a, k = a + left, right - left + 1
        for j in range(k):
            w[j] = w[left + j]
            for i in range(3):
                scores[i, j] = nodes[i, a + j]
            for i in range(3, 3 + r):
                scores[i, j] = 0.0
        for entry in range(first[d], first[d + 1]):
            c, y, n = cell[entry], clicked[entry], skipped[entry]
            moved = False
            for i in range(r):
                moved |= along[0, c, i] != 0.0 or along[1, c, i] != 0.0
            if not moved:
                continue
            for j in range(k):
                u = nodes[0, a + j]
                p = chances[0][c] * u + chances[1][c] * (1.0 - u)
                slope[j] = y / p - n / max(1.0 - p, 1e-12)
            for i in range(r):
                if along[0, c, i] != 0.0 or along[1, c, i] != 0.0:
                    for j in range(k):
                        u = nodes[0, a + j]
                        scores[3 + i, j] += slope[j] * (along[0, c, i] * u + along[1, c, i] * (1.0 - u))
        for i in range(3 + r):
            center[i] = 0.0
            for j in range(k):
                center[i] += w[j] * scores[i, j]
            if i >= 3:
                means[d, i - 3] = center[i]
        for i in range(3 + r):
            for j in range(k):
                scores[i, j] -= center[i]
            for e in range(min(i + 1, 3)):
                total = 0.0
                for j in range(k):
                    total += w[j] * scores[e, j] * scores[i, j]
                products[d, e, i] = total
                if i < 3:
                    products[d, i, e] = total


@jit
def expect_scores(first, cell, shown, clicked, curve, rate):
    """The conditional likelihood of where documents are clicked, for the logarithms of a curve [cells].

    Returns (log-likelihood, [cells] scores, [cells, cells] information, and the sums over documents of products of
    scores; of scores and residuals; of residuals). rate: [cells] clicked - rate shown are the residuals; none if empty.
    """
    cells, log_likelihood = len(curve), 0.0
    scores, information, products = np.zeros(cells), np.zeros((cells, cells)), np.zeros((cells, cells))
    cross, residuals = np.zeros((cells, cells)), np.zeros((cells, cells))
    share, score, residual = np.empty(cells), np.empty(cells), np.zeros(cells)
    for d in range(len(first) - 1):
        start, count = first[d], first[d + 1] - first[d]
        exposure, clicks = 0.0, 0.0
        for i in range(count):
            share[i] = shown[start + i] * curve[cell[start + i]]
            exposure += share[i]
            clicks += clicked[start + i]
            if clicked[start + i] > 0.0:
                log_likelihood += clicked[start + i] * np.log(curve[cell[start + i]])
        if clicks == 0.0 and not len(rate):
            continue
        log_likelihood -= clicks * np.log(exposure)
        for i in range(count):
            c = cell[start + i]
            share[i] /= exposure
            score[i] = clicked[start + i] - clicks * share[i]
            if len(rate):
                residual[i] = clicked[start + i] - rate[c] * shown[start + i]
            scores[c] += score[i]
            information[c, c] += clicks * share[i]
        for i in range(count):
            c = cell[start + i]
            for j in range(i + 1):  # cells ascend: the lower triangles
                e = cell[start + j]
                information[c, e] -= clicks * share[i] * share[j]
                products[c, e] += score[i] * score[j]
                if len(rate):
                    cross[c, e] += score[i] * residual[j]
                    residuals[c, e] += residual[i] * residual[j]
                    if j < i:
                        cross[e, c] += score[j] * residual[i]
    for c in range(cells):
        for e in range(c):
            information[e, c], products[e, c], residuals[e, c] = information[c, e], products[c, e], residuals[c, e]
    return log_likelihood, scores, information, products, cross, residuals


@inlined
def _entered(after_click, silence):
    """(P(tail), P(its first place is examined | tail)); after_click is negative where no click comes before."""
    if after_click < 0.0:
        return silence, 1.0
    goes = after_click * silence
    chance = 1.0 - after_click + goes
    return chance, goes / chance if chance > 0.0 else 0.0


@jit
def expect_tails(first, document, cell, weight, attraction, after_click, after_skip, ranks, beliefs):
    """Forward and backward over every tail, `WIDE` of them side by side.

    Returns the log-probability of all tails, and expected counts: examined by document; on and off by cell; skips
    that were passed, and after which the user left. beliefs: [places], filled with P(examined | session) from the first
    tail's first place on, unless it is empty.
    """
    missed, examined = np.ones(len(attraction) + 1), np.zeros(len(attraction) + 1)  # the last of holes, which are -1
    for d in range(len(attraction)):
        missed[d] = 1.0 - attraction[d]
    on, off = np.zeros(len(after_click)), np.zeros(len(after_click))
    passed, left, log_likelihood, product, stop = 0.0, 0.0, 0.0, 1.0, 1.0 - after_skip
    # By place and tail: P(no click here | examined), P(no click from here on | examined), P(examined | tail). Below a
    # tail's last place nothing can be clicked.
    skip, quiet, last = np.ones((ranks, WIDE)), np.ones((ranks + 1, WIDE)), np.zeros((ranks, WIDE))
    reached = np.zeros(WIDE)
    for begin in range(0, len(weight), WIDE):
        count = min(WIDE, len(weight) - begin)
        for t in range(count):
            start, size = first[begin + t], first[begin + t + 1] - first[begin + t]
            for j in range(size):
                skip[j, t] = missed[document[start + j]]
            for j in range(size, ranks):
                skip[j, t] = 1.0
        for j in range(ranks - 1, -1, -1):
            for t in range(WIDE):
                quiet[j, t] = (stop + after_skip * quiet[j + 1, t]) * skip[j, t]
        for t in range(count):
            c, w = cell[begin + t], weight[begin + t]
            chance, q = _entered(after_click[c] if c >= 0 else -1.0, quiet[0, t])
            if c >= 0:
                on[c] += w * q
                off[c] += w * (1.0 - q)
            if w == 1.0 and chance > 1e-100:  # a logarithm takes longer than a multiplication
                product *= chance
                if product < 1e-100:
                    log_likelihood, product = log_likelihood + np.log(product), 1.0
            else:
                log_likelihood += w * np.log(chance)
            # P(examined, no click above | tail) over P(no click from there on): times the latter, P(examined | tail).
            last[0, t], reached[t] = q, q / quiet[0, t] if quiet[0, t] > 0.0 else 0.0
        for j in range(1, ranks):
            for t in range(WIDE):
                reached[t] *= after_skip * skip[j - 1, t]
                last[j, t] = reached[t] * quiet[j, t] if after_skip < 1.0 else last[0, t]
        for t in range(count):
            start, size, w, total = first[begin + t], first[begin + t + 1] - first[begin + t], weight[begin + t], 0.0
            for j in range(size):
                total += last[j, t]
                examined[document[start + j]] += w * last[j, t]
                if len(beliefs):
                    beliefs[start + j - first[0]] = last[j, t]
            passed += w * (total - last[0, t])
            left += w * (last[0, t] - last[size - 1, t])
    return log_likelihood + np.log(product), examined[:-1], on, off, passed, left


@jit
def hold_out_tails(first, document, weight, clicks, trials, after_click, after_skip, ranks, beliefs, entered):
    """`expect_tails`, each tail judged by attractions that were learnt without it: (skips passed, left after).

    clicks, trials: [documents + 1] what each attraction was learnt from, the prior's among them. beliefs: [places]
    P(examined | tail), which is what a tail has added to the trials of its documents; it is made new. after_click:
    [tails], negative without a click. entered: [tails], filled with P(first place examined | tail).
    """
    passed, left, quiet, missed = 0.0, 0.0, np.empty(ranks), np.empty(ranks)
    for tail in range(len(weight)):
        start, end = first[tail], first[tail + 1]
        for place in range(end - 1, start - 1, -1):
            j, d = place - start, document[place]
            missed[j] = 1.0 - clicks[d] / (trials[d] - beliefs[place]) if d >= 0 else 1.0
            stays = 1.0 if place == end - 1 else 1.0 - after_skip + after_skip * quiet[j + 1]
            quiet[j] = stays * max(missed[j], 1e-9)
        _, q = _entered(after_click[tail], quiet[0])
        entered[tail], last = q, q
        for place in range(start, end):
            j = place - start
            if j > 0:
                last *= after_skip * max(missed[j - 1], 1e-9) * quiet[j] / quiet[j - 1]
                passed += weight[tail] * last
            beliefs[place] = last
        left += weight[tail] * (q - last)
    return passed, left


@jit
def add_information(document, success, failure, weight, value, information):
    """information[d] += weight p (1 - p) (s + f) - variance of the score, over p (1 - p): Louis 1982."""
    for i in range(len(document)):
        d = document[i]
        if d >= 0:
            s, f, p = success[i], failure[i], value[d]
            slope = s * (1.0 - p) - f * p
            variance = s * (1.0 - p) ** 2 + f * p**2 - slope**2
            information[d] += weight[i] * (s + f - variance / (p * (1.0 - p)))


@jit
def add_logs(document, success, failure, weight, row, odds, logs):
    """logs[row, g] += weight log(P(observation | probability of grid point g) / P(observation | current probability)).

    odds: [rows, g, 2] that probability over the current one, and the ratio of their complements.
    """
    product = np.ones_like(logs)  # of observations of weight 1: a logarithm takes longer than a multiplication
    for i in range(len(document)):
        d = document[i]
        if d >= 0 and row[d] >= 0 and weight[i] > 0.0:
            s, f, r, w = success[i], failure[i], row[d], weight[i]
            for g in range(logs.shape[1]):
                odd = s * odds[r, g, 0] + f * odds[r, g, 1] + (1.0 - s - f)
                if w != 1.0:
                    logs[r, g] += w * np.log(odd)
                    continue
                product[r, g] *= odd
                if not 1e-100 < product[r, g] < 1e100:
                    logs[r, g] += np.log(product[r, g])
                    product[r, g] = 1.0
    logs += np.log(product)
