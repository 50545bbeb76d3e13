"""The mean of the logged reward."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..findings.row import EstimatorKind
from ..language.assumptions import LOGGED
from ..log.batch import LogBatch
from ..policies.propensities import Propensities
from .base import Weighted, Weights
from .registry import ESTIMATORS


@ESTIMATORS.register
@dataclass(frozen=True, repr=False)
class LoggedMean(Weighted):
    """The on-policy mean: the mean reward of the logging policy, whatever the target.

    Examples:
        >>> offrank.estimators.estimator("logged") == offrank.estimators.LoggedMean()
        True
    """

    name: ClassVar[str] = "logged"
    kind: ClassVar[EstimatorKind] = EstimatorKind(outcome="reward", assumes=LOGGED, weighs="logged")

    def weigh(self, batch: LogBatch, logging: Propensities, target: Propensities) -> Weights:
        ones = np.ones(len(batch))
        return Weights(ones, ones)
