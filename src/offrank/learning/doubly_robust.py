"""DRO: doubly robust rewards of every candidate, then weighted one-against-all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..log.batch import Floats
from .base import Candidate
from .examples import Data, Examples
from .reductions import Reduction, Scorer
from .regression import reward_model


@dataclass(frozen=True)
class DoublyRobust(Reduction):
    """Doubly robust optimisation (Dudik, Langford, Li 2011; paper criteo-test-bed, section 4.2, method 4).

    Candidate a earns r(a) + 1{y = a} (reward - r(y)) / propensity, with r from the regression. Its weight as the
    class of the impression is what that exceeds the least of the row by. Rewards are scaled to [0, 1].
    """

    def candidates(self, data: Data, seed: int) -> Iterator[Candidate]:
        weighing = Weighing(reward_model(data, seed))
        return self.search(data, weighing, seed)


@dataclass(frozen=True)
class Weighing:
    """(positive, total) [lines] of one-against-all with doubly robust weights."""

    model: Scorer

    def __call__(self, examples: Examples) -> tuple[Floats, Floats]:
        earned = rewards(examples, self.model)
        least = np.minimum.reduceat(earned, examples.starts[:-1])
        positive = (earned - np.repeat(least, examples.size)) / np.repeat(examples.inclusion, examples.size)
        return positive, np.repeat(np.add.reduceat(positive, examples.starts[:-1]), examples.size)


def rewards(examples: Examples, model: Scorer) -> Floats:
    """[lines] doubly robust estimate of what each candidate would have earned."""
    earned, shown = model.chances(examples), examples.shown
    earned[shown] += (examples.reward - earned[shown]) * np.exp(-examples.log_q)
    return earned
