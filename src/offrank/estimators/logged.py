"""What was earned: the mean of the logged reward."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..log.batch import LogBatch
from ..policies.base import Ability
from ..policies.shown import Shown
from ..spelling import Spelled
from .base import Earns, Weights


@dataclass(frozen=True, repr=False)
class LoggedMean(Spelled):
    """The on-policy mean: what the logging policy earned, whatever the target."""

    name: ClassVar[str] = "logged"
    earns: ClassVar[Earns] = "reward"
    asks_logging: ClassVar[Ability | None] = None
    asks_target: ClassVar[Ability | None] = None
    normalised: ClassVar[bool] = True
    assumes: ClassVar[float] = 0

    def examined(self, examination: Sequence[float] | None) -> LoggedMean:
        return self

    def weights(self, batch: LogBatch, logging: Shown, target: Shown) -> Weights:
        ones = np.ones(len(batch))
        return Weights(ones, ones)
