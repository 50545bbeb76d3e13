"""What one pass over a log counts, and the pass itself: the only way from a log to numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from ..errors import AbilityError, ColumnError
from ..log.batch import RunCache
from ..log.source import Needs, Source
from ..sums.base import OptionalFold, Tee, given, refused
from .executors import Executor, Progress, reduced

Wanted = Literal["number", "verdict", "page"]
"""What a quantity is for: a number and its interval, the doubt that a verdict knows, or a page about both."""
EVERYTHING: frozenset[Wanted] = frozenset(("number", "verdict", "page"))


class Quantities:
    """Quantities that a log is asked for, by name: the fold that counts each, and the columns that they read.

    source: tells which columns there are. needs: the columns of all. reasons: why others cannot be had, by name.
    cache: of batches, while the log is read.
    """

    def __init__(self, source: Source, needs: Needs | None = None, cache: RunCache | None = None) -> None:
        self.source, self.needs = source, needs or Needs()
        self.cache = RunCache() if cache is None else cache
        self.folds: dict[str, Any] = {}
        self.reasons: dict[str, str] = {}

    def add(self, needs: Needs | None = None, **folds: Any) -> None:
        """Add quantities that any log has. needs: the columns that they read beside those of others."""
        self.folds |= folds
        self.needs |= needs or Needs()

    def attempt(self, name: str, fold: Any, needs: Callable[[], Needs] | None = None) -> bool:
        """Add one if the columns and the policies allow, and return whether they do. needs: by default `fold.needs`."""
        try:
            needed = (needs or fold.needs)()
            self.source.select(needed)
        except (AbilityError, ColumnError) as error:
            self.reasons[name] = error.message
            return False
        self.folds[name] = OptionalFold(fold)
        self.needs |= needed
        return True

    @property
    def fold(self) -> Tee:
        """The fold that counts all of them together."""
        return Tee(self.folds)

    def state(self, executor: Executor | None = None, progress: Progress | None = None) -> dict[str, Any]:
        """Read the log once and return what was counted before it is finished: states of equal folds can be merged."""
        found: dict[str, Any] = reduced(self.source.select(self.needs), self.fold, executor, progress, self.cache)
        return found

    def reduce(self, executor: Executor | None = None, progress: Progress | None = None) -> dict[str, Any]:
        """Read the log once and return what was counted, by name; `reasons` says why others could not be."""
        return self.finish(self.state(executor, progress))

    def finish(self, state: dict[str, Any]) -> dict[str, Any]:
        """Return what follows from a state, by name."""
        found = self.fold.finish(state)
        self.reasons |= refused(found)
        return given(found)
