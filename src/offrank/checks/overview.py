"""Overview of a log before any evaluation: sizes of slates, distinct values, mean reward, dependence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..inference.clusters_and_level import BUCKETS_OF, IntervalSpec
from ..log.batch import Integers, LogBatch, Naturals
from ..log.hashing import distinct_codes, hashed
from ..sums.base import Fold, Sample, Tee
from ..sums.clusters import Clusters
from ..sums.estimate import Interval
from ..sums.mean import ratio
from ..sums.named_sums import NamedColumns
from ..sums.sampled import sketch

KEPT = 4096
"""Maximum of distinct values counted exactly; beyond it, the density of as many hashes is accurate to some 3 %."""
_COLUMNS = NamedColumns(("reward", "rows"))
_MEAN = ratio("reward", "rows")


@dataclass(frozen=True)
class Overview:
    """Overview of a log. slots, candidates: size -> rows. distinct: values of the items and of the grouping columns.

    earned: mean reward before sub-sampling, with the interval of `offrank.evaluate`. effects: column -> design effect,
    the factor in rows needed because rows of one value depend on each other (Kish); None if it cannot be estimated.
    """

    slots: Mapping[int, int]
    candidates: Mapping[int, int]
    distinct: Mapping[str, int]
    earned: Interval | None = None
    effects: Mapping[str, float | None] = field(default_factory=dict)


@dataclass(frozen=True)
class OverviewFold(Fold):
    """Reduces batches to an `Overview`.

    columns: those that group rows; rewards: whether any reward was logged.
    """

    columns: tuple[str, ...] = ()
    rewards: bool = True

    def of(self, batch: LogBatch) -> dict[str, Any]:
        contexts, groups = batch.contexts, batch.dependent(self.columns)
        inside = np.arange(contexts.candidates.shape[1]) < contexts.size[:, None]
        codes = {"item": contexts.candidates[inside].view(np.uint64), **groups}
        hashes = {name: distinct_codes(hashed(values))[:KEPT] for name, values in codes.items()}
        found = {
            "slots": _counted(contexts.length),
            "candidates": _counted(contexts.size),
            "hashes": {name: sketch(KEPT, keys, np.empty((len(keys), 0))) for name, keys in hashes.items()},
        }
        if not self.rewards:
            return found
        weighed = np.column_stack([batch.reward, np.ones(len(batch))]) / batch.inclusion[:, None]
        return {**found, "earned": self._earned.of(Sample.of(weighed, batch.row, groups))}

    def result(self, state: dict[str, Any]) -> Overview:
        slots, candidates = (dict(sorted(state[name].items())) for name in ("slots", "candidates"))
        distinct = {name: _distinct(hashes.key) for name, hashes in state["hashes"].items()}
        if not self.rewards or not state["slots"]:
            return Overview(slots, candidates, distinct)
        folded = self._earned.result(state["earned"])
        alone = IntervalSpec().inference(_COLUMNS, folded)
        inference = IntervalSpec(cluster="auto", found=self.columns).inference(_COLUMNS, folded)
        earned = replace(inference, nonnegative=bool(inference.sums.least["reward"] >= 0)).interval(_MEAN)
        clusters = {name: Clusters.of(name, folded[BUCKETS_OF + name]) for name in self.columns}
        effects = {name: alone.design_effect(_MEAN, one) for name, one in clusters.items()}
        return Overview(slots, candidates, distinct, earned, effects)

    @property
    def _earned(self) -> Tee:
        return Tee(IntervalSpec(cluster="auto", found=self.columns).folds(_COLUMNS))


def _counted(sizes: Integers) -> Counter[int]:
    values, counts = np.unique(sizes, return_counts=True)
    return Counter(dict(zip(values.tolist(), counts.tolist(), strict=True)))


def _distinct(hashes: Naturals) -> int:
    """Return the number of distinct values: exact if all hashes are known, otherwise from their density."""
    return len(hashes) if len(hashes) < KEPT else round((KEPT - 1) / (float(hashes[-1]) / 2.0**64))
