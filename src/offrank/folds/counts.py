"""Weighted counts of 64-bit keys; memory grows with the distinct keys, not with the log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..log.batch import Floats, Integers
from ..log.hashing import ODD, SEED, finish
from .base import PlusFold, Turned

K = TypeVar("K", bound=np.generic)
W = TypeVar("W", bound=np.generic)


@dataclass(frozen=True)
class KeyedCounts:
    """counts[i] of keys[i], keys ascending."""

    keys: Integers
    counts: Floats

    def __add__(self, other: KeyedCounts) -> KeyedCounts:
        if not len(self.keys) or not len(other.keys):
            return self if len(self.keys) else other
        return KeyedCounts(*summed([self.keys, other.keys], [self.counts, other.counts]))

    def of(self, keys: Integers) -> Floats:
        """The counts of these keys, 0 where a key was never seen."""
        if not len(self.keys):
            return np.zeros(keys.shape)
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[place] == keys, self.counts[place], 0.0)


@dataclass(frozen=True)
class KeyedCountsFold(Turned):
    """Reduces (keys [n], weights [n]) to the weight of each distinct key."""

    reducer: ClassVar = PlusFold(KeyedCounts(np.empty(0, np.int64), np.empty(0)))

    def turned(self, batch: tuple[Integers, Floats]) -> KeyedCounts:
        return KeyedCounts(*summed([batch[0]], [batch[1]]))


def join(*parts: Integers | int) -> Integers:
    """One 64-bit key for several codes; order matters, and collisions are as rare as for a good hash."""
    key = np.asarray(SEED)
    with np.errstate(over="ignore"):
        for part in parts:
            key = finish.py_func((np.asarray(part, dtype=np.int64).view(np.uint64) ^ key) * ODD)
    return np.asarray(key).view(np.int64)


def summed(keys: Sequence[NDArray[K]], weights: Sequence[NDArray[W]]) -> tuple[NDArray[K], NDArray[W]]:
    """The distinct ones of keys [n] in several arrays, ascending, and the sum of the weights of each."""
    distinct, place = np.unique(np.concatenate(keys), return_inverse=True)
    total = np.zeros(len(distinct), weights[0].dtype)
    np.add.at(total, place, np.concatenate(weights))
    return distinct, total
