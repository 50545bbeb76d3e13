"""Rewards of actions, a candidate in a slot, from the rewards of whole slates; on plain arrays.

The pseudoinverse estimates phi of each impression by Gamma^+ (r 1_slate) (paper slate-pseudoinverse, section 4.2). Its
mean over the impressions of a query needs only their number n and the sum theta of r 1_slate, when all of them were
drawn by the same law:

    sums = ActionSums.zeros(sizes [q], slots [q])
    sums.add(query [i], slates [i, k], reward [i], weight [i])     any number of times, in any order
    phi = sums.uniform(baseline)                                   [rows, k], rows as of the candidates

`rows` lists the candidates query by query; a query of m candidates has min(m, k) slots, and phi is 0 in further ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import UsageError
from ..log.batch import Floats, Integers
from . import _kernels


@dataclass(frozen=True)
class ActionSums:
    """Sums over the impressions of each of q queries; `add` changes them in place.

    - first: [q + 1] the candidates of query i are the rows first[i] : first[i + 1]. slots: [q] of its slates.
    - n: [q] number of impressions, by weight.
    - sums: [rows, k, 2] those of 1_slate (`shown`) and of r 1_slate (`theta`), beside each other in memory.
    """

    first: Integers
    slots: Integers
    n: Floats
    sums: Floats

    @property
    def shown(self) -> Floats:
        """Return the sum of 1_slate [rows, k]."""
        return self.sums[:, :, 0]

    @property
    def theta(self) -> Floats:
        """Return the sum of r 1_slate [rows, k]."""
        return self.sums[:, :, 1]

    @classmethod
    def zeros(cls, sizes: Integers, slots: Integers) -> ActionSums:
        """Build for queries with so many candidates [q] and slots [q].

        Raises:
            UsageError: a slate is longer than the candidates.

        Examples:
            >>> import numpy as np
            >>> sums = ActionSums.zeros(np.array([3]), np.array([2]))
            >>> sums.add(np.array([0]), np.array([[1, 0]]), np.array([1.0]))
            >>> sums.uniform()
            array([[ 0.5,  2.5],
                   [ 2.5,  0.5],
                   [-1.5, -1.5]])
        """
        if (wrong := np.flatnonzero(slots > sizes)).size:
            row = int(wrong[0])
            raise UsageError(
                f"query {row} has slates of {slots[row]} slots but only {sizes[row]} candidates",
                "shorten its slates to its candidates, or remove the query",
            )
        first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        sums = np.zeros((int(first[-1]), int(slots.max(initial=0)), 2))
        return cls(first, slots.astype(np.int64), np.zeros(len(sizes)), sums)

    def add(self, query: Integers, slates: Integers, reward: Floats, weight: Floats | None = None) -> None:
        """Add impressions: their queries [i], slates [i, k] of candidates (-1 pads), rewards [i] and weights [i]."""
        weight = np.ones(len(reward)) if weight is None else weight
        _kernels.add_slates(self.first, self.n, self.sums, query, slates, reward, weight)

    def rewards(self, baseline: float = 0.0) -> Floats:
        """Return theta / n of the rewards less a baseline [rows, k]; 0 for queries without impressions."""
        share = np.divide(1.0, self.n, out=np.zeros_like(self.n), where=self.n > 0)
        return (self.theta - baseline * self.shown) * np.repeat(share, np.diff(self.first))[:, None]

    def uniform(self, baseline: float = 0.0) -> Floats:
        """Return phi [rows, k] under uniform logging, without any matrix.

        It is the mean of r (1 / k - (m - 1) / (m - k) + (m - 1) 1{s_j = a} + (m - 1) / (m - k) 1{a in s}) for k < m.
        baseline: subtracted from the rewards, which moves phi by a constant, and its noise by more.
        """
        return self.solved_uniform(self.rewards(baseline))

    def solved_uniform(self, theta: Floats) -> Floats:
        """Return Gamma^+ theta under uniform logging [rows, k]; theta: [rows, k], of any rewards."""
        phi = np.ascontiguousarray(theta).copy()
        _kernels.solve_uniform_slates(self.first, self.slots, phi)
        return phi

    def merge(self, other: ActionSums, query: Integers) -> None:
        """Add the sums of other impressions, whose queries [q'] are these [q'], with the same candidates."""
        _kernels.merge_sums(self.first, self.n, self.sums, query, other.first, other.n, other.sums)

    @property
    def weights(self) -> Floats:
        """Return the weights of a regression in which queries count equally [rows, k]: 1 / (m l), 0 where unseen."""
        size = np.diff(self.first)
        each = np.where(self.n > 0, 1.0 / np.maximum(size * self.slots, 1), 0.0)
        inside = np.arange(self.theta.shape[1]) < np.repeat(self.slots, size)[:, None]
        return np.where(inside, np.repeat(each, size)[:, None], 0.0)
