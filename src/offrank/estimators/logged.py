"""The mean of the logged reward."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..language import assumptions
from ..log.batch import LogBatch
from ..policies.propensities import Propensities
from .base import Outcome, Weighs, Weighted, Weights
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
    outcome: ClassVar[Outcome] = "reward"
    assumptions: ClassVar[frozenset[str]] = assumptions.LOGGED
    weighs: ClassVar[Weighs] = "logged"

    def with_weights(self, wrap: Callable[[Weighted], Weighted]) -> LoggedMean:
        return self

    def weights(self, batch: LogBatch, logging: Propensities, target: Propensities) -> Weights:
        ones = np.ones(len(batch))
        return Weights(ones, ones)
