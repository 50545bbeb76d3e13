"""POEM on doubly robust terms: a regression removes the predictable part of the reward from the weighting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .descent import Penalised, WeightedObjective
from .examples import Data
from .regression import fit_reward_model


@dataclass(frozen=True)
class DoublyRobustPoem(Penalised):
    """POEM with u = -(sum_a p(a) r(a) + (reward - r(y)) min(w, clip)) / inclusion, r from the regression.

    Paper criteo-test-bed, section 4.2, leaves it to future work. The fields are those of `Poem`. Rewards are scaled to
    [0, 1]; the model replaces a baseline.
    """

    one_slot: ClassVar[bool] = True

    def terms(self, data: Data, seed: int) -> WeightedObjective:
        return WeightedObjective.of(data.train.from_zero_to_one(), model=fit_reward_model(data, seed))
