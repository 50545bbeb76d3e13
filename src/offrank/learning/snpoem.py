"""Self-normalised POEM: the reward per importance weight, which no constant added to the rewards can fool."""

from __future__ import annotations

from dataclasses import dataclass

from .descent import Penalised, WeightedObjective
from .examples import Data


@dataclass(frozen=True)
class SelfNormalisedPoem(Penalised):
    """Maximises sum(reward w) / sum(w) with POEM's clipping and penalties, for slates of any length.

    As BanditNet (Joachims, Swaminathan, de Rijke 2018) it moves the rewards by a baseline. The baseline is not
    searched: each round takes the ratio reached so far, under which the ratio can only rise (Dinkelbach 1967).
    """

    def terms(self, data: Data, seed: int) -> WeightedObjective:
        return WeightedObjective.of(data.train.centred(), normalised=True)
