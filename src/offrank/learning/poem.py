"""POEM: a policy that draws, learnt from clipped importance weights with a penalty on their variance."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from ..log.batch import Floats
from . import _kernels
from .base import Candidate
from .descent import Descent, Terms
from .examples import Data, Examples, Store
from .rewards import centred, deviation


@dataclass(frozen=True)
class Penalised:
    """What the POEM family searches: policies that draw, by the terms of a clip and the penalties of a descent.

    - variances: how much the standard error counts; l2: of the weights, both in units of the mean absolute deviation
      of the logged rewards from their median, which is the baseline: for rare clicks, the click rate and 0.
    - clips: importance weights are cut at this quantile of the inverse propensities (.97 as published).
    - rounds: passes of majorisation, each with several passes over the log.
    """

    greedy: ClassVar[bool] = False
    one_slot: ClassVar[bool] = False
    per_item: ClassVar[bool] = False
    variances: tuple[float, ...] = (0.0, 1.0)
    l2: tuple[float, ...] = (1e-4, 1e-3, 1e-2)
    clips: tuple[float, ...] = (0.97,)
    epochs: int = 8

    def search(self, train: Store, size: int, terms: Callable[[float], Terms]) -> Iterator[Candidate]:
        """Candidates of every setting. terms: of a clip, at its place among the inverse propensities."""
        for variance, l2, clip in itertools.product(self.variances, self.l2, self.clips):
            descent = Descent(train, size, variance, l2, self.epochs)
            yield from rounds(descent, terms(quantile(train, clip)), {"variance": variance, "l2": l2, "clip": clip})


@dataclass(frozen=True)
class Poem(Penalised):
    """Policy optimiser for exponential models (Swaminathan and Joachims 2015), for slates of any length."""

    clips: tuple[float, ...] = (0.97, 1.0)

    def candidates(self, data: Data, seed: int) -> Iterator[Candidate]:
        train = centred(data.train)
        return self.search(train, data.encoding.size, partial(Weighted.of, train))


def rounds(descent: Descent, terms: Terms, settings: dict[str, float]) -> Iterator[Candidate]:
    """Candidates after 1, 2, 4 ... rounds and after the last."""
    for number, weights in enumerate(descent.run(terms), 1):
        if number == descent.rounds or number & (number - 1) == 0:
            yield Candidate({**settings, "epochs": number}, weights)


def quantile(store: Store, level: float) -> float:
    """Quantile of the inverse propensities of the rows; level 1 cuts nothing."""
    if level >= 1:
        return math.inf
    return float(np.quantile(np.concatenate([np.exp(-examples.log_q) for examples in store]), level))


def unit(store: Store) -> float:
    """Rows over impressions over the deviation of rewards: terms in units of what was logged, their mean over rows."""
    return store.rows / store.impressions / deviation(store)


@dataclass(frozen=True)
class Weighted:
    """u = -(reward - baseline) min(w, clip) / inclusion, times `unit`; w the importance weight.

    A row is corrected for sub-sampling here, once.
    """

    store: Store
    clip: float
    unit: float
    baseline: float = 0.0

    @classmethod
    def of(cls, store: Store, clip: float) -> Weighted:
        """Of rewards that are centred already."""
        return cls(store, clip, unit(store))

    def sums(self, weights: Floats, linear: float, square: float, gradient: Floats) -> tuple[float, float]:
        total = squares = 0.0
        for examples in self.store:
            gain = (examples.reward - self.baseline) / examples.inclusion * self.unit
            terms = weighed(examples, gain, self.clip, linear, square, weights, gradient)
            total += float(terms.sum())
            squares += float(terms @ terms)
        return total, squares

    def refreshed(self, weights: Floats) -> Weighted:
        return self


def weighed(
    examples: Examples, gain: Floats, clip: float, linear: float, square: float, weights: Floats, gradient: Floats
) -> Floats:
    """[n] -gain min(w, clip); gradient as `Terms.sums`."""
    lines, terms = (examples.starts, examples.offsets, examples.indices, examples.values), np.empty(len(gain))
    _kernels.weighted(*lines, examples.slates, examples.log_q, gain, clip, linear, square, weights, gradient, terms)
    return terms
