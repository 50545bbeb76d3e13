"""A log reduced to what click models say of its clicks, in one pass."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..folds.base import Sample, Together, Turned
from ..inference.spec import IntervalSpec
from ..log.batch import Contexts, Floats, Integers, LogBatch
from ..log.source import Needs
from .fitted import Fitted
from .laws import ClickLaw, chance_of
from .layout import Layout
from .sessions import whole_clicks

CLIP = 1e-10
"""Perplexity keeps probabilities this far from 0 and 1, as the code published with paper cmip-debiasedness does."""


class Predictor(Protocol):
    """What can be judged by clicks: a fitted click model, or a simulated user."""

    def law(self, contexts: Contexts, slates: Integers) -> ClickLaw: ...

    def needs(self) -> Needs: ...


@dataclass(frozen=True)
class PredictionFold(Turned):
    """Reduces batches to sums as `Layout` says. They grow with the longest slate, whose length need not be known."""

    models: tuple[Predictor, ...]
    doubt: IntervalSpec

    def needs(self) -> Needs:
        """Clicks, and what the models and the clusters read."""
        wanted = [Needs(frozenset(["clicks"]), holes=True), *(model.needs() for model in self.models)]
        return reduce(Needs.__or__, [*wanted, self.doubt.needs()])

    @property
    def reducer(self) -> Together:
        return Together(self.doubt.folds(self.layout.width(0)))  # later samples have more columns

    @property
    def layout(self) -> Layout:
        """Where the sums are."""
        return Layout(len(self.models))

    def turned(self, batch: LogBatch) -> Sample:
        clicks, shown, layout = whole_clicks(batch), batch.slates >= 0, self.layout
        values = np.zeros((len(batch), layout.width(shown.shape[1])))
        values[:, layout.sessions], values[:, layout.shown] = 1.0, shown.sum(axis=1)
        per_rank = values[:, layout.width(0) :].reshape(len(batch), shown.shape[1], layout.block)
        per_rank[:, :, 0] = shown
        impossible = np.empty((len(batch), layout.models))
        for index, model in enumerate(self.models):
            one = Losses.of(model, batch, clicks, shown)
            values[:, layout.likelihood(index)] = one.log_likelihood
            values[:, layout.unseen(index)] = (_unseen(model, batch) & shown).sum(axis=1)
            per_rank[:, :, 1 + index], per_rank[:, :, 1 + layout.models + index] = one.marginal, one.conditional
            impossible[:, index] = ~one.possible
        values /= batch.inclusion[:, None]
        values[:, [layout.impossible(index) for index in range(layout.models)]] = impossible
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
