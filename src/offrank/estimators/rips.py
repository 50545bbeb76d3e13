"""Reward interaction IPS: a click depends on the items above it, not on those below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..log.batch import LogBatch
from ..policies.shown import Shown
from ..spelling import Spelled
from .base import Weights, refuse_impossible


@dataclass(frozen=True, repr=False)
class RIPS(Spelled):
    """w_k = target(first k slots) / logging(first k slots), for the click in slot k.

    Unbiased where users read from the top and no item influences a click above it
    (McInerney et al., Counterfactual evaluation of slate recommendations with sequential reward
    interactions, 2020).
    """

    name: ClassVar[str] = "rips"
    earns: ClassVar = "clicks"
    asks_logging: ClassVar = "slot_probs"
    asks_target: ClassVar = "slot_probs"
    normalised: ClassVar = True

    def examined(self, examination: Sequence[float] | None) -> RIPS:
        return self

    def weights(self, batch: LogBatch, logging: Shown, target: Shown) -> Weights:
        refuse_impossible(batch, (logging.slot_probs == 0).any(axis=1), logging)
        prefix = np.cumprod(target.slot_probs / logging.slot_probs, axis=1)
        weight = np.where(batch.slates >= 0, prefix, 0.0)
        return Weights(weight, weight)
