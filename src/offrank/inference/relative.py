"""One mean relative to another, with its interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..folds.moments import Moments
from ..log.batch import Floats
from .mean import Mean


@dataclass(frozen=True)
class RelativeChange:
    """mean / base - 1 on the same rows, by the delta method.

    Its influence is (influence of the mean - mean / base x influence of the base) / base.
    """

    mean: Mean
    base: Mean

    @property
    def denominator(self) -> int:
        """That of the mean."""
        return self.mean.denominator

    def value(self, sums: Floats) -> Floats:
        """The change, for sums [..., d]."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.mean.value(sums) / self.base.value(sums) - 1)

    def influence(self, moments: Moments) -> Floats:
        """[d] coefficients of a row's influence."""
        mean, base = (float(one.value(moments.sums)) for one in (self.mean, self.base))
        return (self.mean.influence(moments) - mean / base * self.base.influence(moments)) / base
