"""What one pass over a log counts, and the pass itself: the only way from a log to numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..errors import AbilityError, ColumnError
from ..log.batch import RunCache
from ..log.source import Needs, Source
from ..sums.base import OptionalFold, Tee, Unavailable
from .executors import Executor, Progress, reduced


@dataclass(frozen=True)
class Quantity:
    """One thing that a pass over a log counts.

    fold: counts it. needs: the columns that it reads, or a function that tells them; by default as the fold says, and
    none beside those of others if it says nothing. optional: whether it is left out, with the reason, where a column is
    missing or a policy lacks an ability.
    """

    name: str
    fold: Any
    needs: Needs | Callable[[], Needs] | None = None
    optional: bool = False


class Quantities:
    """The list of what a pass over a log counts, by name, and the columns that are read for it.

    source: tells which columns there are. needs: the columns of all. folds: by name; fold: counts all of them together.
    reasons: why others cannot be had, by name. cache: of batches, while the log is read.
    """

    def __init__(self, source: Source, needs: Needs | None = None, cache: RunCache | None = None) -> None:
        self.source, self.needs = source, needs or Needs()
        self.cache = RunCache() if cache is None else cache
        self.folds: dict[str, Any] = {}
        self.fold = Tee(self.folds)
        self.reasons: dict[str, str] = {}

    def add(self, *more: Quantity) -> None:
        """Add quantities; of the optional ones those that the columns and the policies allow."""
        for one in more:
            try:
                wanted = one.fold.needs if one.needs is None else one.needs
                needed: Needs = wanted() if callable(wanted) else wanted
                if one.optional:
                    self.source.select(needed)
            except (AbilityError, ColumnError) as error:
                if not one.optional:
                    raise
                self.reasons[one.name] = error.message
                continue
            self.folds[one.name] = OptionalFold(one.fold) if one.optional else one.fold
            self.needs |= needed

    def state(self, executor: Executor | None = None, progress: Progress | None = None) -> dict[str, Any]:
        """Read the log once and return what was counted before it is finished: states of equal folds can be merged."""
        found: dict[str, Any] = reduced(self.source.select(self.needs), self.fold, executor, progress, self.cache)
        return found

    def reduce(self, executor: Executor | None = None, progress: Progress | None = None) -> dict[str, Any]:
        """Read the log once and return what was counted, by name; `reasons` says why others could not be."""
        return self.finish(self.state(executor, progress))

    def finish(self, state: dict[str, Any]) -> dict[str, Any]:
        """Return what follows from a state, by name."""
        found = self.fold.result(state)
        refused = {name: one.reason for name, one in found.items() if isinstance(one, Unavailable)}
        self.reasons |= refused
        return {name: one for name, one in found.items() if name not in refused}
