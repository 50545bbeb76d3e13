"""Splits of a log into training, validation and test thirds; and how to find the test third of a saved policy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any, Literal, get_args

import numpy as np

from ..errors import UsageError
from ..log.batch import Integers, LogBatch
from ..log.hashing import ODD, hashed
from ..log.source import Source, SourceOver, refuse_once, stamp_of
from ..running.executors import Executor, Progress, run
from ..sums.base import Fold
from ..sums.fingerprint import Content, Fingerprint, FingerprintFold
from ..wording import Option, Wording
from .linear import PolicyFile

Part = Literal["train", "validate", "test"]
PARTS: tuple[Part, ...] = get_args(Part)
By = Literal["turn", "hash"]

CONTENT = Content(features=True)
"""The columns of a policy's fingerprint."""


@dataclass(frozen=True)
class Split(SourceOver):
    """One third of a source, as a source.

    by: `turn` assigns impressions in turn to train, validate and test (as paper
    criteo-test-bed's code does); `hash` decides by a hash of the row number.
    """

    part: Part
    by: By = "turn"

    def describe(self) -> str:
        return f"{self.source.describe()} ({self.part} third, by {self.by})"

    def stamp(self) -> Mapping[str, Any] | None:
        return stamp_of(self.source)

    def batches(self, part: int) -> Iterator[LogBatch]:
        for batch in self.source.batches(part):
            yield batch.take(rows_of_part(batch, self.part, self.by))


@dataclass(frozen=True)
class OneSlot(SourceOver):
    """The impressions of a source that have one slot, as a source."""

    def describe(self) -> str:
        return f"{self.source.describe()}, one slot"

    def batches(self, part: int) -> Iterator[LogBatch]:
        for batch in self.source.batches(part):
            yield batch.take(np.flatnonzero(batch.contexts.length == 1))


def check_split(by: str) -> None:
    """Raise for an unknown way to split.

    Raises:
        UsageError: the name is neither `turn` nor `hash`.
    """
    if by not in get_args(By):
        raise UsageError(f"split is {by!r}", "use turn or hash")


def rows_of_part(batch: LogBatch, part: Part, by: By) -> Integers:
    """Return the indices in the batch of the rows that belong to a third."""
    key = batch.row if by == "turn" else hashed(batch.row * ODD)
    return np.flatnonzero(key % np.uint64(3) == PARTS.index(part))


@dataclass(frozen=True)
class LearntRowsFold(Fold):
    """Reduces a log to the fingerprint of the training and validation thirds."""

    by: By

    def add(self, part: Fingerprint | None, batch: LogBatch) -> Fingerprint:
        learnt = np.setdiff1d(np.arange(len(batch)), rows_of_part(batch, "test", self.by))
        return FingerprintFold(CONTENT).add(part, batch.take(learnt))


def kept_apart(
    source: Source, policy: str | PathLike[str], executor: Executor | None = None, progress: Progress | None = None
) -> tuple[Split, int]:
    """Return the third of a log that `learn` kept for testing when it wrote this policy, and the number of other rows.

    The log is read once to verify that the policy was learnt from it.

    Raises:
        UsageError: no such policy, one whose file does not record its thirds, or one learnt from another log.
    """
    path = fspath(policy)
    model = PolicyFile.load(path, lambda found: found)
    by: Any = model.facts.get("split")
    learnt = model.training
    if by not in get_args(By) or learnt is None:
        raise UsageError(f"{path!r} does not say which rows were held out", "learn the policy again: offrank learn")
    refuse_once(source, "the held-out rows are located first")
    found = run(source.select(CONTENT.needs()), LearntRowsFold(by), executor, progress)
    if found != learnt:
        raise UsageError(
            f"{path!r} was not learnt from {source.describe()}, or the rows are in another order: it was learnt "
            f"from {learnt.rows:,} impressions that are not in this log",
            Wording(
                "give the log that the policy was learnt from. Every row of another log is new to it: omit {}",
                Option("held_out"),
            ),
        )
    return Split(source, "test", by), found.rows
