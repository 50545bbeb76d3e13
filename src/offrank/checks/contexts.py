"""How many rows counted propensities rest on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..folds.base import Turned
from ..folds.counts import KeyedCounts, KeyedCountsFold
from ..log.batch import Floats, Integers, LogBatch
from ..log.source import Needs
from ..policies.counted import Counted
from ..policies.prepared import with_parts
from ..policies.propensities import AnyPolicy


def counted_by(policy: AnyPolicy) -> str | None:
    """The column by whose values a policy, or one inside it, was counted in the log."""
    return next((one.by for one in with_parts(policy) if isinstance(one, Counted)), None)


@dataclass(frozen=True)
class RowsPerContextFold(Turned):
    """Reduces batches to the rows of each context; memory grows with the contexts, as it does for counting."""

    by: str

    def needs(self) -> Needs:
        """The column of the contexts."""
        return Needs(keys=frozenset([self.by]))

    reducer: ClassVar = KeyedCountsFold()

    def turned(self, batch: LogBatch) -> tuple[Integers, Floats]:
        return batch.contexts.keys[self.by], np.ones(len(batch))

    def told(self, found: KeyedCounts) -> float:
        """Rows per context: the harmonic mean, over the rows, of how many rows the context of each has."""
        return float(found.counts.sum()) / max(len(found.counts), 1)
