"""How many rows counted propensities rest on."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..folds.counts import CountsFold, KeyedCounts
from ..log.batch import LogBatch
from ..log.source import Needs
from ..policies.counted import Counted
from ..policies.prepared import with_parts
from ..policies.propensities import AnyPolicy


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
