"""Clicks that know nothing of each other: click rates, the position-based model, trust bias."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...log.batch import Floats


@dataclass(frozen=True)
class Independent:
    """P(C_k = 1) = chance [n, k], whatever else is clicked."""

    chance: Floats

    def marginal(self) -> Floats:
        return self.chance

    def conditional(self, clicks: Floats) -> Floats:
        return self.chance

    def sample(self, rng: np.random.Generator) -> Floats:
        return (rng.random(self.chance.shape) < self.chance).astype(np.float64)
