# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False, check-untyped-defs=False
"""Compiled loops that hash the rows of a log."""

from __future__ import annotations

import numpy as np

from ..language.compiled import inlined, jit
from ..log.hashing import ODD, SEED, finish


@inlined
def _mixed(part, key):
    """A key that depends on `part` and on the key so far."""
    return finish((np.uint64(part) ^ key) * ODD + SEED)


@jit
def of_keys(codes):
    """[n] hash of one code each."""
    out = np.empty(len(codes), np.uint64)
    for row in range(len(codes)):
        out[row] = _mixed(codes[row], np.uint64(4))
    return out


@jit
def of_slates(candidates, slates, length, start):
    """[n] hash of the items in their slots, top first; an empty slot counts. start: [n] initial keys."""
    out = np.empty(len(slates), np.uint64)
    for row in range(len(slates)):
        key = _mixed(start[row], np.uint64(1))
        for slot in range(length[row]):
            place = slates[row, slot]
            key = _mixed(candidates[row, place], key) if place >= 0 else _mixed(np.uint64(0), ~key)
        out[row] = key
    return out


@jit
def of_numbers(bits, length, start):
    """[n] hash of the numbers in their slots, by their bits [n, k]; zeros, the most frequent, are skipped."""
    out = np.empty(len(bits), np.uint64)
    for row in range(len(bits)):
        key = start[row]
        for slot in range(length[row]):
            if bits[row, slot]:
                key = _mixed(bits[row, slot], key ^ np.uint64(slot + 5))
        out[row] = key
    return out


@jit
def of_candidates(candidates, size, first, offsets, indices, bits):
    """[n] hash of the candidates with their features; hashes are summed, since neither has an order."""
    out = np.empty(len(size), np.uint64)
    for row in range(len(size)):
        total = np.uint64(0)
        for place in range(size[row]):
            line, features = first[row] + place, np.uint64(0)
            for at in range(offsets[line], offsets[line + 1]):
                features += _mixed(bits[at], _mixed(indices[at], np.uint64(2)))
            total += _mixed(candidates[row, place], _mixed(features, np.uint64(3)))
        out[row] = total
    return out
