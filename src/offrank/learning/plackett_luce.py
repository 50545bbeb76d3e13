"""Policy gradient of Plackett-Luce slates: IPS of whole slates, without clipping or a variance penalty."""

from __future__ import annotations

from dataclasses import dataclass

from .descent import Penalised, WeightedObjective
from .examples import Data


@dataclass(frozen=True)
class SlateGradient(Penalised):
    """Maximises IPS of slates with log p = sum_j (s_{y_j} - log sum of exp(s) over those not above j).

    Rewards are centred as for `Poem`.
    """

    variances: tuple[float, ...] = (0.0,)
    l2: tuple[float, ...] = (1e-3, 1e-2, 1e-1)
    clips: tuple[float, ...] = (1.0,)

    def terms(self, data: Data, seed: int) -> WeightedObjective:
        return WeightedObjective.of(data.train.centred())
