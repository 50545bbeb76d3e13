"""Inverse propensity scoring of whole slates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..findings.row import EstimatorKind
from ..log.batch import LogBatch
from ..policies.propensities import Propensities
from .base import Reference, Weights
from .registry import ESTIMATORS


@ESTIMATORS.register
@dataclass(frozen=True, repr=False)
class IPS(Reference):
    """w = target(slate) / logging(slate); unbiased under full support (paper criteo-test-bed, Eq. 3).

    Examples:
        >>> offrank.estimators.estimator("ips") == offrank.estimators.IPS()
        True
    """

    name: ClassVar[str] = "ips"
    kind: ClassVar[EstimatorKind] = EstimatorKind(
        outcome="reward", logging="log_prob", target="log_prob", follows="ratios"
    )

    def weigh(self, batch: LogBatch, logging: Propensities, target: Propensities) -> Weights:
        with np.errstate(over="ignore", invalid="ignore"):  # infinite weights are rejected with their row
            weight = np.exp(target.log_prob - logging.log_prob)
        return Weights(weight, weight, np.isneginf(logging.log_prob))
