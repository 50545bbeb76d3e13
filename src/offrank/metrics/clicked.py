"""The clicked impressions of a batch, and what could have stood where the click was."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import AbilityError
from ..log.batch import Floats, Integers, LogBatch
from ..options import option
from ..policies.base import all_items
from ..policies.propensities import AnyPolicy, complete, is_law, propensities
from . import _kernels
from .comparisons import Comparison
from .orders import drawn_order_law, order_law

_MOST_NUMBERS = 4_000_000  # of a law [n, q, k]: rows are taken in pieces below it


@dataclass(frozen=True)
class Alternatives:
    """What is compared: items [n, q] (candidate index, -1 pads), law [n, q, k], own [n, k] shown item per rank."""

    items: Integers
    law: Floats
    own: Integers


@dataclass(frozen=True)
class Clicked:
    """Impressions with at least one click; laws are computed once, however many metrics and models ask.

    rows: [n] where these stand in the batch that they were taken from.
    """

    rows: Integers
    batch: LogBatch
    logging: AnyPolicy
    _known: dict[Any, Any] = field(default_factory=dict, compare=False)

    def __len__(self) -> int:
        return len(self.rows)

    def weight(self, metric: Comparison) -> Floats:
        """[n] the comparison weight of each row: its clicks less what the metric cannot compare."""
        return self._once(("weight", metric.against, metric.several, metric.draws, metric.seed), self._weight, metric)

    def cost(self, metric: Comparison, model: str) -> Floats:
        """[n] the summed costs of each row under a model's scores."""
        found, scores = self.alternatives(metric), self._scores(metric, model)
        allowed, clicks = self._allowed(metric), self._counted(metric)
        if metric.cost != "ndcg":
            kind = _kernels.DISAGREEMENT if metric.cost == "disagreement" else _kernels.LOGISTIC
            kind = _kernels.HINGE if metric.form == "hinge" else kind
            return np.asarray(_kernels.losses(found.law, found.own, clicks, allowed, scores, kind))
        inside = found.items >= 0
        worth = _kernels.discounted_ranks(scores, inside)
        size = np.maximum(inside.sum(axis=1), 1)
        lift = _kernels.losses(found.law, found.own, clicks, allowed, worth, _kernels.GAIN)
        # A random order gains the mean worth; 1 - 1/q makes shuffled slates give their own nDCG.
        return np.asarray(worth.sum(axis=1) / size * self.weight(metric) + (1 - 1 / size) * lift)

    def alternatives(self, metric: Comparison) -> Alternatives:
        """What the metric compares a click with."""
        return self._once((metric.against, metric.draws, metric.seed), self._alternatives, metric)

    def impossible(self, metric: Comparison) -> NDArray[np.bool_]:
        """[n] whether the logging policy could not have shown an item where it was shown; unknown of drawn orders."""
        if metric.against == "pairwise" or metric.draws:
            return np.zeros(len(self), dtype=np.bool_)
        found = self.alternatives(metric)
        ranks = np.arange(found.own.shape[1])
        chance = found.law[np.arange(len(self))[:, None], np.maximum(found.own, 0), ranks]
        return np.asarray(((chance <= 0) & (found.own >= 0)).any(axis=1))

    def _alternatives(self, metric: Comparison) -> Alternatives:
        slates = self.batch.slates
        shown = np.where(slates >= 0, np.arange(slates.shape[1]), -1)
        if metric.against == "pairwise":
            filled = slates >= 0
            others = np.maximum(filled.sum(axis=1) - 1, 1)
            return Alternatives(slates, (filled[:, :, None] & filled[:, None, :]) / others[:, None, None], shown)
        if metric.against == "banner":
            return self._candidates(shown)
        if metric.draws:
            return Alternatives(slates, drawn_order_law(self.logging, self.batch, metric.draws, metric.seed), shown)
        return Alternatives(slates, order_law(self.logging, self.batch), shown)

    def _candidates(self, shown: Integers) -> Alternatives:
        """All candidates; by what was written of the displayed items where those are all."""
        contexts = self.batch.contexts
        if is_law(self.logging):
            every = propensities(self.logging, self.batch).candidate_ranks
            return Alternatives(all_items(contexts), every, self.batch.slates)
        if not complete(self.batch):
            raise AbilityError(
                f"{self.logging!r} tells of the displayed items only, and some candidates were not displayed",
                "use counterfactual_disagreement, which compares displayed items; or name the scores behind the "
                f"slates: {option('logging', 'plackett_luce(old_score)')}",
            )
        written = propensities(self.logging, self.batch).rank_law.written_out(contexts.length)
        return Alternatives(self.batch.slates, written, shown)

    def _weight(self, metric: Comparison) -> Floats:
        found = self.alternatives(metric)
        return np.asarray(_kernels.compared(found.law, found.own, self._counted(metric), self._allowed(metric)))

    def _scores(self, metric: Comparison, model: str) -> Floats:
        items = self.alternatives(metric).items
        return np.take_along_axis(self.batch.contexts.scores[model], np.maximum(items, 0), axis=1)

    def _counted(self, metric: Comparison) -> Floats:
        """[n, k] the clicks that the metric's convention counts."""
        if metric.several != "single":
            return self.clicks
        alone = (self.clicks > 0).sum(axis=1) == 1
        return self.clicks * alone[:, None]

    @property
    def clicks(self) -> Floats:
        """[n, k] beside the slates."""
        assert self.batch.clicks is not None
        return self.batch.clicks

    def _allowed(self, metric: Comparison) -> NDArray[np.bool_]:
        """[n, q] items that a click may be compared with."""
        found = self.alternatives(metric)
        allowed = found.items >= 0
        if metric.several == "unclicked":
            rows, ranks = np.nonzero((self.clicks > 0) & (found.own >= 0))
            allowed[rows, found.own[rows, ranks]] = False
        return allowed

    def _once(self, key: Any, compute: Any, metric: Comparison) -> Any:
        if key not in self._known:
            self._known[key] = compute(metric)
        return self._known[key]


def clicked(batch: LogBatch, logging: AnyPolicy, *, banner: bool) -> Iterator[Clicked]:
    """The clicked rows of a batch, in pieces whose laws fit into memory. banner: laws of all candidates."""
    if batch.clicks is None:
        return
    rows = np.flatnonzero((batch.clicks > 0).any(axis=1))
    slots = max(batch.contexts.slots, 1)
    items = batch.contexts.candidates.shape[1] if banner else slots
    step = max(_MOST_NUMBERS // max(items * slots, 1), 1)
    for start in range(0, len(rows), step):
        some = rows[start : start + step]
        yield Clicked(some, batch.take(some), logging)
