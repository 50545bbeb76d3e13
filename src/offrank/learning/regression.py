"""Regression: predict the click on each product shown, then sort by the prediction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..log.batch import Floats, Integers
from .examples import Data, Examples
from .reductions import Reduction, Scorer, Targets, passes


@dataclass(frozen=True)
class Regression(Reduction):
    """Logistic regression of the clicks on the shown products (paper criteo-test-bed, section 4.2, method 2).

    Propensities are not used. Sub-sampling is corrected: a row has weight 1 / inclusion. On slates of one slot
    the target is the reward, scaled to [0, 1]; on longer slates the click on each item, whatever the reward.
    """

    one_slot: ClassVar[bool] = False
    per_item: ClassVar[bool] = True

    def targets(self, data: Data, seed: int) -> Targets:
        return of_rewards if data.slots == 1 else of_clicks


def of_rewards(examples: Examples) -> tuple[Floats, Floats]:
    """Return (positive, total) [lines] of the product in the one slot, by the reward in [0, 1]."""
    return _targets(examples, examples.shown, np.arange(len(examples)), examples.reward)


def of_clicks(examples: Examples) -> tuple[Floats, Floats]:
    """Return (positive, total) [lines] of the products shown; the others are not observed."""
    row, slot = np.nonzero(examples.slates >= 0)
    lines = examples.starts[row] + examples.slates[row, slot]
    return _targets(examples, lines, row, np.minimum(examples.clicks[row, slot], 1.0))


def _targets(examples: Examples, lines: Integers, row: Integers, earned: Floats) -> tuple[Floats, Floats]:
    total, positive = np.zeros(examples.starts[-1]), np.zeros(examples.starts[-1])
    total[lines] = 1 / examples.inclusion[row]
    positive[lines] = total[lines] * earned
    return positive, total


def fit_reward_model(data: Data, seed: int, rate: float = 0.1, epochs: int = 4) -> Scorer:
    """Return the regression used by doubly robust methods: of rewards scaled to [0, 1]."""
    *_, last = passes(data.train.from_zero_to_one(), of_rewards, rate, epochs, data.encoding.size, seed)
    return last
