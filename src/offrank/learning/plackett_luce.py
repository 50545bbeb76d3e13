"""The policy gradient of Plackett-Luce slates: IPS of whole slates, neither clipped nor penalised for variance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from .base import Candidate
from .examples import Data
from .poem import Poem


@dataclass(frozen=True)
class SlateGradient:
    """Maximises IPS of slates with log p = sum_j (s_{y_j} - log sum of exp(s) over those not above j).

    Rewards are centred as for `Poem`.
    """

    greedy: ClassVar[bool] = False
    one_slot: ClassVar[bool] = False
    per_item: ClassVar[bool] = False
    l2: tuple[float, ...] = (1e-3, 1e-2, 1e-1)
    epochs: int = 8

    def candidates(self, data: Data, seed: int) -> Iterator[Candidate]:
        return Poem(variances=(0.0,), l2=self.l2, clips=(1.0,), epochs=self.epochs).candidates(data, seed)
