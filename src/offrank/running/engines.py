"""The interface of engines, which reduce a log where its rows are."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol, TypeVar, runtime_checkable

from ..errors import UsageError

__all__ = ["Engine", "Located", "engine_of", "refuse_placed"]

S = TypeVar("S")


class Engine(Protocol):
    """What reduces a log where its rows are."""

    def each(self, task: Callable[[int], S], progress: Callable[[int, int], None] | None = None) -> Iterable[S]:
        """Return the results of `task(0)` in order, each where part 0 of the log is some of its rows."""


@runtime_checkable
class Located(Protocol):
    """A source or a table whose rows may be elsewhere."""

    def engine(self) -> Engine | None:
        """Return what reduces it there; None if its parts can be read anywhere."""


def engine_of(log: Any) -> Engine | None:
    """Return what reduces a source or a table where its rows are; None if its parts can be read anywhere."""
    return log.engine() if isinstance(log, Located) else None


def refuse_placed(source: Any, what: str) -> None:
    """Raise if the rows of a log are elsewhere. what: the job that reads them here, one after another.

    Raises:
        UsageError: they are.
    """
    if engine_of(source) is not None:
        raise UsageError(
            f"{what} in this process, row by row, but the rows of the {source.describe()} are elsewhere",
            "save the log as a folder of Parquet files, and give the folder",
        )
