"""Reward interaction IPS, for clicks that depend on the items above them, not on those below."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..language import assumptions
from ..log.batch import Floats, LogBatch
from ..policies.base import Ability
from ..policies.propensities import Propensities
from . import _kernels
from .base import Reference
from .registry import ESTIMATORS
from .wrappers import self_normalised


@self_normalised
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
    requires_logging: ClassVar[Ability] = "slot_probs"
    requires_target: ClassVar[Ability] = "slot_probs"
    each_slot: ClassVar[bool] = True
    assumptions: ClassVar[frozenset[str]] = assumptions.FROM_TOP

    def ratios(self, batch: LogBatch, logging: Propensities, target: Propensities) -> tuple[Floats, NDArray[np.bool_]]:
        weight, impossible = np.zeros(batch.slates.shape), np.zeros(len(batch), np.bool_)
        _kernels.prefix_weights(target.slot_probs, logging.slot_probs, batch.contexts.length, weight, impossible)
        return weight, impossible[:, None]
