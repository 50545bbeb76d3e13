"""Weighted counts of 64-bit keys; memory grows with the distinct keys, not with the log."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..log.batch import Floats, Integers
from ..log.hashing import ODD, SEED, finish


@dataclass(frozen=True)
class KeyedCounts:
    """counts[i] of keys[i], keys ascending."""

    keys: Integers
    counts: Floats

    def of(self, keys: Integers) -> Floats:
        """The counts of these keys, 0 where a key was never seen."""
        if not len(self.keys):
            return np.zeros(keys.shape)
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[place] == keys, self.counts[place], 0.0)


@dataclass(frozen=True)
class CountsFold:
    """Reduces (keys [n], weights [n]) to the weight of each distinct key."""

    def empty(self) -> KeyedCounts:
        return KeyedCounts(np.empty(0, np.int64), np.empty(0))

    def add(self, state: KeyedCounts, batch: tuple[Integers, Floats]) -> KeyedCounts:
        return self.merge(state, _sum(*batch))

    def merge(self, left: KeyedCounts, right: KeyedCounts) -> KeyedCounts:
        if not len(left.keys) or not len(right.keys):
            return left if len(left.keys) else right
        return _sum(np.concatenate([left.keys, right.keys]), np.concatenate([left.counts, right.counts]))

    def finish(self, state: KeyedCounts) -> KeyedCounts:
        return state


def join(*parts: Integers | int) -> Integers:
    """One 64-bit key for several codes; order matters, and collisions are as rare as for a good hash."""
    key = np.asarray(SEED)
    with np.errstate(over="ignore"):
        for part in parts:
            key = finish.py_func((np.asarray(part, dtype=np.int64).view(np.uint64) ^ key) * ODD)
    return np.asarray(key).view(np.int64)


def _sum(keys: Integers, weights: Floats) -> KeyedCounts:
    distinct, place = np.unique(keys, return_inverse=True)
    counts = np.bincount(place, weights=weights, minlength=len(distinct))
    return KeyedCounts(distinct, counts.astype(np.float64, copy=False))
