"""How many rows counted propensities rest on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from ..folds.counts import CountsFold, KeyedCounts
from ..folds.estimate import Caution
from ..log.batch import LogBatch
from ..log.source import Needs
from ..policies.counted import Counted
from ..policies.prepared import with_parts
from ..policies.propensities import AnyPolicy

FEW_ROWS = 50.0
"""Rows per context: with 20 plain estimates often miss the truth, with 80 not (benchmarks/cluster_coverage.py)."""


def counted_by(policy: AnyPolicy) -> str | None:
    """The column by whose values a policy, or one inside it, was counted in the log."""
    return next((one.by for one in with_parts(policy) if isinstance(one, Counted)), None)


@dataclass(frozen=True)
class RowsPerContextFold:
    """Reduces batches to the rows of each context; memory grows with the contexts, as it does for counting."""

    by: str
    counts: CountsFold = field(default_factory=CountsFold)

    def needs(self) -> Needs:
        """The column of the contexts."""
        return Needs(keys=frozenset([self.by]))

    def empty(self) -> KeyedCounts:
        return self.counts.empty()

    def add(self, state: KeyedCounts, batch: LogBatch) -> KeyedCounts:
        return self.counts.add(state, (batch.contexts.keys[self.by], np.ones(len(batch))))

    def merge(self, left: KeyedCounts, right: KeyedCounts) -> KeyedCounts:
        return self.counts.merge(left, right)

    def finish(self, state: KeyedCounts) -> float:
        """Rows per context: the harmonic mean, over the rows, of how many rows the context of each has."""
        return float(state.counts.sum()) / max(len(state.counts), 1)


def about_rows_per_context(rows: float, by: str) -> Iterator[Caution]:
    """Warnings of propensities that were counted in too few rows."""
    if rows < FEW_ROWS:
        yield Caution(
            "few-rows-per-context",
            "warning",
            f"The propensities were counted in {rows:.3g} rows per value of `{by}`: what was never seen there counts "
            "as impossible, so plain estimates are too low, and their intervals too narrow.",
            "Use a self-normalised estimator or a wide window (snipm, interpol), count by something coarser, or log "
            "propensities.",
        )
