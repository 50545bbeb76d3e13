"""A compiled loop: uniformly random slates."""
# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False, check-untyped-defs=False

from __future__ import annotations

import numba
import numpy as np

from offrank.log.hashing import ODD, finish, joined_key

_jit = numba.njit(cache=True, nogil=True)
_UNIT = 1.0 / 2**53


@_jit
def draw(seed, start, stop, sizes, query, slates):
    """query [n], slates [n, l] <- logs `start` to `stop`: a query, and its documents without replacement; -1 pads.

    sizes: [q] documents. Slate i of a seed is the same in any part of the log.
    """
    for i in range(stop - start):
        state = joined_key(start + i, seed)
        q = np.int64((finish(state) >> np.uint64(11)) * _UNIT * len(sizes))
        query[i] = q
        slates[i] = -1
        for slot in range(min(slates.shape[1], sizes[q])):
            again = True
            while again:
                state += ODD
                document = np.int64((finish(state) >> np.uint64(11)) * _UNIT * sizes[q])
                again = False
                for above in range(slot):
                    again = again or slates[i, above] == document
            slates[i, slot] = document
