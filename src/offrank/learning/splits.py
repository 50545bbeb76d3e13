"""A third of a log to learn from, a third to choose by, a third to judge by."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from ..errors import UsageError
from ..log.batch import Integers, LogBatch
from ..log.hashing import ODD, hashed
from ..log.source import Needs, Source

Part = Literal["train", "validate", "test"]
PARTS: tuple[Part, ...] = get_args(Part)
By = Literal["turn", "hash"]


@dataclass(frozen=True)
class Split:
    """One third of a source, as a source.

    by: `turn` gives the first impression to train, the second to validate, the third to test and so on (as paper
    criteo-test-bed's code does); `hash` decides by a hash of the row number.
    """

    source: Source
    part: Part
    by: By = "turn"

    def parts(self) -> int:
        return self.source.parts()

    def select(self, needed: Needs) -> Split:
        return replace(self, source=self.source.select(needed))

    def describe(self) -> str:
        return f"{self.source.describe()} ({self.part} third, by {self.by})"

    def batches(self, part: int) -> Iterator[LogBatch]:
        for batch in self.source.batches(part):
            yield batch.take(rows_of(batch, self.part, self.by))


@dataclass(frozen=True)
class OneSlot:
    """The impressions of a source that have one slot, as a source."""

    source: Source

    def parts(self) -> int:
        return self.source.parts()

    def select(self, needed: Needs) -> OneSlot:
        return OneSlot(self.source.select(needed))

    def describe(self) -> str:
        return f"{self.source.describe()}, one slot"

    def batches(self, part: int) -> Iterator[LogBatch]:
        for batch in self.source.batches(part):
            yield batch.take(np.flatnonzero(batch.contexts.length == 1))


def check(by: str) -> None:
    """Refuse an unknown way to split.

    Raises:
        UsageError: neither `turn` nor `hash`.
    """
    if by not in get_args(By):
        raise UsageError(f"split is {by!r}", "say turn or hash")


def rows_of(batch: LogBatch, part: Part, by: By) -> Integers:
    """Places in the batch of the rows that belong to a third."""
    key = batch.row if by == "turn" else hashed(batch.row * ODD)
    return np.flatnonzero(key % np.uint64(3) == PARTS.index(part))
