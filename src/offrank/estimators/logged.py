"""What was earned: the mean of the logged reward."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..findings import assumptions
from ..log.batch import LogBatch
from ..policies.propensities import Propensities
from ..spelling import Spelled
from .base import Asked, Earns, Weights


@dataclass(frozen=True, repr=False)
class LoggedMean(Spelled):
    """The on-policy mean: what the logging policy earned, whatever the target."""

    name: ClassVar[str] = "logged"
    earns: ClassVar[Earns] = "reward"
    asks_logging: ClassVar[Asked | None] = None
    asks_target: ClassVar[Asked | None] = None
    normalised: ClassVar[bool] = True
    each_slot: ClassVar[bool] = False
    assumes: ClassVar[frozenset[str]] = frozenset({assumptions.LOGGED})

    def examined(self, examination: Sequence[float] | None) -> LoggedMean:
        return self

    def weights(self, batch: LogBatch, logging: Propensities, target: Propensities) -> Weights:
        ones = np.ones(len(batch))
        return Weights(ones, ones)
