"""Weighted counts of 64-bit keys; memory grows with the distinct keys, not with the log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ..log.batch import Floats, Integers
from ..log.hashing import ODD, SEED, finish

K = TypeVar("K", bound=np.generic)
W = TypeVar("W", bound=np.generic)


@dataclass(frozen=True)
class KeyedCounts:
    """Counts by key: counts[i] of keys[i], keys ascending."""

    keys: Integers
    counts: Floats

    def __add__(self, other: KeyedCounts) -> KeyedCounts:
        if not len(self.keys) or not len(other.keys):
            return self if len(self.keys) else other
        return KeyedCounts(*summed([self.keys, other.keys], [self.counts, other.counts]))

    def of(self, keys: Integers) -> Floats:
        """The counts of these keys, 0 for unseen keys."""
        return looked_up(self.keys, self.counts, keys)


def join(*parts: Integers | int) -> Integers:
    """One 64-bit key for several codes; order matters, and collisions are as rare as for a good hash."""
    key = np.asarray(SEED)
    with np.errstate(over="ignore"):
        for part in parts:
            key = finish.py_func((np.asarray(part, dtype=np.int64).view(np.uint64) ^ key) * ODD)
    return np.asarray(key).view(np.int64)


def summed(keys: Sequence[NDArray[K]], weights: Sequence[NDArray[W]]) -> tuple[NDArray[K], NDArray[W]]:
    """The distinct keys of several arrays [n], ascending, and the sum of the weights of each."""
    distinct, place = np.unique(np.concatenate(keys), return_inverse=True)
    total = np.zeros(len(distinct), weights[0].dtype)
    np.add.at(total, place, np.concatenate(weights))
    return distinct, total


def looked_up(keys: NDArray[K], counts: NDArray[W], asked: NDArray[K]) -> NDArray[W]:
    """The counts of the keys `asked`, 0 where there is no such key; keys [n] are ascending."""
    if not len(keys):
        return np.zeros(asked.shape, counts.dtype)
    place = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
    return np.where(keys[place] == asked, counts[place], np.zeros_like(counts[:1]))
