"""All metrics of all models, in one pass: clicked impressions in, sums with their doubt out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from ..estimators.base import refuse_impossible
from ..folds.base import Fold, Sample, Together
from ..folds.bootstrap import BootstrapFold
from ..folds.buckets import BucketsFold
from ..folds.group_by import GroupBy
from ..folds.intervals import METHODS, Method, Spread
from ..folds.moments import MomentsFold
from ..log.batch import LogBatch
from ..log.errors import UsageError
from ..log.source import Needs
from ..policies.base import Policy
from ..policies.shown import Shown
from .clicked import Clicked, clicked
from .comparisons import Comparison
from .orders import order_needs

State = dict[str, tuple[Any, dict[str, Any]]]
"""Per metric: the state of the whole log, and one per group."""


@dataclass(frozen=True)
class Intervals:
    """How intervals are made: `normal`, `bootstrap` or `bernstein`, rows being dependent within a `cluster`.

    Raises:
        UsageError: a level outside (0, 1), an unknown method, or one that does not fit the clusters.
    """

    method: Method = "normal"
    confidence: float = 0.95
    cluster: str | None = None
    replicates: int = 200
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.confidence < 1:
            raise UsageError(f"confidence is {self.confidence}", "give a level between 0 and 1, such as 0.95")
        if self.method not in METHODS or (self.method == "bernstein" and self.cluster is not None):
            raise UsageError(
                f"interval is {self.method!r} with cluster {self.cluster!r}",
                "say " + ", ".join(METHODS) + "; bernstein takes no cluster",
            )
        if self.replicates < 20:
            raise UsageError(f"replicates is {self.replicates}", "give at least 20, better 200")

    def fold(self, columns: int) -> Together:
        """Reduces samples to what `spread` needs."""
        folds: dict[str, Fold[Any, Any, Any]] = {"moments": MomentsFold(columns)}
        if self.method == "bootstrap":
            folds["replicates"] = BootstrapFold(columns, self.replicates, self.seed)
        elif self.cluster is not None:
            folds["buckets"] = BucketsFold(columns)
        return Together(folds)

    def spread(self, folded: dict[str, Any]) -> Spread:
        """What intervals are made from."""
        return Spread(folded["moments"], self.method, self.confidence, folded.get("buckets"), folded.get("replicates"))


@dataclass(frozen=True)
class ComparisonsFold:
    """Reduces batches to sums per metric. Columns: clicks, comparison weight, then the cost of each model.

    Rows without a click would add zeros to all of them and are left out. Every column is divided by the
    row's inclusion probability.
    """

    metrics: tuple[Comparison, ...]
    models: tuple[str, ...]
    logging: Policy
    intervals: Intervals
    by: str | None = None

    def needs(self) -> Needs:
        """The columns that are read.

        Raises:
            AbilityError: the logging policy does not know what a metric asks.
        """
        against = {metric.against for metric in self.metrics}
        asked = [Needs(frozenset(["clicks", "candidates"]), scores=frozenset(self.models))]
        if "counterfactual" in against:
            asked.append(order_needs(self.logging))
        if "banner" in against:
            asked.append(self.logging.needs("rank_probs"))
        if self.intervals.cluster is not None:
            asked.append(Needs(keys=frozenset([self.intervals.cluster])))
        if self.by is not None:
            asked.append(Needs(labels=frozenset([self.by])))
        return reduce(Needs.__or__, asked)

    def empty(self) -> State:
        return {repr(metric): (self._inner.empty(), self._groups.empty()) for metric in self.metrics}

    def add(self, state: State, batch: LogBatch) -> State:
        banner = any(metric.against == "banner" for metric in self.metrics)
        for piece in clicked(batch, self.logging, banner=banner):
            state = {repr(metric): self._added(state[repr(metric)], metric, piece, batch) for metric in self.metrics}
        return state

    def merge(self, left: State, right: State) -> State:
        return {
            name: (self._inner.merge(whole, right[name][0]), self._groups.merge(groups, right[name][1]))
            for name, (whole, groups) in left.items()
        }

    def finish(self, state: State) -> State:
        return {
            name: (self._inner.finish(whole), self._groups.finish(groups)) for name, (whole, groups) in state.items()
        }

    def sample(self, metric: Comparison, piece: Clicked) -> Sample:
        """The rows of columns of one metric."""
        columns = [piece.clicks.sum(axis=1), piece.weight(metric)]
        columns += [piece.cost(metric, model) for model in self.models]
        values = np.column_stack(columns) / piece.inclusion[:, None]
        cluster = self.intervals.cluster
        return Sample(values, piece.row if cluster is None else piece.contexts.keys[cluster].view(np.uint64))

    def _added(self, before: tuple[Any, Any], metric: Comparison, piece: Clicked, batch: LogBatch) -> tuple[Any, Any]:
        impossible = np.zeros(len(batch), dtype=np.bool_)
        impossible[piece.rows] = piece.impossible(metric)
        refuse_impossible(batch, impossible, Shown(self.logging, batch))
        sample, (whole, groups) = self.sample(metric, piece), before
        if self.by is not None:
            groups = self._groups.add_groups(groups, sample, piece.codes[self.by], batch.labels[self.by].names)
        return self._inner.add(whole, sample), groups

    @property
    def _inner(self) -> Together:
        return self.intervals.fold(2 + len(self.models))

    @property
    def _groups(self) -> GroupBy[Any, Any]:
        return GroupBy(self._inner)
