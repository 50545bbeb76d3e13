"""Compiled loops that turn flat lists into checked, padded arrays.

Lists are flat: `values` with `starts` [n] and `lengths` [n].
"""

from __future__ import annotations

import numpy as np

from ..language.compiled import inlined, jit
from .hashing import ODD, TEXT, finish, with_byte


@jit
def hash_strings(data, offsets):
    """64-bit code of each string: FNV-1a, then splitmix64's finish so that all bits count."""
    n = len(offsets) - 1
    codes = np.empty(n, dtype=np.uint64)
    for i in range(n):
        h = TEXT
        for at in range(offsets[i], offsets[i + 1]):
            h = with_byte(h, data[at])
        codes[i] = finish(h)
    return codes


@jit
def in_groups(group, first, out):
    """Write to out[n] the rows of each group one behind the other. first: where those of each begin; it is moved."""
    for row in range(len(group)):
        out[first[group[row]]] = row
        first[group[row]] += 1


@jit
def pad(values, starts, lengths, out):
    """Copy row i's values to the head of out[i]."""
    for row in range(len(starts)):
        for j in range(lengths[row]):
            out[row, j] = values[starts[row] + j]


@jit
def click_sums(clicks, total, kinds):
    """Write to total [n] the sum of the clicks [n, k], to kinds 0 where all are 0, 1 where the others are 1, else 2."""
    for row in range(len(clicks)):
        none, one, earned = 0, 0, 0.0
        for slot in range(clicks.shape[1]):
            click = clicks[row, slot]
            none += click == 0.0
            one += click == 1.0
            earned += click
        total[row] = earned
        kinds[row] = 2 if none + one < clicks.shape[1] else min(one, 1)


@inlined
def _slot(code, bits):
    """Fibonacci hashing: the top bits of a product, so that neighbouring codes do not collide."""
    return np.int64((np.uint64(code) * ODD) >> np.uint64(64 - bits))


@inlined
def _bits(longest):
    """The size, as a power of two, of a table that the longest list fills at most to a quarter."""
    bits = 2
    while (1 << bits) < 4 * longest:
        bits += 1
    return bits


@jit
def duplicates(values, starts, lengths, found):
    """found [n] <- whether a list holds a value twice."""
    most = 0
    for row in range(len(lengths)):
        most = max(most, lengths[row])
    bits = _bits(most)
    seen, stamp = np.empty(1 << bits, np.int64), np.empty(1 << bits, np.int64)
    stamp[:] = -1  # the row of each slot: it need not be cleared
    for row in range(len(starts)):
        if lengths[row] <= 8:  # nearly always one of 64 bits for each value tells, else comparing all pairs is fast
            before, maybe, twice = np.uint64(0), False, False
            for i in range(starts[row], starts[row] + lengths[row]):
                bit = np.uint64(1) << np.uint64(_slot(values[i], 6))
                maybe |= (before & bit) != 0
                before |= bit
            if maybe:
                for i in range(starts[row], starts[row] + lengths[row]):
                    for j in range(starts[row], i):
                        twice |= values[i] == values[j]
            found[row] |= twice
            continue
        for i in range(starts[row], starts[row] + lengths[row]):
            slot = _slot(values[i], bits)
            while stamp[slot] == row and seen[slot] != values[i]:
                slot = (slot + 1) & (len(stamp) - 1)
            found[row] |= stamp[slot] == row
            seen[slot], stamp[slot] = values[i], row


@jit
def locate(items, item_starts, item_lengths, values, starts, lengths, out, outside, twice):
    """Write to out[n, k] the index of each item in the row's list of values, -2 if it is not there; -1 pads.

    outside [n] <- whether an item of the row is not there. twice [2, n] <- whether the row has an item, a value twice.
    """
    most = 0
    for row in range(len(lengths)):
        most = max(most, lengths[row] + item_lengths[row])
    bits = _bits(most)
    seen, place = np.empty(1 << bits, np.int64), np.empty(1 << bits, np.int64)
    stamps = np.empty((2, 1 << bits), np.int64)  # the rows that have a slot's value, and that name it
    stamps[:] = -1
    for row in range(len(starts)):
        away, item_again, value_again = False, False, False
        for i in range(lengths[row]):
            value = values[starts[row] + i]
            slot = _slot(value, bits)
            while stamps[0, slot] == row and seen[slot] != value:
                slot = (slot + 1) & (len(seen) - 1)
            if stamps[0, slot] == row:
                value_again = True
            else:  # the first of equal values
                seen[slot], place[slot], stamps[0, slot] = value, i, row
        for j in range(item_lengths[row]):
            item = items[item_starts[row] + j]
            slot = _slot(item, bits)
            while stamps[0, slot] == row and seen[slot] != item:
                slot = (slot + 1) & (len(seen) - 1)
            if stamps[0, slot] != row:
                seen[slot], place[slot], stamps[0, slot], away = item, -2, row, True
            item_again |= stamps[1, slot] == row
            out[row, j], stamps[1, slot] = place[slot], row
        for j in range(item_lengths[row], out.shape[1]):
            out[row, j] = -1
        outside[row], twice[0, row], twice[1, row] = away, item_again, value_again


@jit
def mixed(words):
    """Return four hashes, each of every fourth word [4]: a changed word changes its hash."""
    a = b = c = d = ODD
    half = np.uint64(32)
    for i in range(0, len(words), 4):
        a = (a ^ words[i]) * ODD
        b = (b ^ words[i + 1]) * ODD
        c = (c ^ words[i + 2]) * ODD
        d = (d ^ words[i + 3]) * ODD
        a ^= a >> half
        b ^= b >> half
        c ^= c >> half
        d ^= d >> half
    return np.array([a, b, c, d])
