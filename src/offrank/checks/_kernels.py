"""Compiled loops of the checks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..language.compiled import inlined, jit, njit
from ..log.hashing import ODD, finish

_NEGATIVE_ZERO = np.uint64(1 << 63)
"""The bits of -0.0, which is the same number as 0."""
_SLOTS, _LAST = 20, (1 << 20) - 1
"""Bits of a slot, and the last one that they hold."""
_BLOCK = 128
"""Rows that are summed rank by rank while they are in the processor's cache."""


@njit(fastmath={"reassoc", "contract", "nsz"})
def rank_sums(clicks, length, inverse, sums):
    """Add per rank [k, 6]: rows, and sums of h, h c, h^2, h^2 c, h^2 c^2, with h = 1 / inclusion and c the click."""
    for first in range(0, len(clicks), _BLOCK):
        last = min(first + _BLOCK, len(clicks))
        for rank in range(clicks.shape[1]):
            rows, h1, hc1, h2, h2c, hc2 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
            for row in range(first, last):
                there = 1.0 if rank < length[row] else 0.0
                h = there * inverse[row]
                hc = h * clicks[row, rank]
                rows += there
                h1 += h
                hc1 += hc
                h2 += h * h
                h2c += h * hc
                hc2 += hc * hc
            sums[rank, 0] += rows
            sums[rank, 1] += h1
            sums[rank, 2] += hc1
            sums[rank, 3] += h2
            sums[rank, 4] += h2c
            sums[rank, 5] += hc2


@inlined
def _joined(key, bits):
    key = (key ^ (np.uint64(0) if bits == _NEGATIVE_ZERO else bits)) * ODD
    return key ^ (key >> np.uint64(29))


@jit
def join_slots(key, values, length, slates):
    """Mix the bits of each slot's value into the key [n] of its row.

    values: [n, m] beside the candidates, indexed by slates [n, k]; or, if slates is empty, [n, k] beside
    the slots. An empty slot counts too.
    """
    beside = slates.shape[1] == 0
    for row in range(len(key)):
        mixed = key[row]
        for slot in range(length[row]):
            place = slot if beside else slates[row, slot]
            mixed = _joined(mixed, values[row, place] if place >= 0 else ODD)
        key[row] = mixed


@jit
def mark_shown(rows, codes, size, length, slates, shown, listed):
    """Hash the slate of some rows, and its first item, into shown [r, 2], and tell which are numbered as shown [r].

    codes [n, m]: of the candidates; slates [n, k]: places among them, -1 where nothing was shown.
    """
    for at in range(len(rows)):
        row = rows[at]
        mixed, numbered = np.uint64(length[row]), True
        for slot in range(length[row]):
            place = slates[row, slot]
            mixed = _joined(mixed, codes[row, place] if place >= 0 else ODD)
            numbered &= place == slot
        for item in range(size[row]):
            numbered &= codes[row, item] == np.uint64(item)
        first = slates[row, 0] if slates.shape[1] else -1
        shown[at, 0], shown[at, 1] = mixed, codes[row, first] if first >= 0 else np.uint64(0)
        listed[at] = numbered


@jit
def join_sets(key, codes, values, size):
    """Mix the values [n, m] of the candidates into the key [n] of each row, whatever the order of the candidates."""
    for row in range(len(key)):
        mixed = np.uint64(0)
        for item in range(size[row]):
            mixed += finish(_joined(codes[row, item] * ODD, values[row, item]))
        key[row] = _joined(key[row], mixed)


@jit
def _only(slate, candidates, others, size, kept):
    """Keep the codes of a slate's items that are candidates of the other row too, and return how many."""
    count = 0
    for place in slate:
        if place < 0:
            continue
        code = candidates[place]
        for item in range(size):
            if others[item] == code:
                kept[count] = code
                count += 1
                break
    return count


@jit
def orders_alike(candidates, size, slates, first, second, found):
    """Compare pairs of rows [p]: 0 where nothing can be told, 1 where one order explains both, 2 where none does.

    An order of the items explains two slates if, of the items that are candidates of both rows, one shows those at
    which the other begins.
    """
    one, two = np.empty(slates.shape[1], np.int64), np.empty(slates.shape[1], np.int64)
    for pair in range(len(first)):
        a, b = first[pair], second[pair]
        shown_one = _only(slates[a], candidates[a], candidates[b], size[b], one)
        shown_two = _only(slates[b], candidates[b], candidates[a], size[a], two)
        depth = min(shown_one, shown_two)
        differs = False
        for place in range(depth):
            differs |= one[place] != two[place]
        if differs:
            found[pair] = 2
        elif depth > 1 or (depth == 1 and max(size[a], size[b]) > 1 and _alike(candidates, size, a, b)):
            found[pair] = 1


@jit
def _alike(candidates, size, a, b):
    """Whether two rows begin with two equal candidates, so that what was shown was a choice."""
    common = 0
    for item in range(size[a]):
        for other in range(size[b]):
            if candidates[a, item] == candidates[b, other]:
                common += 1
                break
        if common > 1:
            return True
    return False


def bits(values: NDArray[np.generic]) -> NDArray[np.uint64]:
    """Return values as 64-bit words, the same for the same number but for the sign of 0, which is not mixed in."""
    values = values.astype(np.float64, copy=False) if values.dtype.kind == "f" else values
    return np.ascontiguousarray(values).view(np.uint64)


@jit
def join_rows(key, values):
    """Mix the bits of a value [n] into the key [n] of each row."""
    for row in range(len(key)):
        key[row] = _joined(key[row], values[row])


@jit
def seal(key):
    """Mix each key [n] in place, so that any of its bits depends on all that was joined."""
    for row in range(len(key)):
        mixed = (key[row] ^ (key[row] >> np.uint64(31))) * np.uint64(0x94D049BB133111EB)
        key[row] = mixed ^ (mixed >> np.uint64(30))


@jit
def shown_cells(context, candidates, slates, clicks, limit, at, code):
    """Find what was shown whose hash of context [n] and item is at most `limit`, and return how many there are.

    candidates [n, m]: codes; slates [n, k]: places among them, -1 where nothing was shown. code: filled with the
    hashes; at: with the row and the slot, and whether there is a click above, from the highest bit to the lowest.
    """
    found = 0
    for row in range(len(context)):
        begun, above = finish(context[row] + ODD), 0
        for slot in range(slates.shape[1]):
            place = slates[row, slot]
            if place < 0:
                continue
            hashed = finish(_joined(begun, candidates[row, place] * ODD))
            if hashed <= limit:
                at[found], code[found] = (row << _SLOTS | slot) << 1 | above, hashed
                found += 1
            if clicks[row, slot] > 0:
                above = 1
    return found


@jit
def cells(code, table, cell, key):
    """Number the different codes [s] in the order of first occurrence, and return how many there are.

    table: -1 each, a power of two in length and longer than the codes. cell [s]: filled with the numbers; key: with
    the code of each.
    """
    mask, found = np.uint64(len(table) - 1), 0
    for one in range(len(code)):
        at = code[one] & mask
        while table[at] >= 0 and key[table[at]] != code[one]:
            at = (at + np.uint64(1)) & mask
        if table[at] < 0:
            table[at] = found
            key[found] = code[one]
            found += 1
        cell[one] = table[at]
    return found


@jit
def cell_ends(at, cell, slates, scores, low, high):
    """Lower low [e] and raise high [e] to the scores [n, m] of what was shown of each cell [s], `at` as found."""
    for one in range(len(at)):
        row, slot = at[one] >> 1 >> _SLOTS, at[one] >> 1 & _LAST
        score, here = scores[row, slates[row, slot]], cell[one]
        low[here], high[here] = min(low[here], score), max(high[here], score)


@jit
def cell_sums(at, line, clicks, sums):
    """Add to lines [s], -1 for none, impressions, clicks and their squares of what was shown, `at` as found.

    sums [lines, 2 r, 3]: at each rank, the last with those below, without a click above, then at each rank with one.
    """
    ranks = sums.shape[1] // 2
    for one in range(len(at)):
        row, slot = at[one] >> 1 >> _SLOTS, at[one] >> 1 & _LAST
        here, came = line[one], clicks[row, slot]
        if here >= 0:
            place = ranks * (at[one] & 1) + min(slot, ranks - 1)
            sums[here, place, 0] += 1.0
            sums[here, place, 1] += came
            sums[here, place, 2] += came * came


@jit
def merge_cells(left, right, merged):
    """Merge the cells with the smallest keys of two parts, as many as `merged` holds, and return their number.

    Each is key [e], ascending; sums [e, 2 r, 3], which add up; and the least and the largest scores [e, scores].
    """
    key, sums, low, high = merged
    keys, at, end = (left[0], right[0]), np.zeros(2, np.int64), (len(left[0]), len(right[0]))
    found = 0
    while found < len(key) and (at[0] < end[0] or at[1] < end[1]):
        one = at[1] == end[1] or (at[0] < end[0] and keys[0][at[0]] <= keys[1][at[1]])
        two = at[0] == end[0] or (at[1] < end[1] and keys[1][at[1]] <= keys[0][at[0]])
        some, here = (left, at[0]) if one else (right, at[1])
        key[found], sums[found], low[found], high[found] = some[0][here], some[1][here], some[2][here], some[3][here]
        if one and two:
            here = at[1]
            sums[found] += right[1][here]
            low[found] = np.minimum(low[found], right[2][here])
            high[found] = np.maximum(high[found], right[3][here])
        at[0] += one
        at[1] += two
        found += 1
    return found


@njit(fastmath={"reassoc", "contract", "nsz"})
def least_squares(columns, values, weights, least, found):
    """Fit values [e] by columns [d, e] with least weighted squares, into found [e], and return the columns' rank.

    The columns are made orthogonal in place, each to those before it and twice, which is as exact as a singular value
    decomposition; one of which the others leave at most the share `least` is dropped. Rows without weight are told
    too. A library's routine starts threads, which outlast a system this small.
    """
    d, rows = columns.shape
    rank = 0
    found[:] = 0.0
    for place in range(d):
        column, before, after, along = columns[place], 0.0, 0.0, 0.0
        for row in range(rows):
            before += weights[row] * column[row] * column[row]
        if before == 0.0:  # nothing was shown there
            continue
        for _ in range(2):
            for one in range(rank):
                other, share = columns[one], 0.0
                for row in range(rows):
                    share += weights[row] * other[row] * column[row]
                for row in range(rows):
                    column[row] -= share * other[row]
        for row in range(rows):
            after += weights[row] * column[row] * column[row]
            along += weights[row] * column[row] * values[row]
        if after > least * least * before:
            length = np.sqrt(after)
            for row in range(rows):
                columns[rank, row] = column[row] / length
                found[row] += along / length * columns[rank, row]
            rank += 1
    return rank
