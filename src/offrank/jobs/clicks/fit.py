"""`clicks fit`: a click model learnt from a log, kept in a file, and told."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from ...clicks.documents import grouping
from ...clicks.fitted import Fitted
from ...clicks.model import ClickModel
from ...clicks.named import click_model
from ...clicks.summary import summary
from ...errors import UsageError
from ...inference.spec import IntervalSpec
from ...running.executors import Executor, Progress
from .. import arguments


@dataclass(frozen=True)
class Learnt:
    """A fitted click model, and the file that it was written to."""

    fitted: Fitted
    path: str
    confidence: float = 0.95

    def __str__(self) -> str:
        return summary(self.fitted, self.confidence, self.path)


def fit_clicks(
    log: Any,
    model: str | ClickModel,
    path: str | PathLike[str],
    *,
    by: str | None = "auto",
    confidence: float = 0.95,
    executor: Executor | None = None,
    progress: Progress | None = None,
    say: Callable[[str], object] = len,
) -> Learnt:
    """Learn a click model from a log, and write it to a file.

    - log: from `read_log`, or anything that it takes, with slates and clicks. model: `dbn`, `mixture(pbm, dbn)` ...
    - by: the column of the queries: a document is a pair of query and item. "auto": `query` where there is one; None:
      items are known by themselves.

    Raises:
        UsageError: arguments that cannot work, or clicks that are no whole numbers.
        LogError: the log breaks a rule, has no clicks, or is empty.
    """
    kind, source = click_model(model), arguments.source(log)
    IntervalSpec("normal", confidence)  # refuses levels that are none
    if not os.access(Path(path).parent, os.W_OK):
        raise UsageError(f"there is no folder {str(Path(path).parent)!r} to write to", "make it first")
    grouping(source, by)  # columns that are not there are told before anything is read
    fitted = kind.fit(source, by=by, executor=executor, progress=progress, say=say)
    fitted.save(path)
    return Learnt(fitted, str(path), confidence)
