"""Examination that depends on the rank and on the last click above it: the user browsing model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...log.batch import Floats
from . import _kernels


@dataclass(frozen=True)
class Browsing:
    """P(C_k = 1 | clicks above) = examination[k, last] attraction[n, k].

    attraction: [n, k], 0 on pads. examination: [k, k + 1]; `last` is 0 before the first click, else the number of the
    last clicked rank, counted from 1. Entries with last > rank are never read.
    """

    attraction: Floats
    examination: Floats

    def marginal(self) -> Floats:
        return _kernels.browsing_marginal(self.attraction, self.examination)

    def conditional(self, clicks: Floats) -> Floats:
        return _kernels.browsing_conditional(self.attraction, self.examination, clicks)

    def sample(self, rng: np.random.Generator) -> Floats:
        return _kernels.browsing_sample(self.attraction, self.examination, rng.random(self.attraction.shape))
