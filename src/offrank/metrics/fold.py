"""All metrics of all models in one pass: clicked impressions become sums of comparison costs."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

import numpy as np

from ..errors import AbilityError
from ..estimators.base import refuse_impossible
from ..inference.clusters_and_level import IntervalSpec
from ..log.batch import Booleans, Floats, Integers, LogBatch
from ..log.source import Needs
from ..policies.base import Policy, all_items
from ..policies.propensities import propensities
from ..sums.base import Fold, Sample, Tee
from ..sums.group_by import with_groups
from ..sums.mean import Name
from ..sums.named_sums import NamedColumns
from ..wording import Option, Wording
from . import _kernels
from .comparisons import Comparison
from .orders import drawn_order_law, order_law, order_needs

_MOST_NUMBERS = 4_000_000  # of a law [n, q, k]: rows are processed in pieces below this size


@dataclass(frozen=True)
class ComparisonsFold(Fold):
    """Reduces batches to sums of the columns "clicks", ("weight", metric) and ("cost", metric, model).

    Rows without a click would add zeros to all of them and are left out. Every column is divided by the
    row's inclusion probability.
    """

    metrics: tuple[Comparison, ...]
    models: tuple[str, ...]
    logging: Policy
    spec: IntervalSpec
    by: str | None = None

    @cached_property
    def columns(self) -> NamedColumns:
        """The names of the columns."""
        names: list[Name] = ["clicks"]
        for metric in self.metrics:
            names += [("weight", metric), *(("cost", metric, model) for model in self.models)]
        return NamedColumns(tuple(names))

    def needs(self) -> Needs:
        """The columns to read.

        Raises:
            AbilityError: the logging policy lacks an ability that a metric needs.
        """
        against = {metric.against for metric in self.metrics}
        asked = [Needs(frozenset(["clicks", "candidates"]), scores=frozenset(self.models)), self.spec.needs()]
        if "counterfactual" in against:
            asked.append(order_needs(self.logging))
        if "banner" in against:
            ranks = self.logging.any_slate
            asked.append(self.logging.reads("rank_probs") if ranks else self.logging.reads("rank_law"))
        if self.by is not None:
            asked.append(Needs(labels=frozenset([self.by])))
        return reduce(Needs.__or__, asked)

    @cached_property
    def sums(self) -> Tee:
        """The folds of the sums."""
        first = self.models[:1]
        compared = [(*first, other) for other in self.models[1:]] or [first]
        blocks = tuple(
            (("weight", metric), *(("cost", metric, model) for model in models))
            for metric in self.metrics
            for models in compared
        )
        every = Tee(self.spec.folds(self.columns, blocks=blocks))
        return with_groups(every, None if self.by is None else every)

    def of(self, batch: LogBatch) -> dict[str, Any]:
        banner = any(metric.against == "banner" for metric in self.metrics)
        numbers, found = [np.empty(0, np.int64)], [np.empty((0, self.columns.width()))]
        for piece in clicked(batch, banner=banner):  # one at a time: their laws are large
            numbers.append(piece)
            found.append(self._values(piece, batch))
        rows, values = np.concatenate(numbers), np.concatenate(found)
        clusters = {name: codes[rows] for name, codes in self.spec.codes(batch).items()}
        groups = None if self.by is None else batch.labels[self.by].take(rows)
        return self.sums.of(Sample.of(values, batch.row[rows], clusters, groups=groups))

    def result(self, part: dict[str, Any]) -> dict[str, Any]:
        return self.sums.result(part)

    def _values(self, rows: Integers, batch: LogBatch) -> Floats:
        """[r, columns] values of some clicked rows."""
        piece, laws = batch.take(rows), dict[Hashable, Alternatives]()
        assert piece.clicks is not None
        columns = [piece.clicks.sum(axis=1)]
        for metric in self.metrics:
            key = metric.against, metric.draws, metric.seed
            if key not in laws:
                laws[key] = alternatives(piece, self.logging, metric)
            compared, impossible = Compared(piece, metric, laws[key]), np.zeros(len(batch), dtype=np.bool_)
            impossible[rows] = compared.impossible
            refuse_impossible(batch, impossible, propensities(self.logging, batch))
            columns += [compared.weight, *map(compared.cost, self.models)]
        piece.known.clear()
        return np.column_stack(columns) / piece.inclusion[:, None]


def clicked(batch: LogBatch, *, banner: bool) -> Iterator[Integers]:
    """The rows with a click, in pieces whose laws fit into memory. banner: laws of all candidates."""
    if batch.clicks is not None:
        rows = np.flatnonzero((batch.clicks > 0).any(axis=1))
        slots = max(batch.contexts.slots, 1)
        items = batch.contexts.candidates.shape[1] if banner else slots
        step = max(_MOST_NUMBERS // max(items * slots, 1), 1)
        yield from (rows[start : start + step] for start in range(0, len(rows), step))


@dataclass(frozen=True)
class Alternatives:
    """The alternatives: items [n, q] (candidate index, -1 pads), law [n, q, k], own [n, k] shown item per rank."""

    items: Integers
    law: Floats
    own: Integers


def alternatives(batch: LogBatch, logging: Policy, metric: Comparison) -> Alternatives:
    """The alternatives that the logging policy could have shown in place of each clicked item, for a metric."""
    slates = batch.slates
    filled = slates >= 0
    shown = np.where(filled, np.arange(slates.shape[1]), -1)
    if metric.against == "pairwise":
        others = np.maximum(filled.sum(axis=1) - 1, 1)
        return Alternatives(slates, (filled[:, :, None] & filled[:, None, :]) / others[:, None, None], shown)
    if metric.against == "counterfactual":
        draws = metric.draws
        law = drawn_order_law(logging, batch, draws, metric.seed) if draws else order_law(logging, batch)
        return Alternatives(slates, law, shown)
    if logging.any_slate:
        return Alternatives(all_items(batch.contexts), propensities(logging, batch).candidate_ranks, slates)
    if not batch.complete:  # logged probabilities cover all candidates only if all are displayed
        raise AbilityError(
            f"{logging!r} gives the probabilities of displayed items only, and some candidates were not displayed",
            Wording(
                "use counterfactual_disagreement, which compares displayed items; or name the scores behind the "
                "slates: {}",
                Option("logging", "plackett_luce(old_score)"),
            ),
        )
    return Alternatives(slates, propensities(logging, batch).rank_law.written_out(batch.contexts.length), shown)


@dataclass(frozen=True)
class Compared:
    """Impressions with at least one click, and the alternatives to their clicks."""

    batch: LogBatch
    metric: Comparison
    found: Alternatives

    @cached_property
    def clicks(self) -> Floats:
        """[n, k] clicks that count by the metric's convention."""
        assert self.batch.clicks is not None
        if self.metric.several != "single":
            return self.batch.clicks
        alone = (self.batch.clicks > 0).sum(axis=1) == 1
        return self.batch.clicks * alone[:, None]

    @cached_property
    def allowed(self) -> Booleans:
        """[n, q] items that a click may be compared with."""
        allowed = self.found.items >= 0
        if self.metric.several == "unclicked":
            rows, ranks = np.nonzero((self.clicks > 0) & (self.found.own >= 0))
            allowed[rows, self.found.own[rows, ranks]] = False
        return allowed

    @cached_property
    def weight(self) -> Floats:
        """[n] the comparison weight of each row: its clicks less those that cannot be compared."""
        return np.asarray(_kernels.comparison_weights(self.found.law, self.found.own, self.clicks, self.allowed))

    @property
    def impossible(self) -> Booleans:
        """[n] whether the logging policy could not have shown an item at its rank; not determined for drawn orders."""
        own, rows = self.found.own, np.arange(len(self.batch))
        if self.metric.against == "pairwise" or self.metric.draws:
            return np.zeros(len(rows), dtype=np.bool_)
        chance = self.found.law[rows[:, None], np.maximum(own, 0), np.arange(own.shape[1])]
        return np.asarray(((chance <= 0) & (own >= 0)).any(axis=1))

    def cost(self, model: str) -> Floats:
        """[n] the summed costs of each row under a model's scores."""
        items, kind = self.found.items, _kernels.LOGISTIC
        scores = np.take_along_axis(self.batch.contexts.scores[model], np.maximum(items, 0), axis=1)
        if self.metric.cost == "ndcg":
            worth = _kernels.discounted_ranks(scores, items >= 0)
            size = np.maximum((items >= 0).sum(axis=1), 1)
            # A random order gains the mean; the factor 1 - 1/q makes shuffled slates give their own nDCG.
            return np.asarray(
                worth.sum(axis=1) / size * self.weight + (1 - 1 / size) * self._losses(worth, _kernels.GAIN)
            )
        if self.metric.cost == "disagreement":
            kind = _kernels.DISAGREEMENT
        elif self.metric.form == "hinge":
            kind = _kernels.HINGE
        return self._losses(scores, kind)

    def _losses(self, scores: Floats, kind: int) -> Floats:
        law, own = self.found.law, self.found.own
        return np.asarray(_kernels.losses(law, own, self.clicks, self.allowed, scores, kind))
