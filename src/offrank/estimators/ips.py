"""Inverse propensity scoring of whole slates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..log.batch import LogBatch
from ..policies.propensities import Propensities
from ..spelling import Spelled
from .base import Asked, Earns, Weights, refuse_impossible


@dataclass(frozen=True, repr=False)
class IPS(Spelled):
    """w = target(slate) / logging(slate); unbiased under full support (paper criteo-test-bed, Eq. 3)."""

    name: ClassVar[str] = "ips"
    earns: ClassVar[Earns] = "reward"
    asks_logging: ClassVar[Asked | None] = "log_prob"
    asks_target: ClassVar[Asked | None] = "log_prob"
    normalised: ClassVar[bool] = True
    each_slot: ClassVar[bool] = False
    assumes: ClassVar[frozenset[str]] = frozenset()

    def examined(self, examination: Sequence[float] | None) -> IPS:
        return self

    def weights(self, batch: LogBatch, logging: Propensities, target: Propensities) -> Weights:
        refuse_impossible(batch, np.isneginf(logging.log_prob), logging)
        with np.errstate(over="ignore"):  # what is infinite is refused with its row
            weight = np.exp(target.log_prob - logging.log_prob)
        return Weights(weight, weight)
