"""Reward interaction IPS: a click depends on the items above it, not on those below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ..findings import assumptions
from ..log.batch import LogBatch
from ..policies.propensities import Propensities
from ..spelling import Spelled
from . import _kernels
from .base import Asked, Earns, Weights, refuse_impossible


@dataclass(frozen=True, repr=False)
class RIPS(Spelled):
    """w_k = target(first k slots) / logging(first k slots), for the click in slot k.

    Unbiased where users read from the top and no item influences a click above it
    (McInerney et al., Counterfactual evaluation of slate recommendations with sequential reward
    interactions, 2020).
    """

    name: ClassVar[str] = "rips"
    earns: ClassVar[Earns] = "clicks"
    asks_logging: ClassVar[Asked | None] = "slot_probs"
    asks_target: ClassVar[Asked | None] = "slot_probs"
    normalised: ClassVar[bool] = True
    each_slot: ClassVar[bool] = True
    assumes: ClassVar[frozenset[str]] = frozenset({assumptions.FROM_TOP})

    def examined(self, examination: Sequence[float] | None) -> RIPS:
        return self

    def weights(self, batch: LogBatch, logging: Propensities, target: Propensities) -> Weights:
        refuse_impossible(batch, logging.slot_probs == 0, logging)
        weight = _kernels.prefix_weights(target.slot_probs, logging.slot_probs, batch.contexts.length)
        return Weights(weight, weight)
