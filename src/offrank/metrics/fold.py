"""All metrics of all models, in one pass: clicked impressions in, sums with their doubt out."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import reduce

import numpy as np

from ..estimators.base import refuse_impossible
from ..folds.base import Sample, Together, Turned
from ..folds.group_by import with_groups
from ..inference.spec import IntervalSpec
from ..log.batch import Floats, LogBatch
from ..log.source import Needs
from ..policies.propensities import AnyPolicy, is_law, law_needs, propensities, shown_needs
from .clicked import Clicked, clicked
from .comparisons import Comparison
from .orders import order_needs


@dataclass(frozen=True)
class ComparisonsFold(Turned):
    """Reduces batches to sums of the columns "clicks", ("weight", metric) and ("cost", metric, model).

    Rows without a click would add zeros to all of them and are left out. Every column is divided by the
    row's inclusion probability.
    """

    metrics: tuple[Comparison, ...]
    models: tuple[str, ...]
    logging: AnyPolicy
    doubt: IntervalSpec
    by: str | None = None

    @property
    def columns(self) -> dict[Hashable, int]:
        """Where each column is."""
        names: list[Hashable] = ["clicks"]
        for metric in self.metrics:
            names += [("weight", metric), *(("cost", metric, model) for model in self.models)]
        return {name: place for place, name in enumerate(names)}

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

    @property
    def reducer(self) -> Together:
        columns, first = self.columns, self.models[:1]
        compared = [(*first, other) for other in self.models[1:]] or [first]
        blocks = tuple(
            (columns["weight", metric], *(columns["cost", metric, model] for model in models))
            for metric in self.metrics
            for models in compared
        )
        every = Together(self.doubt.folds(len(columns), blocks=blocks))
        return with_groups(every, None if self.by is None else every)

    def turned(self, batch: LogBatch) -> Sample:
        banner = any(metric.against == "banner" for metric in self.metrics)
        numbers, found = [np.empty(0, np.int64)], [np.empty((0, len(self.columns)))]
        for piece in clicked(batch, self.logging, banner=banner):  # one after another: their laws are large
            numbers.append(piece.rows)
            found.append(self._values(piece, batch))
        rows, values = np.concatenate(numbers), np.concatenate(found)
        clusters = {name: codes[rows] for name, codes in batch.dependent(self.doubt.columns).items()}
        groups = None if self.by is None else batch.labels[self.by].take(rows)
        return Sample(values, batch.row[rows], clusters, groups=groups)

    def _values(self, piece: Clicked, batch: LogBatch) -> Floats:
        """[r, columns] of some clicked rows."""
        columns = [piece.clicks.sum(axis=1)]
        for metric in self.metrics:
            impossible = np.zeros(len(batch), dtype=np.bool_)
            impossible[piece.rows] = piece.impossible(metric)
            refuse_impossible(batch, impossible, propensities(self.logging, batch))
            columns += [piece.weight(metric), *(piece.cost(metric, model) for model in self.models)]
        return np.column_stack(columns) / piece.batch.inclusion[:, None]
