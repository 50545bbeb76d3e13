"""SNPOEM, self-normalised POEM: maximises reward per importance weight, which is invariant to added constants."""

from __future__ import annotations

from dataclasses import dataclass

from .descent import Penalised, WeightedObjective
from .examples import Data


@dataclass(frozen=True)
class SelfNormalisedPoem(Penalised):
    """Maximises sum(reward w) / sum(w) with POEM's clipping and penalties, for slates of any length.

    As BanditNet (Joachims, Swaminathan, de Rijke 2018) it shifts the rewards by a baseline. The baseline is not
    searched: each round uses the current ratio, under which the ratio can only increase (Dinkelbach 1967).
    """

    def terms(self, data: Data, seed: int) -> WeightedObjective:
        return WeightedObjective.of(data.train.centred(), normalised=True)
