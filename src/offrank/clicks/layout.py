"""How the sums of a log are laid out that click models are judged by, and what is made from them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np

from ..folds.moments import Moments
from ..inference.ratio import Ratio
from ..inference.spread import Spread
from ..log.batch import Floats

Quantity = Literal["log_likelihood", "perplexity", "conditional_perplexity"]
QUANTITIES: tuple[Quantity, ...] = get_args(Quantity)


@dataclass(frozen=True)
class Layout:
    """Columns of the sums, each divided by the inclusion but the third of a model's.

    One of the sessions, one of the documents shown; of each model the log-likelihood, the documents that it has not
    learnt from, and the sessions to which it gives probability 0; and a block for each rank: the sessions that have it;
    of each model the loss of its click, in bits, before anything is known of the session; of each model the loss given
    the clicks above. Ranks come last, so that a longer slate adds columns at the end.
    """

    models: int
    sessions: ClassVar[int] = 0
    shown: ClassVar[int] = 1

    def likelihood(self, model: int) -> int:
        """The column of a model's log-likelihood."""
        return 2 + 3 * model

    def unseen(self, model: int) -> int:
        """That of documents that it has not learnt from."""
        return 3 + 3 * model

    def impossible(self, model: int) -> int:
        """That of sessions that it says cannot happen."""
        return 4 + 3 * model

    def log_likelihood(self, model: int) -> Ratio:
        """The mean over sessions."""
        return Ratio(self.likelihood(model), self.sessions)

    def loss(self, model: int, rank: int, *, conditional: bool) -> Ratio:
        """The mean over the sessions that have this rank."""
        first = self.width(rank)
        return Ratio(first + 1 + model + conditional * self.models, first)

    @property
    def block(self) -> int:
        """How many columns a rank takes."""
        return 1 + 2 * self.models

    def width(self, ranks: int) -> int:
        """How many columns there are with so many ranks."""
        return 2 + 3 * self.models + ranks * self.block

    def ranks(self, columns: int) -> int:
        """How many ranks so many columns hold."""
        return (columns - self.width(0)) // self.block


@dataclass(frozen=True)
class MeanPower:
    """The mean over ranks of 2^loss: perplexity, Eq. 2 and 3 of paper cmip-debiasedness, as a function of sums."""

    losses: tuple[Ratio, ...]

    @property
    def denominator(self) -> int:
        """The sessions."""
        return 0

    def value(self, sums: Floats) -> Floats:
        return np.asarray(np.mean([np.exp2(loss.value(sums)) for loss in self.losses], axis=0))

    def influence(self, moments: Moments) -> Floats:
        """[d] by the delta method: d 2^loss = ln 2 2^loss d loss."""
        slopes = [math.log(2) * np.exp2(float(loss.value(moments.sums))) for loss in self.losses]
        each = [slope * loss.influence(moments) for slope, loss in zip(slopes, self.losses, strict=True)]
        return np.asarray(np.mean(each, axis=0))


def statistic(layout: Layout, model: int, quantity: Quantity, spread: Spread) -> Ratio | MeanPower:
    """A quantity of a model as a function of the sums."""
    if quantity == "log_likelihood":
        return layout.log_likelihood(model)
    conditional = quantity == "conditional_perplexity"
    return MeanPower(tuple(layout.loss(model, rank, conditional=conditional) for rank in ranks(layout, spread)))


def ranks(layout: Layout, spread: Spread) -> list[int]:
    """The ranks that any session has."""
    sums = spread.moments.sums
    return [rank for rank in range(layout.ranks(len(sums))) if sums[layout.width(rank)] > 0]
