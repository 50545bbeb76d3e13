"""Rank probabilities of the shown items, without storing [n, k, k] numbers if a policy has structure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..log.batch import Floats, Integers
from . import _kernels

_NO_LAW = np.empty((0, 0, 0))
_NO_RANKS = np.empty((0, 0), np.int64)
_NOTHING = np.empty(0)


@dataclass(frozen=True)
class RankLaw:
    """P(displayed item i at rank j) for the ranks of each row.

    Either `dense` [n, k, k]; or, if that is empty, `spread` [n] at every rank, plus `point` [n]
    in equal shares over the ranks first ... first + width - 1, both [n, k] (first is -1 where there are none).
    """

    dense: Floats
    first: Integers
    width: Integers
    spread: Floats
    point: Floats

    @classmethod
    def of(cls, dense: Floats) -> RankLaw:
        """A law without structure, dense [n, k, k]."""
        return cls(dense, _NO_RANKS, _NO_RANKS, _NOTHING, _NOTHING)

    @classmethod
    def uniform(cls, size: Integers, slots: int) -> RankLaw:
        """The law with every candidate equally likely at each rank."""
        nowhere = np.full((len(size), slots), -1)
        return cls(_NO_LAW, nowhere, np.ones_like(nowhere), 1 / np.maximum(size, 1), np.zeros(len(size)))

    @classmethod
    def blocks(cls, first: Integers, width: Integers) -> RankLaw:
        """The law with each item uniformly in its block of ranks."""
        n = len(first)
        return cls(_NO_LAW, first, width, np.zeros(n), np.ones(n))

    @property
    def arrays(self) -> tuple[Floats, Integers, Integers, Floats, Floats]:
        """The arrays for the compiled loops."""
        return self.dense, self.first, self.width, self.spread, self.point

    @property
    def structured(self) -> bool:
        """Whether it is stored by structure."""
        return not self.dense.size

    def own_ranks(self, length: Integers) -> Floats:
        """[n, k] the probability of each displayed item at its own rank, 0 on pads."""
        shape = self.first.shape if self.structured else self.dense.shape[:2]
        found = np.zeros(shape)
        _kernels.own_ranks(*self.arrays, length, found)
        return found

    def mixed(self, share: Floats, size: Integers) -> RankLaw:
        """The law of a mixture that is uniform with probability share [n], else this one."""
        if self.structured:
            spread = (1 - share) * self.spread + share / np.maximum(size, 1)
            return RankLaw(_NO_LAW, self.first, self.width, spread, (1 - share) * self.point)
        uniform = (share / np.maximum(size, 1))[:, None, None]
        return RankLaw.of((1 - share)[:, None, None] * self.dense + uniform)

    def written_out(self, length: Integers) -> Floats:
        """[n, k, k] the law as an array, 0 beyond a row's slots."""
        if self.structured:
            return self.at_ranks(length, self.first.shape[1], length)
        n, k, ranks = self.dense.shape  # fewer ranks than slots, where these are wider than all slates
        filled, out = np.arange(k) < length[:, None], np.zeros((n, k, k))
        out[:, :, :ranks] = np.where(filled[:, :, None] & filled[:, None, :ranks], self.dense, 0.0)
        return out

    def at_ranks(self, length: Integers, slots: int, count: Integers | None = None) -> Floats:
        """[n, q, slots] a law with structure as an array, for its q items or the first `count` [n] of each row."""
        count = np.full(len(length), self.first.shape[1]) if count is None else count
        law = np.zeros((*self.first.shape, slots))
        _kernels.block_law(self.first, self.width, self.spread, self.point, count, length, law)
        return law
