"""A mean of sums over slots, each slot divided by its own mean weight."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..folds.moments import Moments
from ..log.batch import Floats


@dataclass(frozen=True)
class BySlot:
    """Sum over slots b of (sum of value_b / sum of weight_b) x (sum of number_b / sum of `denominator`).

    The fields are columns. number_b counts the slots of a row that are in block b, so the second factor is the share
    of impressions with such a slot. A slot without any weight adds nothing.
    """

    values: tuple[int, ...]
    weights: tuple[int, ...]
    numbers: tuple[int, ...]
    denominator: int

    def value(self, sums: Floats) -> Floats:
        """The mean, for sums [..., d]."""
        value, weight, number = (sums[..., list(columns)] for columns in (self.values, self.weights, self.numbers))
        each = np.divide(value * number, weight, out=np.zeros_like(value), where=weight > 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(each.sum(axis=-1) / sums[..., self.denominator])

    def influence(self, moments: Moments) -> Floats:
        """[d] coefficients of a row's influence on the mean: its derivatives by the columns' means."""
        mean, coefficients = moments.mean, np.zeros(len(moments.mean))
        rows = mean[self.denominator]
        for value, weight, number in zip(self.values, self.weights, self.numbers, strict=True):
            if mean[weight] > 0:
                rate = mean[value] / mean[weight]
                coefficients[value] += mean[number] / mean[weight] / rows
                coefficients[weight] -= rate * mean[number] / mean[weight] / rows
                coefficients[number] += rate / rows
        coefficients[self.denominator] -= float(self.value(moments.sums)) / rows
        return coefficients
