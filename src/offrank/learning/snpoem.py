"""Self-normalised POEM: the reward per importance weight, which no constant added to the rewards can fool."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..log.batch import Floats
from .base import Candidate
from .descent import Descent
from .examples import Data
from .poem import Weighted, quantile, rounds, weighed
from .rewards import centred


@dataclass(frozen=True)
class SelfNormalisedPoem:
    """Maximises sum(reward w) / sum(w) with POEM's clipping and penalties, for slates of any length.

    As BanditNet (Joachims, Swaminathan, de Rijke 2018) it moves the rewards by a baseline. The baseline is not
    searched: each round takes the ratio reached so far, under which the ratio can only rise (Dinkelbach 1967).
    """

    greedy: ClassVar[bool] = False
    one_slot: ClassVar[bool] = False
    per_item: ClassVar[bool] = False
    variances: tuple[float, ...] = (0.0, 1.0)
    l2: tuple[float, ...] = (1e-4, 1e-3, 1e-2)
    clips: tuple[float, ...] = (0.97,)
    epochs: int = 8

    def candidates(self, data: Data, seed: int) -> Iterator[Candidate]:
        train = centred(data.train)
        for variance, l2, clip in itertools.product(self.variances, self.l2, self.clips):
            terms = Normalised.of(train, quantile(train, clip))
            settings = {"variance": variance, "l2": l2, "clip": clip}
            yield from rounds(Descent(train, data.encoding.size, variance, l2, self.epochs), terms, settings)


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
