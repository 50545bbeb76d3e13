"""What an estimate is: a smooth function of column sums."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ..folds.moments import Moments
from ..log.batch import Floats


class Mean(Protocol):
    """A smooth function of column sums, such as a ratio of two."""

    @property
    def denominator(self) -> int:
        """The column whose sum it is a mean over: how much a cluster can weigh in it."""

    def value(self, sums: Floats) -> Floats:
        """The function, for sums [..., d]."""

    def influence(self, moments: Moments) -> Floats:
        """[d] coefficients of a row's influence on it: the delta method."""


Signed = tuple[tuple[Mean, float], ...]
"""A sum of means, each with its sign."""


def added(terms: Signed, values: list[Floats]) -> Floats:
    """The sum of the means' values, each with its sign."""
    return np.asarray(sum(sign * value for (_, sign), value in zip(terms, values, strict=True)))
