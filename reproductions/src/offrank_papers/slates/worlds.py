"""Worlds of the simulation: queries, a logging policy, two targets, and the weight of every item in every slot.

The logging policy depends on ranks alone, so that Gamma has one pseudoinverse for each number of candidates; the
weight of a slate is then a sum of l entries of a table.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from offrank.estimators.pseudoinverse.gamma import UniformInverse, pseudoinverse
from offrank.log.batch import Floats, Integers
from offrank.metrics.ranking import dcg, discount
from offrank.policies.plackett_luce import pair_probs

from . import _kernels
from .design import REWARDS, TARGETS, Logging, Space
from .rankers import RankedSets

_QUERIES = 32  # whose tables are computed at once
_LARGEST = 1e37

Features = NDArray[np.float32]
CONSTANT = 0.01
"""The first column of the features of the direct methods, as in the published code."""


@dataclass(frozen=True)
class DrawnSlates:
    """A part of a log: query [n]; rows [n, l] of the candidates shown, the last row for none."""

    query: Integers
    shown: Integers


@dataclass(frozen=True)
class SlateWorld:
    """Queries with a logging policy and two targets; q queries, their candidates in rows.

    first: [q + 1] offsets of the rows, which are in the order of the logging ranker. document: [rows + 1] index into
    `features` [documents + 1, d], the last of zeros. target: [q, l, t] rows; chance: [q, t] of the target's slate under
    logging. table: [rows + 1, l, t] summands of the pseudoinverse weights. weight: [types] by floor(log2 rank).
    highest: the highest grade there is, for ERR.
    """

    first: Integers
    document: Integers
    features: Features
    grade: Floats
    highest: float
    target: Integers
    chance: Floats
    table: Floats
    weight: Floats

    @property
    def slots(self) -> int:
        """Return l."""
        return self.table.shape[1]

    @property
    def queries(self) -> int:
        """Return the number of queries."""
        return len(self.first) - 1

    def draw(self, seed: int, start: int, stop: int) -> DrawnSlates:
        """Return the logs of these numbers, the same whenever they are drawn."""
        query = np.empty(stop - start, np.int64)
        shown = np.empty((stop - start, self.slots), np.int64)
        _kernels.draw(np.uint64(seed), start, stop, self.first, self.weight, query, shown)
        return DrawnSlates(query, shown)

    def weights(self, log: DrawnSlates) -> tuple[Floats, Floats]:
        """Return pseudoinverse weights [n, t], and importance weights [n, t]."""
        count = len(log.query), self.target.shape[2]
        weights, same = np.empty(count), np.empty(count, np.bool_)
        _kernels.weigh(log.query, log.shown, self.table, self.target, weights, same)
        return weights, np.where(same, 1.0 / self.chance[log.query], 0.0)

    def rewards(self, log: DrawnSlates) -> Floats:
        """Return the rewards of slates [n, 3], in the order of `REWARDS`."""
        found = np.empty((len(log.query), len(REWARDS)))
        _kernels.reward(log.query, log.shown, *self._grades, found)
        return found

    @cached_property
    def _grades(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Return gains [rows + 1], ideal DCG [q, 2], discounts [2, l], chances to stop [rows + 1]."""
        grade = np.append(self.grade, 0.0)
        sizes = np.diff(self.first)
        padded = np.full((self.queries, int(sizes.max())), 0.0)
        padded[np.arange(padded.shape[1]) < sizes[:, None]] = self.grade
        best = -np.sort(-padded, axis=1)[:, : self.slots]
        ideal = np.stack([dcg(best, discounts=name) for name in ("log2", "log2-flat")], axis=1)
        ranks = np.arange(1, self.slots + 1)
        discounts = np.stack([discount(ranks, "log2"), discount(ranks, "log2-flat")])
        return np.exp2(grade) - 1, ideal, discounts, (np.exp2(grade) - 1) / 2.0**self.highest

    @cached_property
    def shown_by_target(self) -> tuple[DrawnSlates, ...]:
        """Return the target slates of all queries, for each target."""
        every = np.arange(self.queries)
        return tuple(
            DrawnSlates(every, np.ascontiguousarray(self.target[:, :, t])) for t in range(self.target.shape[2])
        )

    @cached_property
    def values(self) -> Floats:
        """Return the rewards of the targets' slates [t, q, 3]; their means over the queries are the truth."""
        return np.stack([self.rewards(slates) for slates in self.shown_by_target])


def feature_table(features: Floats) -> Features:
    """Return features [documents, d - 1] as `SlateWorld` has them, after the constant column."""
    table = np.zeros((len(features) + 1, features.shape[1] + 1), np.float32)
    table[:-1, 0] = CONSTANT
    table[:-1, 1:] = np.clip(np.nan_to_num(features), -_LARGEST, _LARGEST)
    return table


def worlds(
    sets: RankedSets, features: Features, space: Space, some: Iterable[Logging], highest: float = 4.0
) -> dict[Logging, SlateWorld]:
    """Return a world for each logging policy; those of equal alpha are made together."""
    found: dict[Logging, SlateWorld] = {}
    some = list(some)
    for alpha in sorted({one.alpha for one in some}):
        alike = [one for one in some if one.alpha == alpha]
        targets = {one: _targets(sets, space, one) for one in alike}
        tables = _tables(sets.judged.sizes, sets.judged.first, space, alpha, list(targets.values()))
        for one, table in zip(alike, tables, strict=True):
            found[one] = _world(sets, one, features, highest, targets[one], table)
    return {one: found[one] for one in some}


def type_weights(most: int, alpha: float) -> Floats:
    """Return the weights [types] of ranks 1, 2-3, 4-7, ... up to `most`."""
    return np.asarray(np.exp2(-alpha * np.arange(int(most).bit_length())))


def by_rank(size: int, alpha: float) -> Floats:
    """Return the weights of ranks 1 to `size`."""
    rank = np.arange(1, size + 1)
    return type_weights(size, alpha)[np.frexp(rank)[1] - 1]


def _targets(sets: RankedSets, space: Space, logging: Logging) -> Integers:
    """Return the candidates, by their rank for the logging policy from 0, in each slot [q, l, t]; -1 for none."""
    judged = sets.judged
    found = np.full((len(judged), space.l, len(TARGETS)), -1)
    for t, name in enumerate(TARGETS):
        rank = sets.ranks[name]
        shown = rank <= space.l
        found[judged.owner[shown], rank[shown] - 1, t] = sets.ranks[logging.ranker][shown] - 1
    return found


def _world(
    sets: RankedSets, logging: Logging, features: Features, highest: float, target: Integers, table: Floats
) -> SlateWorld:
    judged, rank = sets.judged, sets.ranks[logging.ranker]
    order = np.lexsort((rank, judged.owner))
    rows = np.where(target >= 0, target + judged.first[:-1, None, None], judged.rows)
    return SlateWorld(
        judged.first.astype(np.int64),
        np.append(order, judged.rows),
        features,
        judged.grade[order],
        highest,
        rows,
        _chances(target, judged.sizes, logging.alpha),
        table,
        type_weights(int(judged.sizes.max()), logging.alpha),
    )


def _chances(target: Integers, sizes: Integers, alpha: float) -> Floats:
    """Return the probability of slates [q, t], from the ranks of their candidates [q, l, t]."""
    whole = by_rank(int(sizes.max()), alpha)
    drawn = np.where(target >= 0, whole[target], 0.0)
    left = np.cumsum(whole)[sizes - 1][:, None, None] - np.cumsum(drawn, axis=1) + drawn
    return np.divide(drawn, left, out=np.ones_like(left), where=target >= 0).prod(axis=1)


def _tables(sizes: Integers, first: Integers, space: Space, alpha: float, targets: list[Integers]) -> list[Floats]:
    """Return, for the targets of each logging ranker, the summands of weights [rows + 1, l, t]."""
    found = [np.zeros((int(first[-1]) + 1, space.l, one.shape[2])) for one in targets]
    for size in np.unique(sizes).tolist():
        slots = min(size, space.l)
        inverse = pseudoinverse(pair_probs(by_rank(size, alpha), slots)) if alpha else UniformInverse(size, slots)
        every = np.flatnonzero(sizes == size)
        for some in np.array_split(every, -(-len(every) // _QUERIES)):
            for one, table in zip(targets, found, strict=True):
                for t in range(one.shape[2]):
                    wanted = np.zeros((len(some), size * slots))
                    place = one[some, :slots, t] * slots + np.arange(slots)
                    np.put_along_axis(wanted, place, 1.0, axis=1)
                    entries = inverse.solve(wanted).reshape(len(some), size, slots)
                    rows = first[some][:, None] + np.arange(size)
                    table[rows[:, :, None], np.arange(slots), t] = entries
    return found
