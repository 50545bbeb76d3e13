"""IPS: inverse propensities as weights of a classification of the product with the largest reward."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..log.batch import Floats
from .examples import Data, Examples
from .reductions import Reduction, Targets


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
