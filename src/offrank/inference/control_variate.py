"""A mean corrected by another whose expectation is known: a control variate."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..folds.base import Products
from ..folds.moments import Moments
from ..log.batch import Floats
from .ratio import Ratio


@dataclass(frozen=True)
class Controlled:
    """A mean less `slope` times what another mean, of column `weight`, exceeds its expectation 1 by.

    slope 0 is the plain mean, the mean's own value to first order the ratio to `weight`.
    """

    numerator: int
    weight: int
    denominator: int
    slope: float | Floats

    @classmethod
    def best(cls, moments: Moments, numerator: int, weight: int, denominator: int) -> Controlled:
        """With the slope of least variance, cov / var of the two means, taken from the same rows."""
        left = Ratio(numerator, denominator).influence(moments)
        right = Ratio(weight, denominator).influence(moments)
        spread = float(right @ moments.comoment @ right)
        return cls(numerator, weight, denominator, float(left @ moments.comoment @ right) / spread if spread else 0.0)

    @staticmethod
    def products(numerator: int, weight: int, denominator: int) -> Products:
        """The pairs of columns whose products `refitted` asks for."""
        outer = ((numerator, weight), (weight, weight), (numerator, denominator), (weight, denominator))
        return (*outer, (denominator, denominator))

    def refitted(self, sums: Floats, products: Products) -> Controlled:
        """With the slope of least variance in each of several samples: sums [..., d + p] of columns and products."""
        first = sums.shape[-1] - len(products)
        asked = self.products(self.numerator, self.weight, self.denominator)
        vw, ww, vc, wc, cc = (sums[..., first + products.index(pair)] for pair in asked)
        v, w = (Ratio(column, self.denominator).value(sums) for column in (self.numerator, self.weight))
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = (vw - v * wc - w * vc + v * w * cc) / (ww - 2 * w * wc + w**2 * cc)
        return replace(self, slope=np.where(np.isfinite(slope), slope, 0.0))

    def value(self, sums: Floats) -> Floats:
        """The controlled mean, for sums [..., d]."""
        plain, weight = (Ratio(column, self.denominator).value(sums) for column in (self.numerator, self.weight))
        return np.asarray(plain - self.slope * (weight - 1))

    def influence(self, moments: Moments) -> Floats:
        """[d] coefficients of a row's influence, the slope taken as given."""
        plain, weight = (Ratio(column, self.denominator) for column in (self.numerator, self.weight))
        return plain.influence(moments) - self.slope * weight.influence(moments)
