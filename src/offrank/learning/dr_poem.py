"""POEM on doubly robust terms: a regression takes the predictable part of the reward out of the weights."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..log.batch import Floats
from . import _kernels
from .base import Candidate
from .examples import Data, Store
from .poem import Penalised, unit
from .reductions import Scorer
from .regression import reward_model
from .rewards import from_zero_to_one


@dataclass(frozen=True)
class DoublyRobustPoem(Penalised):
    """POEM with u = -(sum_a p(a) r(a) + (reward - r(y)) min(w, clip)) / inclusion, r from the regression.

    Paper criteo-test-bed, section 4.2, leaves it to future work. The fields are those of `Poem`. Rewards are scaled to
    [0, 1]; the model takes the place of a baseline.
    """

    one_slot: ClassVar[bool] = True

    def candidates(self, data: Data, seed: int) -> Iterator[Candidate]:
        model, train = reward_model(data, seed), from_zero_to_one(data.train)
        return self.search(train, data.encoding.size, lambda clip: Robust(train, clip, unit(train), model))


@dataclass(frozen=True)
class Robust:
    """Doubly robust terms, in units of the mean absolute deviation of the logged rewards."""

    store: Store
    clip: float
    unit: float
    model: Scorer

    def sums(self, weights: Floats, linear: float, square: float, gradient: Floats) -> tuple[float, float]:
        total = squares = 0.0
        for examples in self.store:
            lines, terms = (
                (examples.starts, examples.offsets, examples.indices, examples.values),
                np.empty(len(examples)),
            )
            logged = (examples.slates[:, 0], examples.log_q, examples.reward, self.unit / examples.inclusion)
            chances = self.model.chances(examples)
            _kernels.doubly_robust(*lines, *logged, chances, self.clip, linear, square, weights, gradient, terms)
            total += float(terms.sum())
            squares += float(terms @ terms)
        return total, squares

    def refreshed(self, weights: Floats) -> Robust:
        return self
