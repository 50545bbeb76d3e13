"""Logistic regression over candidates by Adagrad, the basis of the reductions to supervised learning."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from ..log.batch import Floats
from . import _kernels
from .examples import Checkpoint, Data, Examples, Learner, Store, is_checkpoint

Targets = Callable[[Examples], tuple[Floats, Floats]]
"""Returns (positive, total) [lines]: a candidate counts as `total` observations, of which `positive` are ones."""


@dataclass(frozen=True)
class Scorer:
    """A logistic model of a candidate's reward."""

    weights: Floats
    intercept: float

    def chances(self, examples: Examples) -> Floats:
        """Return the predicted reward of each candidate [lines]."""
        given = (examples.offsets, examples.indices, examples.values)
        return np.asarray(_kernels.click_chances(*given, self.weights, self.intercept))


def passes(store: Store, targets: Targets, rate: float, epochs: int, size: int, seed: int) -> Iterator[Scorer]:
    """Yield the model after each pass over the examples, in an order that depends only on the seed."""
    rng, weights, squares, intercept = np.random.default_rng(seed), np.zeros(size), np.zeros(size), np.zeros(2)
    for _ in range(epochs):
        for index in rng.permutation(len(store.pieces)):
            examples = store.piece(int(index))
            lines = (examples.starts, examples.offsets, examples.indices, examples.values)
            order = rng.permutation(len(examples))
            _kernels.adagrad(*lines, order, *targets(examples), rate, weights, squares, intercept)
        yield Scorer(weights.copy(), float(intercept[0]))


@dataclass(frozen=True)
class Reduction(Learner, ABC):
    """A method that sorts by a logistic regression, with its learning rates and maximum number of passes."""

    greedy: ClassVar[bool] = True
    one_slot: ClassVar[bool] = True
    rates: tuple[float, ...] = (0.02, 0.1, 0.5)
    epochs: int = 8

    @abstractmethod
    def targets(self, data: Data, seed: int) -> Targets:
        """Return the targets of the regression; rewards are in [0, 1]."""

    @final
    def candidates(self, data: Data, seed: int) -> Iterator[Checkpoint]:
        """Yield candidates for every learning rate, after 1, 2, 4 ... passes and after the last."""
        train, targets = data.train.from_zero_to_one(), self.targets(data, seed)
        for rate in self.rates:
            for epoch, scorer in enumerate(passes(train, targets, rate, self.epochs, data.encoding.size, seed), 1):
                if is_checkpoint(epoch, self.epochs):
                    yield Checkpoint.linear({"rate": rate, "epochs": epoch}, scorer.weights, data)
