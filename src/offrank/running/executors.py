"""Execution of folds: parts in parallel, merged in order, so that every backend gives the same result."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from functools import partial
from typing import Any, Protocol, TypeVar, runtime_checkable

from ..errors import UsageError
from ..folds.base import Fold
from ..log.batch import LogBatch, RunCache
from ..log.source import Source

__all__ = ["Engine", "Executor", "Placed", "Progress", "engine_of", "refuse_placed", "run"]

S = TypeVar("S")
R = TypeVar("R")

Progress = Callable[[int, int], None]
"""Called with (parts done, total parts)."""


class Engine(Protocol):
    """What reduces a log where its rows are."""

    def each(self, task: Callable[[int], S], progress: Progress | None = None) -> Iterable[S]:
        """Return the results of `task(0)` in order, each where part 0 of the log is some of its rows."""


@runtime_checkable
class Placed(Protocol):
    """A source or a table whose rows may be elsewhere."""

    def engine(self) -> Engine | None:
        """Return what reduces it there; None if its parts can be read anywhere."""


def engine_of(log: Any) -> Engine | None:
    """Return what reduces a source or a table where its rows are; None if its parts can be read anywhere."""
    return log.engine() if isinstance(log, Placed) else None


def refuse_placed(source: Source, what: str) -> None:
    """Raise if the rows of a log are elsewhere. what: the job that reads them here, one after another.

    Raises:
        UsageError: they are.
    """
    if engine_of(source) is not None:
        raise UsageError(
            f"{what} here, row by row, and those of the {source.describe()} are elsewhere",
            "write the log as a folder of Parquet files, and give the folder",
        )


def run(
    source: Source,
    fold: Fold[S, LogBatch, R],
    executor: Executor | None = None,
    progress: Progress | None = None,
    cache: RunCache | None = None,
) -> R:
    """Fold a whole log: each part separately, with states merged in the order of the parts.

    executor: any `concurrent.futures.Executor` (threads, processes, Dask's `Client.get_executor()`);
    by default as many threads as there are cores; None for a source that is
    reduced where its rows are. Interrupting cancels parts that have not begun. cache: of batches.
    """
    cache = RunCache() if cache is None else cache
    engine = engine_of(source)
    if engine is not None:
        if executor is not None:
            raise UsageError(f"{source.describe()} runs on its own engine", "leave out executor=, or --workers")
        return _merged(engine.each(partial(_reduce, source, fold, cache=cache), progress), fold)
    if executor is not None:
        futures = [executor.submit(_reduce, source, fold, part, cache) for part in range(source.parts())]
        return _merge(futures, fold, progress)
    stop = threading.Event()
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        try:
            futures = [threads.submit(_reduce, source, fold, part, cache, stop) for part in range(source.parts())]
            return _merge(futures, fold, progress)
        except BaseException:
            stop.set()
            raise


def _reduce(
    source: Source, fold: Fold[S, LogBatch, R], part: int, cache: RunCache, stop: threading.Event | None = None
) -> S:
    state = fold.empty()
    for batch in source.batches(part):
        if stop is not None and stop.is_set():
            break
        state = fold.add(state, replace(batch, run=cache))  # the cache lives no longer than this pass
    return state


def _merge(pending: list[Future[S]], fold: Fold[S, LogBatch, R], progress: Progress | None) -> R:
    state, parts = fold.empty(), len(pending)
    futures = deque(pending)
    pending.clear()  # each state is released once merged, however many parts there are
    try:
        while futures:
            state = fold.merge(state, _result(futures.popleft()))
            if progress is not None:
                progress(parts - len(futures), parts)
    except BaseException:
        for future in futures:
            future.cancel()
        raise
    return fold.finish(state)


def _merged(states: Iterable[S], fold: Fold[S, LogBatch, R]) -> R:
    state = fold.empty()
    for one in states:
        state = fold.merge(state, one)
    return fold.finish(state)


def _result(future: Future[S]) -> S:
    """Return a part's result. Waits in short steps: if signals restart system calls, one long wait ignores Ctrl-C."""
    while not future.done():
        wait([future], timeout=0.5)
    return future.result()
