"""Do the propensities that were written down agree with the policy that is said to have drawn the log?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..folds.base import TotalFold, Turned
from ..log.batch import Floats, LogBatch
from ..log.source import Needs
from ..policies.propensities import AnyPolicy, propensities, shown_needs
from ..policies.written import Logged

_WRITTEN = Logged()
CLOSE = 0.01
"""Propensities within a per cent agree: scores are often logged in single precision."""


@dataclass(frozen=True)
class Agreement:
    """Of `rows` impressions, how many have another propensity than the policy's, and the mean log-ratio of both.

    log_ratio: sum over rows of log(written / policy's), impossible slates left out; apart: rows that
    differ by more than `CLOSE`.
    """

    rows: int = 0
    apart: int = 0
    log_ratio: float = 0.0

    @property
    def share_apart(self) -> float:
        """Share of the impressions whose propensities differ."""
        return self.apart / self.rows if self.rows else 0.0

    @property
    def typical_ratio(self) -> float:
        """Geometric mean of written / policy's propensity."""
        return float(np.exp(self.log_ratio / self.rows)) if self.rows else 1.0


@dataclass(frozen=True)
class AgreementFold(Turned):
    """Compares the column `propensity` with the logging policy, impression by impression."""

    logging: AnyPolicy

    def needs(self) -> Needs:
        """The column, and what the policy reads."""
        return shown_needs(self.logging, "log_prob") | shown_needs(_WRITTEN, "log_prob")

    reducer: ClassVar = TotalFold((3,))

    def turned(self, batch: LogBatch) -> Floats:
        ratio = propensities(_WRITTEN, batch).log_prob - propensities(self.logging, batch).log_prob
        apart = ~(np.abs(ratio) <= CLOSE)
        return np.array([len(batch), apart.sum(), ratio[np.isfinite(ratio)].sum()])

    def told(self, found: Floats) -> Agreement:
        return Agreement(int(found[0]), int(found[1]), float(found[2]))
