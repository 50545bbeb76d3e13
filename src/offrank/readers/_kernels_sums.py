"""A compiled loop that mixes the words of a buffer into a checksum."""
# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False, check-untyped-defs=False

from __future__ import annotations

import numpy as np

from ..language.compiled import jit
from ..log.hashing import ODD


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
