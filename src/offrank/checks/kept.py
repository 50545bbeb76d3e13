"""Which rows were kept: their inclusion beside what was clicked."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from ..findings.evidence_rows import KeptEvidence
from ..folds.base import MappedFold, TotalFold
from ..log import rules
from ..log.batch import Floats, LogBatch

_ROUNDING = 1e-6


class KeptFold(MappedFold):
    """Reduces batches to `KeptEvidence`, by clicks or, where only rewards are logged, by rewards of 0 and 1."""

    reducer: ClassVar = TotalFold((5, 5))

    def mapped(self, batch: LogBatch) -> Floats:
        """Return rows, 1 / p, its variance, p and p^2, of rows without and with a click, and of those of neither.

        Then rows, their outcome and its square; and of those that were left out `LogBatch.dropped` and their number.
        """
        found = np.zeros((5, 5))
        found[4] = *batch.dropped, sum(rules.skipped_rows(batch.skipped).values())
        outcome = batch.outcome if batch.clicks is None else batch.clicks
        if outcome is None or not len(batch):
            return found
        if batch.clicks is not None:
            kind = batch.click_kinds
        else:
            kind = np.where((outcome == 0) | (outcome == 1), outcome, 2).astype(np.int64)
        p, reward = batch.inclusion, batch.reward
        with np.errstate(over="ignore"):
            found[3, :3] = len(p), reward.sum(), (reward**2).sum()
        if not batch.sampled:
            found[:3] += np.bincount(kind, minlength=3)[:, None] * np.array([1, 1, 0, 1, 1])
            return found
        for column, values in enumerate((np.ones(len(p)), 1 / p, (1 - p) / p**2, p, p**2)):
            found[:3, column] = np.bincount(kind, values, minlength=3)
        return found

    def result(self, found: Floats) -> KeptEvidence:
        rows, impressions, variance, kept, squares = found[:2].T
        return KeptEvidence(
            rows=(float(rows[0]), float(rows[1])),
            impressions=(float(impressions[0]), float(impressions[1])),
            variance=(float(variance[0]), float(variance[1])),
            apart=_apart(rows, kept, squares) if rows.all() else 0.0,
            clicks=not found[2, 0] and bool(rows.any()),
            **_left_out(found[3, :3], *found[4].tolist()),
        )


def _left_out(read: Floats, tested: float, total: float, squares: float, chosen: float, every: float) -> dict[str, Any]:
    """Return the evidence about rows left out. read: the number of the others, the sum and squares of their outcome."""
    counts = {"read": int(read[0]), "left_out": int(every), "by_outcome": int(chosen), "tested": int(tested)}
    if not (read[0] and tested):
        return counts
    means, rows, both = (float(read[1] / read[0]), total / tested), float(read[0] + tested), float(read[1] + total)
    variance = max(float(read[2] + squares) / rows - (both / rows) ** 2, 0.0)
    away, error = means[1] - means[0], math.sqrt(variance * (1 / float(read[0]) + 1 / tested))
    return counts | {"earned": means, "gap": away / error if error > _ROUNDING * abs(away) else 0.0}


def _apart(rows: Floats, kept: Floats, squares: Floats) -> float:
    """Return the difference of two means in standard errors."""
    mean = kept / rows
    away, spread = abs(float(mean[1] - mean[0])), np.maximum(squares / rows - mean**2, 0.0)
    if away <= _ROUNDING * float(mean.max()):
        return 0.0
    error = math.sqrt(float((spread / rows).sum()))
    return away / error if error > _ROUNDING * away else math.inf
