"""Execution of folds: parts in parallel, merged in order, so that every backend gives the same result."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import TypeVar

from ..folds.base import Fold
from ..log.batch import LogBatch, RunCache
from ..log.source import Source

__all__ = ["Executor", "Progress", "run"]

S = TypeVar("S")
R = TypeVar("R")

Progress = Callable[[int, int], None]
"""Called with (parts done, total parts)."""


def run(
    source: Source,
    fold: Fold[S, LogBatch, R],
    executor: Executor | None = None,
    progress: Progress | None = None,
    cache: RunCache | None = None,
) -> R:
    """Fold a whole log: each part separately, with states merged in the order of the parts.

    executor: any `concurrent.futures.Executor` (threads, processes, Dask's `Client.get_executor()`);
    by default as many threads as there are cores. Interrupting cancels parts that have not begun. cache: of batches.
    """
    cache = RunCache() if cache is None else cache
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


def _result(future: Future[S]) -> S:
    """Return a part's result. Waits in short steps: if signals restart system calls, one long wait ignores Ctrl-C."""
    while not future.done():
        wait([future], timeout=0.5)
    return future.result()
