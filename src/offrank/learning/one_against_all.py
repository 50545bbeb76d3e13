"""IPS and DRO: weighted one-against-all classification, by inverse propensities or doubly robust rewards."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from ..log.batch import Floats
from .examples import Data, Examples
from .reductions import Reduction, Scorer, Targets
from .regression import fit_reward_model


@dataclass(frozen=True)
class InversePropensity(Reduction):
    """Weighted one-against-all classification (paper criteo-test-bed, section 4.2, method 3).

    An impression is an example of the class "product shown" with weight reward / propensity; each candidate's score
    is a logistic regression of whether it is that product. In expectation, candidate a is positive in proportion to
    its reward, E[1{y = a} reward / propensity] = reward(a), with rewards scaled to [0, 1].
    """

    def targets(self, data: Data, seed: int) -> Targets:
        return one_against_all


def one_against_all(examples: Examples) -> tuple[Floats, Floats]:
    """Return (positive, total) [lines]: the product shown against all others, weighted."""
    weight = examples.reward / examples.inclusion * np.exp(-examples.log_q)
    positive = np.zeros(examples.starts[-1])
    positive[examples.shown] = weight
    return positive, np.repeat(weight, examples.size)


@dataclass(frozen=True)
class DoublyRobustReduction(Reduction):
    """Doubly robust optimisation (Dudik, Langford, Li 2011; paper criteo-test-bed, section 4.2, method 4).

    Candidate a has the reward r(a) + 1{y = a} (reward - r(y)) / propensity, with r from the regression. Its weight as
    the class of the impression is this minus the minimum of the row. Rewards are scaled to [0, 1].
    """

    def targets(self, data: Data, seed: int) -> Targets:
        return partial(above_the_least, fit_reward_model(data, seed))


def above_the_least(model: Scorer, examples: Examples) -> tuple[Floats, Floats]:
    """Return (positive, total) [lines] of one-against-all with doubly robust weights."""
    earned = rewards(examples, model)
    least = np.minimum.reduceat(earned, examples.starts[:-1])
    positive = (earned - np.repeat(least, examples.size)) / np.repeat(examples.inclusion, examples.size)
    return positive, np.repeat(np.add.reduceat(positive, examples.starts[:-1]), examples.size)


def rewards(examples: Examples, model: Scorer) -> Floats:
    """Return the doubly robust estimate of each candidate's reward [lines]."""
    earned, shown = model.chances(examples), examples.shown
    earned[shown] += (examples.reward - earned[shown]) * np.exp(-examples.log_q)
    return earned
