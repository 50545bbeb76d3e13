"""The hash of the whole package: splitmix64, for 64-bit codes and keys, in compiled loops and (`hashed`) for arrays.

G. L. Steele, D. Lea, C. H. Flood (2014), Fast splittable pseudorandom number generators.
"""
# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False, check-untyped-defs=False

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..language.compiled import inlined, jit

ODD = np.uint64(0x9E3779B97F4A7C15)
"""2^64 over the golden ratio: its multiples are spread over all 64-bit codes."""

SEED = np.uint64(0x243F6A8885A308D3)
"""Initial value of joined keys: digits of pi."""

TEXT = np.uint64(0xCBF29CE484222325)
"""Initial value of FNV-1a, the hash of texts."""


@inlined
def finish(h):
    """splitmix64's finish: every bit of a code decides every bit of the result."""
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return h ^ (h >> np.uint64(31))


@inlined
def with_byte(h, byte):
    """FNV-1a: the hash of a text, from `TEXT` on, with one more byte."""
    return (h ^ np.uint64(byte)) * np.uint64(0x100000001B3)


@inlined
def splitmix64(x):
    """The splitmix64 hash, which maps neighbouring integers to unrelated words."""
    return finish(np.uint64(x) + ODD)


@inlined
def joined_key(part, key):
    """A key that depends on `part` and on the key so far."""
    return finish((np.uint64(part) ^ key) * ODD)


@jit
def hashed(codes):
    """[n] `splitmix64` of each code."""
    out = np.empty_like(codes)
    for at, code in enumerate(codes.flat):
        out.flat[at] = splitmix64(code)
    return out


def distinct_codes(codes: NDArray[Any]) -> NDArray[Any]:
    """[u] the different integers, ascending. `np.unique` hashes them, which takes ten times as long as to sort them."""
    ordered = np.sort(codes, axis=None)
    return ordered[np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)])]


def alone(row: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """[n] the code of a row that depends on no other; unlikely to be the code of a value."""
    return (row + np.uint64(1)) * ODD


def text_code(text: str) -> int:
    """The code of a text among ids, as they are read from a log."""
    with np.errstate(over="ignore"):
        code = TEXT
        for byte in text.encode():
            code = with_byte.py_func(code, byte)
        return int(np.int64(finish.py_func(code).view(np.int64)))


def hashes(content: NDArray[np.int64]) -> NDArray[np.uint64]:
    """[n] 64-bit hashes of rows of integers."""
    out = np.empty(len(content), np.uint64)
    _hash(content, out)
    return out


@jit
def _hash(content, out):
    n, width = content.shape
    for row in range(n):
        state = ODD
        for column in range(width):
            state ^= np.uint64(content[row, column])
            state ^= state >> np.uint64(32)
            state *= np.uint64(0xD6E8FEB86659FD93)
            state ^= state >> np.uint64(29)
        out[row] = state


@jit
def feature_hashes(first, size, offsets, indices, values, m):
    """[n, m] 64-bit hash of each candidate's features, 0 beyond a row's candidates."""
    out = np.zeros((len(size), m), np.uint64)
    for row in range(len(size)):
        for item in range(size[row]):
            line, state = first[row] + item, ODD
            for at in range(offsets[line], offsets[line + 1]):
                for part in (np.uint64(indices[at]), np.float64(values[at] + 0.0).view(np.uint64)):
                    state ^= part
                    state ^= state >> np.uint64(32)
                    state *= np.uint64(0xD6E8FEB86659FD93)
                    state ^= state >> np.uint64(29)
            out[row, item] = state
    return out
