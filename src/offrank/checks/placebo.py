"""The placebo of an experiment: lists that both of two rankers show earn the same, whichever of them served.

Of rows that an arm draws by the law p, while the other has q, each weighs 2 q / (p + q). Then the weighted sum of
whatever follows from a list has in both arms the same expectation, the sum of 2 p q / (p + q) times it over all lists,
whatever users do. Of rankers that sort, these are the rows in which both show the same list, each with weight 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ..findings.arms import PlaceboEvidence
from ..log.batch import Floats, LogBatch
from ..log.source import Needs
from ..policies.by import By
from ..policies.propensities import propensities
from ..sums._kernels import bucket_of
from ..sums.base import Fold
from .contrasts import deviates

BUCKETS = 128
_BY_CHANCE = 1.4
"""Variance of the shares of clusters, over that of rows whose arm chance draws, up to which chance draws it."""
_LEAST = 30.0
"""Sum of the weights of each arm, where rankers draw; with less nothing is tested."""
_STEPS = 2.0**24
"""Of which weights are whole multiples: their sums do not depend on the order of the rows."""


@dataclass(frozen=True)
class PlaceboFold(Fold):
    """Sums the overlap weights of rows, and their outcome, by pair of arms.

    first: looks at the first item and its clicks, rather than at the whole list and its reward. The sums are [pairs of
    arms, 1 + clusters, 2, buckets, 2 (arms)]: by the row itself, and by each column of clusters.
    """

    arms: By
    clusters: tuple[str, ...] = ()
    first: bool = False

    def needs(self) -> Needs:
        """Return the columns to read."""
        return self.arms.reads("slot_probs" if self.first else "log_prob") | Needs(clusters=frozenset(self.clusters))

    def of(self, batch: LogBatch) -> Floats:
        shape = math.comb(len(self.arms.policies), 2), 1 + len(self.clusters), 2, BUCKETS, 2
        found, arm = np.zeros(shape), self.arms.arms(batch.contexts)
        if not batch.slates.shape[1] or (self.first and batch.clicks is None):
            return found
        known, outcome = [propensities(one, batch) for one in self.arms.policies.values()], np.zeros(len(batch))
        with np.errstate(divide="ignore"):
            laws = [np.log(one.slot_probs[:, 0]) if self.first else one.log_prob for one in known]
        if batch.clicks is not None or batch.outcome is not None:
            outcome = batch.clicks[:, 0] if self.first and batch.clicks is not None else batch.reward
        codes = (batch.row, *batch.dependent(self.clusters).values())  # the number of each row, and its clusters
        buckets = [bucket_of(one, BUCKETS).astype(np.int64) for one in codes]
        for sums, (one, other) in zip(found, combinations(range(len(laws)), 2), strict=True):
            rows = np.flatnonzero(((arm == one) | (arm == other)) & (batch.slates[:, 0] >= 0))
            second = arm[rows] == other
            weight = overlap_weights(
                *(np.where(second == mine, laws[other][rows], laws[one][rows]) for mine in (True, False))
            )
            weight /= batch.inclusion[rows]
            for column, bucket in zip(sums, buckets, strict=True):
                cell = 2 * bucket[rows] + second
                for place, each in enumerate((weight, weight * outcome[rows])):
                    column[place] += np.bincount(cell, each, 2 * BUCKETS).reshape(BUCKETS, 2)
        return found

    def result(self, found: Floats) -> tuple[PlaceboEvidence, ...]:
        """Return what is known of each pair of arms that show the same often enough."""
        names, made = list(self.arms.policies.items()), []
        for arms, sums in zip(combinations(names, 2), found, strict=True):
            drawn = not all(policy.sorts for _, policy in arms)
            rows, earned = sums[0].sum(axis=1)
            if rows.min() > (_LEAST if drawn else 0.0):
                counted = [True, *map(_assigned, sums[1:, 0])]
                away = sums[:, 1] - earned.sum() / rows.sum() * sums[:, 0]
                apart = deviates(sums[counted, 0], away[counted], np.array([[1 / rows[0], -1 / rows[1]]]))
                known = tuple(rows.tolist()), tuple((earned / rows).tolist()), float(apart[0])
                pair = tuple(str(value) for value, _ in arms)
                made.append(PlaceboEvidence(self.arms.column, pair, len(found), self.first, *known, drawn))
        return tuple(made)


def overlap_weights(mine: Floats, other: Floats) -> Floats:
    """Return [n] 2 q / (p + q) of what was shown, by the log-probabilities of p, whose arm served, and of q.

    1 where both are equally likely to show it, as two rankers that sort; 0 where either never does.
    """
    possible = np.isfinite(mine) & np.isfinite(other)
    apart = np.subtract(mine, other, out=np.zeros(len(mine)), where=possible)
    with np.errstate(over="ignore"):
        return np.where(possible, np.round(2 * _STEPS / (1 + np.exp(apart))) / _STEPS, 0.0)


def _assigned(rows: Floats) -> bool:
    """Whether clusters [b, 2] have an arm rather than rows: else rows of one cluster differ by chance between arms."""
    each, share = rows.sum(axis=1), rows[:, 1].sum() / rows.sum()
    held = each > 0
    away = (rows[held, 1] - share * each[held]) ** 2 / each[held]
    return bool(away.mean() > _BY_CHANCE * share * (1 - share))
