"""Compiled loops of the policies. Arrays as in `log.batch`.

They write to arrays of the caller: an array made inside takes longer to compile than most loops.

Who comes first in a race of independent keys, as `races.rank_probs` at one rank: a row is cut into panels of 16 nodes.
On a panel a log-density is that at the middle and a sum of two functions of the place, which all keys of a row share,
times two numbers of the key: for log-odds, alpha and beta times the logs of how both probabilities change. Keys are
[m, 6] numbers, as `races.Keys.numbers` gives them.
"""

from __future__ import annotations

import math

import numpy as np

from ..language.compiled import inlined, jit
from ..races.grid import ORDER
from ..races.shuffles import shuffled_slots as _shuffled_slots

shuffled_slots = jit(_shuffled_slots)

_FIRST, _SECOND, _MODE, _PEAK, _LOW, _HIGH = range(6)
_STEP = 6.0
"""Width of a panel, in standard deviations of what a normal key would be there: all digits are kept, as at 3."""
_MOST = 1 << 16
"""Panels of a row, which no sensible numbers need."""
_SATURATED = 38.0
"""Log-odds beyond which a probability is 0 or 1 to all digits."""
_LEAST = -746.0
"""Smaller logarithms are those of 0."""


@inlined
def _least_shown(scores, size, length, row):
    """The score of a row's last slot: one pass for each score above it, not one for each item."""
    least, filled, equal = math.inf, 0, 1
    while filled < length and equal > 0:
        below, equal = -math.inf, 0
        for item in range(size):
            score = scores[row, item]
            if score < least and score > below:
                below, equal = score, 1
            elif score < least and score == below:
                equal += 1
        least, filled = below, filled + equal
    return least


@jit
def blocks_by_score(scores, size, length, items, first, width):
    """[n, q] number of candidates with a higher score, and number with the same score.

    Written to first and width, unless the former fill all slots.
    """
    n, q = items.shape
    for row in range(n):
        least = _least_shown(scores, size[row], length[row], row) if q > 4 * length[row] else -math.inf
        for j in range(q):
            item = items[row, j]
            if item < 0 or scores[row, item] < least:
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
def block_slot_probs(first, width, slates):
    """[n, k] 1 / (number of items left in an item's block) if its slot is in the block, else 0; 1 on pads."""
    out = np.ones(slates.shape)
    for row in range(len(slates)):
        for slot in range(slates.shape[1]):
            if slates[row, slot] >= 0:
                start = first[row, slot]
                left = start + width[row, slot] - slot
                out[row, slot] = 1.0 / left if 0 <= start <= slot and left > 0 else 0.0
    return out


@jit
def log_product(probs):
    """[n] log of the product of each row [n, k]: one logarithm where the product is not tiny."""
    out = np.empty(len(probs))
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
    return out


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
def own_ranks(dense, first, width, spread, point, length, out):
    """out [n, k] <- the law of a `RankLaw` of each item at its own rank, but on pads."""
    full = dense.size > 0
    for row in range(len(length)):
        for i in range(length[row]):
            if full:
                out[row, i] = dense[row, i, i]
            else:
                inside = first[row, i] <= i < first[row, i] + width[row, i]
                out[row, i] = spread[row] + (point[row] / width[row, i] if inside else 0.0)


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


@inlined
def _expit(y):
    return 1 / (1 + math.exp(-max(y, -700.0)))


@inlined
def _change(y, p, away):
    """log p(y + away) / p(y), and the same of 1 - p, for the probability of log-odds y. p: the smaller of both at y."""
    side = away if y <= 0 else -away
    if abs(away) > 30.0:
        end = -abs(y) + side
        bend = max(end, 0.0) + math.log1p(math.exp(-abs(end))) - math.log1p(p / (1 - p))
    else:
        bend = math.log1p(p * math.expm1(side))
    return (side - bend, -bend) if y <= 0 else (-bend, side - bend)


@jit
def _roughness(odds, keys, size, y, near):
    """How fast log-densities bend and fall at y. near: the place of the panel nearest to 0."""
    p = branch = total = 0.0
    if odds:
        p = _expit(y)
        if near < _SATURATED:  # log(1 + exp(y)) branches at y = pi i
            branch = 22 / (near * near + math.pi**2)
    for item in range(size):
        if y < keys[item, _HIGH]:
            if odds:
                count = keys[item, _FIRST] + keys[item, _SECOND]
                slope = (keys[item, _FIRST] - count * p) / 3
                rough = count * p * (1 - p) + slope * slope + branch
            else:
                inverse = 1 / keys[item, _SECOND]
                slope = (y - keys[item, _FIRST]) * inverse / 3
                rough = (1 + slope * slope) * (inverse * inverse)
            total += rough * rough
    return math.sqrt(total)


@jit
def cut_into_panels(odds, keys, size, edges, count):
    """count [n] <- the panels of each row, edges [n, c] <- where they begin and end, as many as there is room for."""
    for row in range(len(size)):
        place, last = -np.inf, -np.inf
        for item in range(size[row]):
            place, last = max(place, keys[row, item, _LOW]), max(last, keys[row, item, _HIGH])
        edges[row, 0], count[row], width = place, 0, last - place
        begin = _roughness(odds, keys[row], size[row], place, abs(place))
        while place < last and count[row] < _MOST:
            width = min(1.5 * width, last - place)
            while True:
                near = max(0.0, place, -(place + width))
                middle = _roughness(odds, keys[row], size[row], place + width / 2, near)
                rough = max(begin, middle, _roughness(odds, keys[row], size[row], place + width, near))
                if not rough * width * width > _STEP * _STEP:
                    break
                width = max(0.999 * _STEP / math.sqrt(rough), width / 4)
            place = max(place + width, np.nextafter(place, np.inf))
            if last - place < width / 10:
                place = last
            begin = _roughness(odds, keys[row], size[row], place, abs(place))
            count[row] += 1
            if count[row] < edges.shape[1]:
                edges[row, count[row]] = place


@jit
def _fill(odds, keys, size, edges, rule, lanes, until, wholes, density, below):
    """density [panels, m, 16] <- times the panel's width, below <- its integral up to each node, from the panel on.

    rule: [18, 16] nodes less a half, their weights, and the weights of the integrals up to each. wholes [panels + 1, m]
    <- the integrals; until [m] <- the first panel in which a key has fallen to 0. lanes: [2 m + 3, 16] of the caller.
    """
    change, middles, before = lanes[:2], wholes[-1], 0.0
    until[:size] = 0
    for panel in range(len(edges) - 1):
        width = edges[panel + 1] - edges[panel]
        middle = edges[panel] + width / 2
        p = _expit(-abs(middle))
        back = _change(middle, p, before - middle)
        for node in range(ORDER):
            away = width * rule[0, node]
            change[0, node], change[1, node] = _change(middle, p, away) if odds else (away, away * away)
        for item in range(size):
            if until[item] < panel:
                continue
            first, second = keys[item, _FIRST], keys[item, _SECOND]
            if not odds:
                middles[item] = keys[item, _PEAK] - 0.5 * ((middle - first) / second) ** 2
                first, second = (first - middle) / (second * second), -0.5 / (second * second)
            elif panel > 0:
                middles[item] -= first * back[0] + second * back[1]
            else:
                mode = keys[item, _MODE]
                since = _change(mode, min(first, second) / (first + second), middle - mode)
                middles[item] = keys[item, _PEAK] + first * since[0] + second * since[1]
            rises = edges[panel] < keys[item, _MODE]
            if rises or middles[item] + first * change[0, 0] + second * change[1, 0] >= _LEAST:
                until[item] = panel + 1
                here, up_to, whole = density[panel, item], below[panel, item], 0.0
                for node in range(ORDER):
                    log = middles[item] + first * change[0, node] + second * change[1, node]
                    here[node], up_to[node] = width * math.exp(log), 0.0
                for node in range(ORDER):
                    whole += here[node] * rule[1, node]
                    for end in range(ORDER):
                        up_to[end] += here[node] * rule[2 + node, end]
                wholes[panel, item] = whole
        before = middle


@jit
def _add_up(keys, size, edges, rule, lanes, until, wholes, density, below, found):
    """found [m] <- the probabilities that each key is the largest: sums of its density times P(all others below).

    The others are multiplied from one side and from the other: nothing is divided out, so that nothing cancels.
    """
    after, before, parts = lanes[0], lanes[1:], lanes[size + 1 :]
    parts[:size] = 0.0
    for item in range(size):
        found[item] = 1.0
        for panel in range(until[item]):
            found[item] -= wholes[panel, item]
        found[item] = max(found[item], 0.0) if keys[item, _LOW] < edges[0] else 0.0  # P(key below all edges)
    for panel in range(len(edges) - 1):
        after[:] = rule[1]
        for item in range(size):
            before[item] = after
            if panel < until[item]:
                for node in range(ORDER):
                    below[panel, item, node] += found[item]
                    after[node] *= below[panel, item, node]
                found[item] += wholes[panel, item]
        after[:] = 1.0
        for item in range(size - 1, -1, -1):
            if panel < until[item]:
                for node in range(ORDER):
                    parts[item, node] += before[item, node] * after[node] * density[panel, item, node]
                    after[node] *= below[panel, item, node]
    for item in range(size):
        found[item] = parts[item].sum()


@jit
def first_of_keys(odds, keys, size, edges, count, rule, lanes, until, wholes, density, below, found):
    """found [n, m] <- P(the key is the largest), of rows that `cut_into_panels` has cut."""
    for row in range(len(size)):
        panels = edges[row, : count[row] + 1]
        _fill(odds, keys[row], size[row], panels, rule, lanes, until, wholes, density, below)
        _add_up(keys[row], size[row], panels, rule, lanes, until, wholes, density, below, found[row])


@jit
def ranks_by_coins(weights, length, shown, law):
    """Add the law [n, m, k] of lists, each of whose slots a coin gives to one of two rankings, which draws an item.

    weights: [n, 2, m] with which a ranking draws those not shown yet. shown: [2^m] zeros, P(set of items above).
    """
    m = weights.shape[2]
    for row in range(len(weights)):
        shown[0] = 1.0
        for above in range(1 << m):
            chance, rank = shown[above], 0
            shown[above] = 0.0
            if chance == 0.0:
                continue
            one = other = 0.0
            for item in range(m):
                if above >> item & 1:
                    rank += 1
                else:
                    one, other = one + weights[row, 0, item], other + weights[row, 1, item]
            if rank == length[row]:
                continue
            first = (0.5 if other > 0 else 1.0) * chance / one if one > 0 else 0.0
            second = (0.5 if one > 0 else 1.0) * chance / other if other > 0 else 0.0
            for item in range(m):
                if not above >> item & 1:
                    found = first * weights[row, 0, item] + second * weights[row, 1, item]
                    law[row, item, rank] += found
                    shown[above | 1 << item] += found
