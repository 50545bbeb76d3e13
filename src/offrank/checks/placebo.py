"""The placebo of an experiment: rows in which both of its rankers show the same earn the same, whoever served them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from ..findings.evidence_rows import PlaceboEvidence
from ..folds._kernels import bucket_of
from ..folds.base import MappedFold, TotalFold
from ..folds.clusters import deviates
from ..log.batch import Floats, Integers, LogBatch
from ..log.source import Needs
from ..policies.by import By
from ..policies.propensities import law
from ..policies.ties import certain, shown_slates

BUCKETS = 128
_BY_CHANCE = 1.4
"""Variance of the shares of clusters, over that of rows whose arm chance draws, up to which chance draws it."""


@dataclass(frozen=True)
class PlaceboFold(MappedFold):
    """Counts rows and sums their outcome by arm, where two rankers show the same list, or the same first item.

    The sums are [pairs of arms, 2 (whole list and reward; first item and its clicks), 1 + clusters, 2, buckets, 2
    (arms)]: by the row itself, and by each column of clusters.
    """

    arms: By
    clusters: tuple[str, ...] = ()

    def needs(self) -> Needs:
        """Return the columns to read."""
        return self.arms.needs("log_prob") | Needs(clusters=frozenset(self.clusters))

    @property
    def reducer(self) -> TotalFold:
        return TotalFold((math.comb(len(self.arms.policies), 2), 2, 1 + len(self.clusters), 2, BUCKETS, 2))

    def mapped(self, batch: LogBatch) -> Floats:
        found, arm = self.reducer.empty(), self.arms.arms(batch.contexts)
        lists = [_list_of(law(one, "log_prob"), batch) for one in self.arms.policies.values()]
        known = batch.outcome is not None or batch.clicks is not None
        outcomes = [(batch.reward if known else np.zeros(len(batch)), slice(None))]
        if batch.clicks is not None and batch.clicks.shape[1]:
            outcomes.append((batch.clicks[:, 0], slice(1)))
        for place, (one, other) in enumerate(combinations(range(len(lists)), 2)):
            served = ((arm == one) | (arm == other)) & (lists[one][:, 0] >= 0)
            for kind, (outcome, slots) in enumerate(outcomes):
                rows = np.flatnonzero(served & (lists[one][:, slots] == lists[other][:, slots]).all(axis=1))
                for column, bucket in enumerate(_buckets(self.clusters, batch)):
                    cell = 2 * bucket[rows] + (arm[rows] == other)
                    found[place, kind, column] += _sums(batch, outcome, cell, rows)
        return found

    def result(self, found: Floats) -> tuple[PlaceboEvidence, ...]:
        """Return what is known of each pair of arms with such rows, by the whole list and by the first item."""
        names, made = [str(value) for value in self.arms.policies], []
        for arms, kinds in zip(combinations(names, 2), found, strict=True):
            for kind, sums in enumerate(kinds):
                rows, earned = sums[0].sum(axis=1)
                if rows.all():
                    counted = [True, *map(_assigned, sums[1:, 0])]
                    away = sums[:, 1] - earned.sum() / rows.sum() * sums[:, 0]
                    apart = deviates(sums[counted, 0], away[counted], np.array([[1 / rows[0], -1 / rows[1]]]))
                    known = tuple(rows.tolist()), tuple((earned / rows).tolist()), float(apart[0])
                    made.append(PlaceboEvidence(self.arms.column, arms, len(found), kind == 1, *known))
        return tuple(made)


def _list_of(policy: Any, batch: LogBatch) -> Integers:
    """Return [n, k] what a ranker shows, -1 where equal scores leave that open, and where a list ends."""
    contexts, sure = batch.contexts, certain(policy, batch.contexts)
    shown = np.full((len(batch), max(contexts.slots, 1)), -1)
    some = contexts.take(np.flatnonzero(sure))
    shown[sure, : some.slots] = shown_slates(policy, some)
    return shown


def _assigned(rows: Floats) -> bool:
    """Whether clusters [b, 2] have an arm rather than rows: else rows of one cluster differ by chance between arms."""
    each, share = rows.sum(axis=1), rows[:, 1].sum() / rows.sum()
    held = each > 0
    away = (rows[held, 1] - share * each[held]) ** 2 / each[held]
    return bool(away.mean() > _BY_CHANCE * share * (1 - share))


def _buckets(clusters: tuple[str, ...], batch: LogBatch) -> Iterator[Integers]:
    """Yield [n] the bucket of each row: of its number, and of each column of clusters."""
    for codes in (batch.row, *batch.dependent(clusters).values()):
        yield bucket_of(codes, BUCKETS).astype(np.int64)


def _sums(batch: LogBatch, outcome: Floats, cell: Integers, rows: Integers) -> Floats:
    """Return [2, b, 2] the count and the outcome of some rows, each by its inclusion, in cells."""
    each = (batch.inverse_inclusion[rows], batch.inverse_inclusion[rows] * outcome[rows])
    return np.stack([np.bincount(cell, one, 2 * BUCKETS).reshape(BUCKETS, 2) for one in each])
