"""POEM: a stochastic policy learnt from clipped importance weights with a penalty on their variance.

Its self-normalised form maximises reward per weight, which is invariant to added constants; the doubly robust one has a
regression remove the predictable part of the reward.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .descent import Penalised, WeightedObjective
from .examples import Data
from .regression import fit_reward_model


@dataclass(frozen=True)
class Poem(Penalised):
    """Policy optimiser for exponential models (Swaminathan and Joachims 2015), for slates of any length."""

    clips: tuple[float, ...] = (0.97, 1.0)

    def terms(self, data: Data, seed: int) -> WeightedObjective:
        return WeightedObjective.of(data.train.centred())


@dataclass(frozen=True)
class SelfNormalisedPoem(Penalised):
    """Maximises sum(reward w) / sum(w) with POEM's clipping and penalties, for slates of any length.

    As BanditNet (Joachims, Swaminathan, de Rijke 2018) it shifts the rewards by a baseline. The baseline is not
    searched: each round uses the current ratio, under which the ratio can only increase (Dinkelbach 1967).
    """

    def terms(self, data: Data, seed: int) -> WeightedObjective:
        return WeightedObjective.of(data.train.centred(), normalised=True)


@dataclass(frozen=True)
class DoublyRobustPoem(Penalised):
    """POEM with u = -(sum_a p(a) r(a) + (reward - r(y)) min(w, clip)) / inclusion, r from the regression.

    Paper criteo-test-bed, section 4.2, leaves it to future work. The fields are those of `Poem`. Rewards are scaled to
    [0, 1]; the model replaces a baseline.
    """

    one_slot: ClassVar[bool] = True

    def terms(self, data: Data, seed: int) -> WeightedObjective:
        return WeightedObjective.of(data.train.from_zero_to_one(), model=fit_reward_model(data, seed))
