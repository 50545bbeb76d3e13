"""The third of a log that a policy has not seen, found again."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any, ClassVar, get_args

import numpy as np

from ..errors import UsageError
from ..folds.base import Turned
from ..folds.fingerprint import Content, FingerprintFold
from ..log.batch import LogBatch
from ..log.source import Source
from ..options import option
from ..policies.linear import Model
from ..running.executors import Executor, Progress, run
from .splits import By, Split, rows_of

CONTENT = Content(features=True)
"""What a policy's fingerprint is of."""


@dataclass(frozen=True)
class LearntRowsFold(Turned):
    """Reduces a log to the fingerprint of the two thirds that are learnt from and chosen by."""

    by: By

    reducer: ClassVar = FingerprintFold(CONTENT)

    def turned(self, batch: LogBatch) -> LogBatch:
        return batch.take(np.setdiff1d(np.arange(len(batch)), rows_of(batch, "test", self.by)))


def kept_apart(
    source: Source, policy: str | PathLike[str], executor: Executor | None = None, progress: Progress | None = None
) -> tuple[Split, int]:
    """The third of a log that `learn` kept apart when it wrote this policy, and how many other rows there are.

    The log is read once to make sure that it is the one which was learnt from.

    Raises:
        UsageError: no such policy, one whose file does not say its thirds, or one that was learnt from another log.
    """
    path = fspath(policy)
    model = Model.load(path)
    by: Any = model.facts.get("split")
    learnt = model.training
    if by not in get_args(By) or learnt is None:
        raise UsageError(f"{path!r} does not say which rows were held out", "learn the policy again: offrank learn")
    found = run(source.select(CONTENT.needs()), LearntRowsFold(by), executor, progress)
    if found != learnt:
        raise UsageError(
            f"{path!r} was not learnt from {source.describe()}, or from its rows in another order: "
            f"it was learnt from {learnt.rows:,} impressions that are not this log's",
            "give the log that the policy was learnt from; of any other log every row is new to it: leave out "
            f"{option('held_out')}",
        )
    return Split(source, "test", by), found.rows
