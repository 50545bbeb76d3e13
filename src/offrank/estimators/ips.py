"""Inverse propensity scoring of whole slates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..log.batch import Floats, LogBatch
from ..policies.base import Ability
from ..policies.propensities import Propensities
from .base import Outcome, Reference
from .registry import ESTIMATORS
from .wrappers import self_normalised


@self_normalised
@ESTIMATORS.register
@dataclass(frozen=True, repr=False)
class IPS(Reference):
    """w = target(slate) / logging(slate); unbiased under full support (paper criteo-test-bed, Eq. 3).

    Examples:
        >>> offrank.estimators.estimator("ips") == offrank.estimators.IPS()
        True
    """

    name: ClassVar[str] = "ips"
    outcome: ClassVar[Outcome] = "reward"
    requires_logging: ClassVar[Ability] = "log_prob"
    requires_target: ClassVar[Ability] = "log_prob"

    def ratios(self, batch: LogBatch, logging: Propensities, target: Propensities) -> tuple[Floats, NDArray[np.bool_]]:
        with np.errstate(over="ignore", invalid="ignore"):  # infinite weights are rejected with their row
            return np.exp(target.log_prob - logging.log_prob), np.isneginf(logging.log_prob)
