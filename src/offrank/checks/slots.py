"""Inverse propensities per slot count: paper criteo-test-bed, Table 1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..log.batch import Floats, LogBatch
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
class SlotsFold:
    """Reduces batches, per slot count, to rows, sums of 1 / inclusion and of 1 / propensity, and the largest.

    The mean inverse propensity estimates the number of slates that could have been drawn; where
    the largest is of the order of the log itself, no interval that assumes normality can be trusted.
    """

    logging: AnyPolicy

    def needs(self) -> Needs:
        """The columns that the logging policy reads."""
        return shown_needs(self.logging, "log_prob")

    def empty(self) -> dict[int, Floats]:
        return {}

    def add(self, state: dict[int, Floats], batch: LogBatch) -> dict[int, Floats]:
        inverse = np.exp(-propensities(self.logging, batch).log_prob)
        found = {}
        for slots in np.unique(batch.contexts.length):
            rows = batch.contexts.length == slots
            h = 1 / batch.inclusion[rows]
            found[int(slots)] = np.array(
                [rows.sum(), h.sum(), (h * inverse[rows]).sum(), inverse[rows].max()], dtype=np.float64
            )
        return self.merge(state, found)

    def merge(self, left: dict[int, Floats], right: dict[int, Floats]) -> dict[int, Floats]:
        merged = dict(left)
        for slots, row in right.items():
            merged[slots] = row if slots not in merged else _both(merged[slots], row)
        return merged

    def finish(self, state: dict[int, Floats]) -> list[SlotsRow]:
        return [
            SlotsRow(slots, int(n), float(h), float(total / h), float(most))
            for slots, (n, h, total, most) in sorted(state.items())
        ]


def _both(left: Floats, right: Floats) -> Floats:
    return np.append(left[:3] + right[:3], max(left[3], right[3]))
