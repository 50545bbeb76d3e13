"""Self-normalised POEM: the reward per importance weight, which no constant added to the rewards can fool."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ..log.batch import Floats
from .base import Candidate
from .examples import Data
from .poem import Penalised, Weighted, weighed
from .rewards import centred


@dataclass(frozen=True)
class SelfNormalisedPoem(Penalised):
    """Maximises sum(reward w) / sum(w) with POEM's clipping and penalties, for slates of any length.

    As BanditNet (Joachims, Swaminathan, de Rijke 2018) it moves the rewards by a baseline. The baseline is not
    searched: each round takes the ratio reached so far, under which the ratio can only rise (Dinkelbach 1967).
    """

    def candidates(self, data: Data, seed: int) -> Iterator[Candidate]:
        train = centred(data.train)
        return self.search(train, data.encoding.size, partial(Normalised.of, train))


@dataclass(frozen=True)
class Normalised(Weighted):
    """As `Weighted`, with the self-normalised estimate so far as the baseline."""

    def refreshed(self, weights: Floats) -> Normalised:
        earned = shown = 0.0
        unused = np.zeros_like(weights)
        for examples in self.store:
            each = 1 / examples.inclusion
            earned -= float(weighed(examples, examples.reward * each, self.clip, 0, 0, weights, unused).sum())
            shown -= float(weighed(examples, each, self.clip, 0, 0, weights, unused).sum())
        return replace(self, baseline=earned / shown)
