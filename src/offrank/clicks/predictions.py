"""A log reduced to what click models say of its clicks, in one pass."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..folds.base import Sample, Together
from ..inference.spec import IntervalSpec
from ..log.batch import Contexts, Floats, Integers, LogBatch
from ..log.source import Needs
from .fitted import Fitted
from .laws import ClickLaw, chance_of
from .layout import Layout
from .sessions import Tally, tally, whole_clicks

CLIP = 1e-10
"""Perplexity keeps probabilities this far from 0 and 1, as the code published with paper cmip-debiasedness does."""


class Predictor(Protocol):
    """What can be judged by clicks: a fitted click model, or a simulated user."""

    def law(self, contexts: Contexts, slates: Integers) -> ClickLaw: ...

    def needs(self) -> Needs: ...


@dataclass(frozen=True)
class Predictions:
    """The reduced log.

    folded: sums as `Layout` says. shown: documents; unseen: [models] those of them that a model has not learnt from,
    both divided by the inclusion probability. impossible: [models] sessions with probability 0.
    """

    folded: dict[str, Any]
    tally: Tally = field(default_factory=Tally)
    shown: float = 0.0
    unseen: Floats = field(default_factory=lambda: np.zeros(0))
    impossible: Integers = field(default_factory=lambda: np.zeros(0, np.int64))


@dataclass(frozen=True)
class PredictionFold:
    """Reduces batches to `Predictions`. The sums grow with the longest slate: its length need not be known before."""

    models: tuple[Predictor, ...]
    doubt: IntervalSpec

    def needs(self) -> Needs:
        """Clicks, and what the models and the clusters read."""
        wanted = [Needs(frozenset(["clicks"]), holes=True), *(model.needs() for model in self.models)]
        return reduce(Needs.__or__, [*wanted, self.doubt.needs()])

    def empty(self) -> Predictions:
        none = np.zeros(len(self.models))
        return Predictions(self._sums(0).empty(), unseen=none, impossible=none.astype(np.int64))

    def add(self, state: Predictions, batch: LogBatch) -> Predictions:
        clicks, shown = whole_clicks(batch), batch.slates >= 0
        each = [Losses.of(model, batch, clicks, shown) for model in self.models]
        folds = self._sums(shown.shape[1])
        folded = folds.add(folds.empty(), self._sample(batch, shown, each))
        weight = 1 / batch.inclusion
        unseen = np.array([(weight @ (_unseen(model, batch) & shown)).sum() for model in self.models])
        impossible = np.array([(~one.possible).sum() for one in each], dtype=np.int64)
        return self.merge(state, Predictions(folded, tally(batch), float((weight @ shown).sum()), unseen, impossible))

    def merge(self, left: Predictions, right: Predictions) -> Predictions:
        return Predictions(
            self._sums(0).merge(left.folded, right.folded),  # ranks that no session had so far are zeros
            left.tally + right.tally,
            left.shown + right.shown,
            left.unseen + right.unseen,
            left.impossible + right.impossible,
        )

    def finish(self, state: Predictions) -> Predictions:
        return state

    def _sums(self, slots: int) -> Together:
        return Together(self.doubt.folds(Layout(len(self.models)).width(slots)))

    def _sample(self, batch: LogBatch, shown: NDArray[np.bool_], each: list[Losses]) -> Sample:
        (n, slots), models = shown.shape, len(each)
        values = np.empty((n, Layout(models).width(slots)))
        values[:, 0] = 1.0
        values[:, 1 : 1 + models] = np.stack([one.log_likelihood for one in each], axis=1)
        per_rank = values[:, 1 + models :].reshape(n, slots, 1 + 2 * models)
        per_rank[:, :, 0] = shown
        for index, one in enumerate(each):
            per_rank[:, :, 1 + index], per_rank[:, :, 1 + models + index] = one.marginal, one.conditional
        values /= batch.inclusion[:, None]
        return Sample(values, batch.row, batch.dependent(self.doubt.columns))


@dataclass(frozen=True)
class Losses:
    """What a model says of n sessions.

    marginal, conditional: [n, k] -log2 P of what happened at each rank, 0 where nothing is shown.
    log_likelihood: [n] in nats, 0 where impossible. possible: [n] whether P > 0.
    """

    marginal: Floats
    conditional: Floats
    log_likelihood: Floats
    possible: NDArray[np.bool_]

    @classmethod
    def of(cls, model: Predictor, batch: LogBatch, clicks: Floats, shown: NDArray[np.bool_]) -> Losses:
        """The losses of the sessions of a batch."""
        law = model.law(batch.contexts, batch.slates)
        before, given = law.marginal(), law.conditional(clicks)
        happened = np.where(shown, chance_of(given, clicks), 1.0)
        possible = np.asarray((happened > 0).all(axis=1))
        logs = np.log(np.where(happened > 0, happened, 1.0)).sum(axis=1)
        return cls(_loss(before, clicks, shown), _loss(given, clicks, shown), np.where(possible, logs, 0.0), possible)


def _loss(chance: Floats, clicks: Floats, shown: NDArray[np.bool_]) -> Floats:
    kept = chance_of(np.clip(chance, CLIP, 1 - CLIP), clicks)
    return np.where(shown, -np.log2(kept), 0.0)


def _unseen(model: Predictor, batch: LogBatch) -> NDArray[np.bool_]:
    if not isinstance(model, Fitted):
        return np.zeros(batch.slates.shape, np.bool_)
    return np.asarray(model.documents.slots(batch.contexts, batch.slates).document < 0)
