"""All metrics of all models, in one pass: clicked impressions in, sums with their doubt out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from ..estimators.base import refuse_impossible
from ..folds.base import Sample, Together
from ..folds.group_by import GroupBy
from ..inference.spec import IntervalSpec
from ..log.batch import LogBatch
from ..log.source import Needs
from ..policies.propensities import AnyPolicy, is_law, law_needs, propensities, shown_needs
from .clicked import Clicked, clicked
from .comparisons import Comparison
from .orders import order_needs

State = dict[str, tuple[Any, dict[str, Any]]]
"""Per metric: the state of the whole log, and one per group."""


@dataclass(frozen=True)
class ComparisonsFold:
    """Reduces batches to sums per metric. Columns: clicks, comparison weight, then the cost of each model.

    Rows without a click would add zeros to all of them and are left out. Every column is divided by the
    row's inclusion probability.
    """

    metrics: tuple[Comparison, ...]
    models: tuple[str, ...]
    logging: AnyPolicy
    doubt: IntervalSpec
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
            asked.append(self._rank_probs_needs())
        asked.append(self.doubt.needs())
        if self.by is not None:
            asked.append(Needs(labels=frozenset([self.by])))
        return reduce(Needs.__or__, asked)

    def _rank_probs_needs(self) -> Needs:
        if is_law(self.logging):
            return law_needs(self.logging, "rank_probs")
        return shown_needs(self.logging, "rank_law")

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
        values = np.column_stack(columns) / piece.batch.inclusion[:, None]
        return Sample(values, piece.batch.row, piece.batch.dependent(self.doubt.columns))

    def _added(self, before: tuple[Any, Any], metric: Comparison, piece: Clicked, batch: LogBatch) -> tuple[Any, Any]:
        impossible = np.zeros(len(batch), dtype=np.bool_)
        impossible[piece.rows] = piece.impossible(metric)
        refuse_impossible(batch, impossible, propensities(self.logging, batch))
        sample, (whole, groups) = self.sample(metric, piece), before
        if self.by is not None:
            groups = self._groups.add_groups(
                groups, sample, piece.batch.labels[self.by].codes, batch.labels[self.by].names
            )
        return self._inner.add(whole, sample), groups

    @property
    def _inner(self) -> Together:
        models = len(self.models)
        blocks = tuple((1, 2, 2 + model) for model in range(1, models)) or ((1, 2),)
        return Together(self.doubt.folds(2 + models, blocks=blocks))

    @property
    def _groups(self) -> GroupBy[Any, Any]:
        return GroupBy(self._inner)
