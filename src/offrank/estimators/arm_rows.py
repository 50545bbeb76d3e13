"""The rows of an A/B test of rankers that sort: what was shown and clicked, and what each ranker shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..clicks.documents import shown_keys
from ..log.batch import Floats, Integers, LogBatch
from ..log.hashing import hashed
from ..log.source import Needs
from ..policies.by import By
from ..policies.propensities import law, law_needs
from ..policies.ties import certain, shown_slates

LEARNT_BY = "query"
"""The column by which the attraction of an item is learnt: it is the same wherever that is."""
LEARNT_FROM = 200_000
"""Rows to learn from: of a larger log those with the smallest hashes."""
PAD = np.iinfo(np.int64).min
_ALL = np.uint64(2**64 - 1)


@dataclass(frozen=True)
class ArmRows:
    """Rows of an A/B test.

    key [n]: their hashes. arm [n]: who served. weight [n]: 1 / inclusion. reward [n]. sure [n]: whether all rankers
    are sure of their lists. documents [n, 1 + a, k]: keys of what was shown, and of what the ranker of each arm shows,
    PAD after the last. clicks [n, k].
    """

    key: NDArray[np.uint64]
    arm: Integers
    weight: Floats
    reward: Floats
    sure: NDArray[np.bool_]
    documents: Integers
    clicks: Floats

    def __len__(self) -> int:
        return len(self.key)

    @classmethod
    def of(cls, arms: By, batch: LogBatch) -> ArmRows:
        """The rows of a batch."""
        contexts, lists = batch.contexts, [batch.slates[:, : batch.contexts.slots]]
        sure = np.ones(len(batch), np.bool_)
        for policy in (law(one, "log_prob") for one in arms.policies.values()):
            certainly = certain(policy, contexts)
            shown = np.full((len(batch), contexts.slots), -1)
            some = contexts.take(np.flatnonzero(certainly))
            shown[certainly, : some.slots] = shown_slates(policy, some)
            lists.append(shown)
            sure &= certainly
        documents = [np.where(one >= 0, shown_keys(contexts, one, LEARNT_BY), PAD) for one in lists]
        clicks = np.zeros(lists[0].shape) if batch.clicks is None else batch.clicks[:, : contexts.slots]
        known = hashed(batch.row), arms.arms(contexts), batch.inverse_inclusion, batch.reward, sure
        return cls(*known, np.stack(documents, axis=1), clicks)

    def take(self, rows: NDArray[Any]) -> ArmRows:
        """Some of the rows."""
        return ArmRows(*(values[rows] for values in vars(self).values()))

    @property
    def odd(self) -> bool:
        """Whether a click is neither 0 nor 1, or a reward is not the sum of the clicks."""
        whole = (self.clicks == 0) | (self.clicks == 1)
        return not whole.all() or bool((self.reward != self.clicks.sum(axis=1)).any())

    @staticmethod
    def of_parts(parts: Sequence[ArmRows]) -> ArmRows:
        """The rows of all parts, one after another."""
        slots = max(one.clicks.shape[1] for one in parts)
        wide = [vars(one if one.clicks.shape[1] == slots else one.padded(slots)).values() for one in parts]
        return ArmRows(*map(np.concatenate, zip(*wide, strict=True)))

    def padded(self, slots: int) -> ArmRows:
        """The same with lists of so many slots."""
        more = (0, slots - self.clicks.shape[1])
        documents = np.pad(self.documents, [(0, 0), (0, 0), more], constant_values=PAD)
        return replace(self, documents=documents, clicks=np.pad(self.clicks, [(0, 0), more]))


@dataclass(frozen=True)
class ArmRowsState:
    """Pieces of rows, of which those with a hash from `limit` on are dropped. odd: whether any row read is so."""

    pieces: tuple[ArmRows, ...] = ()
    odd: bool = False
    limit: np.uint64 = field(default=_ALL)


@dataclass(frozen=True)
class ArmRowsFold:
    """Keeps the rows of an A/B test, of a large log those with the smallest hashes."""

    arms: By
    most: int = LEARNT_FROM

    @property
    def needs(self) -> Needs:
        """The columns to read."""
        own = Needs(frozenset(["clicks", "reward"]), keys=frozenset([LEARNT_BY]))
        laws = (law_needs(one, "log_prob") for one in self.arms.policies.values())
        return reduce(Needs.__or__, laws, own | self.arms.reads)

    def empty(self) -> ArmRowsState:
        return ArmRowsState()

    def add(self, state: ArmRowsState, batch: LogBatch) -> ArmRowsState:
        if not len(batch):
            return state
        self.arms.refuse_unknown(batch)
        rows = ArmRows.of(self.arms, batch)
        return self.merge(state, ArmRowsState((rows.take(rows.key < state.limit),), rows.odd))

    def merge(self, left: ArmRowsState, right: ArmRowsState) -> ArmRowsState:
        pieces, limit = (*left.pieces, *right.pieces), min(left.limit, right.limit)
        both = ArmRowsState(pieces, left.odd or right.odd, limit)
        return self._cut(both) if sum(map(len, pieces)) > 2 * self.most else both

    def finish(self, state: ArmRowsState) -> ArmRowsState:
        return self._cut(state) if state.pieces else state

    def _cut(self, state: ArmRowsState) -> ArmRowsState:
        """The same with the rows of the smallest hashes only, in one piece."""
        rows, limit = ArmRows.of_parts(state.pieces), state.limit
        if len(rows) > self.most:
            limit = min(limit, np.partition(rows.key, self.most)[self.most])
        return replace(state, pieces=(rows.take(rows.key < limit),), limit=limit)
