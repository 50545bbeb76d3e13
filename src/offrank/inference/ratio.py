"""A ratio of two column sums.

Every estimate is a ratio: of sum(v / inclusion) to sum(1 / inclusion) for a plain mean, to
sum(w / inclusion) for a self-normalised one. Its error follows from the influence of each row,
(numerator - ratio * denominator) / mean(denominator), without any further 1/sqrt(n).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..folds.moments import Moments
from ..log.batch import Floats


@dataclass(frozen=True)
class Ratio:
    """Sum of column `numerator` over sum of column `denominator`."""

    numerator: int
    denominator: int

    def value(self, sums: Floats) -> Floats:
        """The ratio, for sums [..., d]."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(sums[..., self.numerator] / sums[..., self.denominator])

    def influence(self, moments: Moments) -> Floats:
        """[d] coefficients of a row's influence on the ratio."""
        mean = moments.mean[self.denominator]
        coefficients = np.zeros(len(moments.mean))
        coefficients[self.numerator] += 1 / mean
        coefficients[self.denominator] -= float(self.value(moments.sums)) / mean
        return coefficients
