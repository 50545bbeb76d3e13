"""POEM: a stochastic policy learnt from clipped importance weights with a penalty on their variance."""

from __future__ import annotations

from dataclasses import dataclass

from .descent import Penalised, WeightedObjective
from .examples import Data


@dataclass(frozen=True)
class Poem(Penalised):
    """Policy optimiser for exponential models (Swaminathan and Joachims 2015), for slates of any length."""

    clips: tuple[float, ...] = (0.97, 1.0)

    def terms(self, data: Data, seed: int) -> WeightedObjective:
        return WeightedObjective.of(data.train.centred())
