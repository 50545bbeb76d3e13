"""Regression: predict the click on each product shown, then show what is predicted best."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..log.batch import Floats
from .base import Candidate, chance_of_click
from .examples import Data, Examples
from .reductions import Scorer, grid, passes


@dataclass(frozen=True)
class Regression:
    """Logistic regression of the clicks on the shown products (paper criteo-test-bed, section 4.2, method 2).

    Propensities are not looked at. Sub-sampling is corrected: a row counts 1 / inclusion times.
    """

    greedy: ClassVar[bool] = True
    one_slot: ClassVar[bool] = False
    rates: tuple[float, ...] = (0.02, 0.1, 0.5)
    epochs: int = 8

    def candidates(self, data: Data, seed: int) -> Iterator[Candidate]:
        return grid(data.train, targets, self.rates, self.epochs, data.encoding.size, seed)


def targets(examples: Examples) -> tuple[Floats, Floats]:
    """(positive, total) [lines] of the products shown; the others are no observations."""
    row, slot = np.nonzero(examples.slates >= 0)
    lines = examples.starts[row] + examples.slates[row, slot]
    alone = examples.slates.shape[1] == 1
    clicks = chance_of_click(examples)[row] if alone else np.minimum(examples.clicks[row, slot], 1.0)
    total, positive = np.zeros(examples.starts[-1]), np.zeros(examples.starts[-1])
    total[lines] = 1 / examples.inclusion[row]
    positive[lines] = total[lines] * clicks
    return positive, total


def reward_model(data: Data, seed: int, rate: float = 0.1, epochs: int = 4) -> Scorer:
    """The regression that doubly robust methods start from."""
    *_, last = passes(data.train, targets, rate, epochs, data.encoding.size, seed)
    return last
