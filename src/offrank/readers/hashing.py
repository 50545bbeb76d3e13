"""Categories to feature indices: the hashing trick."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..log import _kernels
from ..log.batch import Integers

NUMERIC = 2
"""Indices 0 and 1 belong to the numeric features 1 and 2 of the Criteo format; categories share the others."""


def category_indices(tokens: Sequence[str], bits: int) -> Integers:
    """[n] index of each category, spelled `feature:value`, in [2, 2^bits)."""
    letters = [token.encode() for token in tokens]
    offsets = np.concatenate([[0], np.cumsum([len(letter) for letter in letters])]).astype(np.int64)
    codes = _kernels.hash_strings(np.frombuffer(b"".join(letters) or b"\0", np.uint8), offsets)
    return np.asarray(NUMERIC + (codes % np.uint64((1 << bits) - NUMERIC)).astype(np.int64))
