"""A log of uniformly random slates, of which only sums are kept: what pi-opt learns from (section 4.2, appendix G)."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from offrank.language import Say
from offrank.learning.action_rewards import ActionSums
from offrank.log.batch import Floats, Integers
from offrank.log.graded_queries import Judged

from . import _kernels_uniform
from .design import REWARDS
from .worlds import DrawnSlates, SlateWorld

_PIECE = 1 << 18


@dataclass(frozen=True)
class Pages:
    """Rewards of slates of judged documents, in the order of `REWARDS`.

    slots: of a slate; queries with fewer documents have shorter ones. highest: the largest grade there is, for ERR.
    """

    judged: Judged
    slots: int
    world: SlateWorld

    @classmethod
    def of(cls, judged: Judged, slots: int, highest: float = 4.0) -> Pages:
        """Build for these queries."""
        q, rows = len(judged), judged.rows + 1
        world = SlateWorld(
            first=judged.first.astype(np.int64),
            document=np.arange(rows),
            features=np.zeros((rows, 0), np.float32),
            grade=judged.grade,
            highest=highest,
            target=np.zeros((q, slots, 0), np.int64),
            chance=np.zeros((q, 0)),
            table=np.zeros((rows, slots, 0)),
            weight=np.ones(1),
        )
        return cls(judged, slots, world)

    @property
    def lengths(self) -> Integers:
        """Return the slots of each query's slates [q]."""
        return np.minimum(self.judged.sizes, self.slots)

    def rewards(self, query: Integers, slates: Integers) -> Floats:
        """Return the rewards [n, 3] of slates [n, slots] of a query's documents, counted from 0, -1 pads."""
        rows = np.where(slates >= 0, slates + self.judged.first[query][:, None], self.judged.rows)
        return self.world.rewards(DrawnSlates(query, rows))


@dataclass(frozen=True)
class UniformLog:
    """Sums of a log; actions: for each of `REWARDS`."""

    judged: Judged
    actions: tuple[ActionSums, ...]

    @property
    def unseen(self) -> int:
        """Return the number of queries without a slate."""
        return int((self.actions[0].n == 0).sum())

    @property
    def means(self) -> Floats:
        """Return the mean rewards of each query's slates [q, 3], 0 for unseen queries."""
        totals = [np.add.reduceat(one.theta[:, 0], self.judged.first[:-1]) for one in self.actions]
        return np.stack(totals, axis=1) / np.maximum(self.actions[0].n, 1)[:, None]


def uniform_log(pages: Pages, count: int, seed: int, say: Say) -> UniformLog:
    """Simulate `count` slates of queries drawn uniformly; memory does not depend on the count."""
    sizes = np.ascontiguousarray(pages.judged.sizes)
    actions = tuple(ActionSums.zeros(sizes, pages.lengths) for _ in REWARDS)
    spent = 0.0
    for start in range(0, count, _PIECE):
        stop, began = min(start + _PIECE, count), time.process_time()
        query, slates = np.empty(stop - start, np.int64), np.empty((stop - start, pages.slots), np.int64)
        _kernels_uniform.draw(np.uint64(seed), start, stop, sizes, query, slates)
        rewards = pages.rewards(query, slates)
        for place, one in enumerate(actions):
            one.add(query, slates, np.ascontiguousarray(rewards[:, place]))
        if start:  # the first piece may include compilation
            spent += time.process_time() - began
        if stop == count or stop % (64 * _PIECE) == 0:
            speed = f", {(stop - _PIECE) / spent / 1e6:.1f} million a second of one core" if spent else ""
            say(f"{stop:,} of {count:,} uniformly random slates{speed}")
    return UniformLog(pages.judged, actions)
