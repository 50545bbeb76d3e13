"""Predictions of click models on the clicks of a log, summed in one pass."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import reduce
from typing import ClassVar, Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from ..folds.base import MappedFold, Sample, Tee
from ..folds.moments import Moments
from ..inference.ratio import Ratio
from ..inference.spec import IntervalSpec
from ..log.batch import Contexts, Floats, Integers, LogBatch
from ..log.source import Needs
from .fitted import Fitted
from .laws import ClickLaw, chance_of
from .sessions import whole_clicks

CLIP = 1e-10
"""Perplexity clips probabilities this far from 0 and 1, as the code published with paper cmip-debiasedness does."""

Quantity = Literal["log_likelihood", "perplexity", "conditional_perplexity"]
QUANTITIES: tuple[Quantity, ...] = get_args(Quantity)


class Predictor(Protocol):
    """Anything that predicts clicks: a fitted click model, or a simulated user."""

    def law(self, contexts: Contexts, slates: Integers) -> ClickLaw: ...

    def needs(self) -> Needs: ...


@dataclass(frozen=True)
class PredictionColumns:
    """Columns of the sums, each divided by the inclusion except the third of each model.

    One of the sessions, one of the documents shown; of each model the log-likelihood, the documents unseen in
    training, and the sessions to which it gives probability 0; and a block for each rank: the sessions that have it;
    of each model the loss of its click, in bits, without knowing other clicks; of each model the loss given
    the clicks above. Ranks come last, so that a longer slate adds columns at the end.
    """

    models: int
    sessions: ClassVar[int] = 0
    shown: ClassVar[int] = 1

    def of_model(self, model: int) -> tuple[int, int, int]:
        """Columns of the log-likelihood, of the documents unseen in training, and of the sessions of probability 0."""
        first = 2 + 3 * model
        return first, first + 1, first + 2

    @property
    def block(self) -> int:
        """Number of columns per rank."""
        return 1 + 2 * self.models

    def width(self, ranks: int) -> int:
        """Number of columns for so many ranks; the next column holds the sessions that have the rank below."""
        return 2 + 3 * self.models + ranks * self.block

    def ranks(self, sums: Floats) -> int:
        """Number of ranks in these sums."""
        return (len(sums) - self.width(0)) // self.block

    def used(self, sums: Floats) -> list[int]:
        """The ranks that occur in any session."""
        return [rank for rank in range(self.ranks(sums)) if sums[self.width(rank)] > 0]

    def log_likelihood(self, model: int) -> Ratio:
        """The mean log-likelihood over sessions."""
        return Ratio(self.of_model(model)[0], self.sessions)

    def perplexity(self, model: int, ranks: list[int], *, conditional: bool) -> MeanPower:
        """The mean perplexity over these ranks, each over the sessions that have it."""
        first = 1 + model + conditional * self.models
        return MeanPower(tuple(Ratio(self.width(rank) + first, self.width(rank)) for rank in ranks))

    def statistic(self, model: int, quantity: Quantity, sums: Floats) -> Ratio | MeanPower:
        """A quantity of a model as a function of the sums."""
        if quantity == "log_likelihood":
            return self.log_likelihood(model)
        return self.perplexity(model, self.used(sums), conditional=quantity == "conditional_perplexity")


@dataclass(frozen=True)
class MeanPower:
    """Perplexity as a function of sums: the mean over ranks of 2^loss, Eq. 2 and 3 of paper cmip-debiasedness."""

    losses: tuple[Ratio, ...]

    @property
    def denominator(self) -> int:
        """The column of the sessions."""
        return PredictionColumns.sessions

    def value(self, sums: Floats) -> Floats:
        return np.asarray(np.mean([np.exp2(loss.value(sums)) for loss in self.losses], axis=0))

    def influence(self, moments: Moments) -> Floats:
        """[d] coefficients by the delta method: d 2^loss = ln 2 2^loss d loss."""
        slopes = [math.log(2) * np.exp2(float(loss.value(moments.sums))) for loss in self.losses]
        each = [slope * loss.influence(moments) for slope, loss in zip(slopes, self.losses, strict=True)]
        return np.asarray(np.mean(each, axis=0))


@dataclass(frozen=True)
class PredictionFold(MappedFold):
    """Reduces batches to sums in `PredictionColumns`, with more columns where a later slate is longer."""

    models: tuple[Predictor, ...]
    inference: IntervalSpec

    def needs(self) -> Needs:
        """The columns needed: clicks, and those of the models and clusters."""
        wanted = [Needs(frozenset(["clicks"]), holes=True), *(model.needs() for model in self.models)]
        return reduce(Needs.__or__, [*wanted, self.inference.needs()])

    @property
    def columns(self) -> PredictionColumns:
        """The layout of the sums."""
        return PredictionColumns(len(self.models))

    @property
    def reducer(self) -> Tee:
        return Tee(self.inference.folds(self.columns.width(0)))  # later samples have more columns

    def mapped(self, batch: LogBatch) -> Sample:
        clicks, shown, columns = whole_clicks(batch), batch.slates >= 0, self.columns
        values = np.zeros((len(batch), columns.width(shown.shape[1])))
        values[:, columns.sessions], values[:, columns.shown] = 1.0, shown.sum(axis=1)
        by_rank = values[:, columns.width(0) :].reshape(len(batch), shown.shape[1], columns.block)
        by_rank[:, :, 0] = shown
        counts = []  # of sessions read, without weights
        for index, model in enumerate(self.models):
            likelihood, unseen, impossible = columns.of_model(index)
            before, given, values[:, likelihood], possible = _losses(model, batch, clicks, shown)
            by_rank[:, :, 1 + index], by_rank[:, :, 1 + columns.models + index] = before, given
            values[:, unseen] = (_unseen(model, batch) & shown).sum(axis=1)
            counts.append((impossible, ~possible))
        values /= batch.inclusion[:, None]
        for column, count in counts:
            values[:, column] = count
        return Sample(values, batch.row, batch.dependent(self.inference.columns))


def _losses(
    model: Predictor, batch: LogBatch, clicks: Floats, shown: NDArray[np.bool_]
) -> tuple[Floats, Floats, Floats, NDArray[np.bool_]]:
    """A model's predictions for n sessions: (before, given, log-likelihood, possible).

    before, given: [n, k] -log2 P of the outcome at each rank, without and with the clicks above, 0 where nothing is
    shown. log-likelihood: [n] in nats, 0 where impossible. possible: [n] whether P > 0.
    """
    law = model.law(batch.contexts, batch.slates)
    before, given = law.marginal(), law.conditional(clicks)
    happened = np.where(shown, chance_of(given, clicks), 1.0)
    possible = np.asarray((happened > 0).all(axis=1))
    logs = np.log(np.where(happened > 0, happened, 1.0)).sum(axis=1)
    clipped = (chance_of(np.clip(chance, CLIP, 1 - CLIP), clicks) for chance in (before, given))
    left, right = (np.where(shown, -np.log2(chance), 0.0) for chance in clipped)
    return left, right, np.where(possible, logs, 0.0), possible


def _unseen(model: Predictor, batch: LogBatch) -> NDArray[np.bool_]:
    if not isinstance(model, Fitted):
        return np.zeros(batch.slates.shape, np.bool_)
    return np.asarray(model.documents.slots(batch.contexts, batch.slates).document < 0)
