"""Inverse propensities per slot count: paper criteo-test-bed, Table 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..folds.base import Sample, Turned
from ..folds.group_by import GroupBy, by_slots
from ..folds.moments import Moments, MomentsFold
from ..log.batch import LogBatch
from ..log.source import Needs
from ..policies.propensities import AnyPolicy, propensities, shown_needs


@dataclass(frozen=True)
class SlotsRow:
    """Impressions with this many slots: read, estimated before sub-sampling, and 1 / propensity."""

    slots: int
    impressions: int
    estimated_impressions: float
    mean_inverse_propensity: float
    max_inverse_propensity: float


@dataclass(frozen=True)
class SlotsFold(Turned):
    """Reduces batches to a `SlotsRow` for each number of slots.

    The mean inverse propensity estimates the number of slates that could have been drawn; where
    the largest is of the order of the log itself, no interval that assumes normality can be trusted.
    """

    logging: AnyPolicy

    def needs(self) -> Needs:
        """The columns that the logging policy reads."""
        return shown_needs(self.logging, "log_prob")

    reducer: ClassVar = GroupBy(MomentsFold(3))

    def turned(self, batch: LogBatch) -> Sample:
        inverse = np.exp(np.minimum(-propensities(self.logging, batch).log_prob, 300))  # of which squares are summed
        h = 1 / batch.inclusion
        return Sample(np.stack([h, h * inverse, inverse], axis=1), batch.row, groups=by_slots(batch))

    def told(self, found: dict[str, Moments]) -> list[SlotsRow]:
        return [_row(slots, found[str(slots)]) for slots in sorted(map(int, found))]


def _row(slots: int, found: Moments) -> SlotsRow:
    rows, inverse, _ = map(float, found.sums)
    return SlotsRow(slots, found.n, rows, inverse / rows, float(found.largest[2]))
