"""IPS: inverse propensities make weighted classification of which product earns most."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..log.batch import Floats
from .base import Candidate
from .examples import Data, Examples
from .reductions import grid
from .rewards import from_zero_to_one


@dataclass(frozen=True)
class InversePropensity:
    """Weighted one-against-all (paper criteo-test-bed, section 4.2, method 3).

    An impression is an example of the class "product shown" with weight reward / propensity; each candidate's score
    is a logistic regression of whether it is that product. In expectation candidate a is positive as often as it
    earns, E[1{y = a} reward / propensity] = reward(a), with rewards scaled to [0, 1].
    """

    greedy: ClassVar[bool] = True
    one_slot: ClassVar[bool] = True
    per_item: ClassVar[bool] = False
    rates: tuple[float, ...] = (0.02, 0.1, 0.5)
    epochs: int = 8

    def candidates(self, data: Data, seed: int) -> Iterator[Candidate]:
        return grid(from_zero_to_one(data.train), targets, self.rates, self.epochs, data.encoding.size, seed)


def targets(examples: Examples) -> tuple[Floats, Floats]:
    """(positive, total) [lines]: the product shown against all others, weighted."""
    weight = examples.reward / examples.inclusion * np.exp(-examples.log_q)
    positive = np.zeros(examples.starts[-1])
    positive[examples.shown] = weight
    return positive, np.repeat(weight, examples.size)
