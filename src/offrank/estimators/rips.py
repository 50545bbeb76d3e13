"""Reward interaction IPS, for clicks that depend on the items above them, not on those below."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..findings.row import EstimatorKind
from ..language.assumptions import FROM_TOP
from ..log.batch import LogBatch
from ..policies.propensities import Propensities
from . import _kernels
from .base import Reference, Weights
from .registry import ESTIMATORS


@ESTIMATORS.register
@dataclass(frozen=True, repr=False)
class RIPS(Reference):
    """w_k = target(first k slots) / logging(first k slots), for the click in slot k.

    Unbiased where users read from the top and no item influences a click above it
    (McInerney et al., Counterfactual evaluation of slate recommendations with sequential reward
    interactions, 2020).

    Examples:
        >>> offrank.estimators.estimator("rips") == offrank.estimators.RIPS()
        True
    """

    name: ClassVar[str] = "rips"
    kind: ClassVar[EstimatorKind] = EstimatorKind(
        logging="slot_probs", target="slot_probs", assumes=FROM_TOP, each_slot=True, follows="ratios"
    )

    def weigh(self, batch: LogBatch, logging: Propensities, target: Propensities) -> Weights:
        weight, impossible = np.zeros(batch.slates.shape), np.zeros(len(batch), np.bool_)
        _kernels.prefix_weights(target.slot_probs, logging.slot_probs, batch.contexts.length, weight, impossible)
        return Weights(weight, weight, impossible[:, None])
