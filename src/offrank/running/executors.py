"""Execution of folds: parts in parallel, merged in order, so that every backend gives the same result."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cache, partial, reduce
from itertools import islice
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ..errors import EmptyLogError, UsageError
from ..log.batch import Limits, LogBatch, RunCache
from ..log.source import Source, engine_of
from ..sums.base import Fold, total
from .checkpoint import CheckpointFolder, Kept

__all__ = ["Executor", "Progress", "reduced", "run"]

Progress = Callable[[int, int], None]
"""Called with (parts done, total parts)."""


@runtime_checkable
class RowProgress(Protocol):
    """A `Progress` that also counts rows, where they are read by threads."""

    def __call__(self, done: int, total: int, /) -> None:
        """See `Progress`."""

    def read(self, rows: int) -> None:
        """Count rows that were read; called by any thread, after each batch."""


AHEAD = 1024
"""How many parts are submitted to other executors before the first of them is merged. Until then each keeps a state."""
_MOST_IN_LAW = 1 << 24
"""Numbers of a batch's candidates at all ranks: those of 65,536 slates of 16, or of 16 slates of 1,024."""


def run(
    source: Source,
    fold: Fold,
    executor: Executor | None = None,
    progress: Progress | None = None,
    cache: RunCache | None = None,
) -> Any:
    """Fold a whole log: each part separately, with the sums of parts added in their order.

    executor: any `concurrent.futures.Executor` (threads, processes, Dask's `Client.get_executor()`), or a
    `CheckpointFolder`; by default as many threads as there are cores, or what holds the log. Interrupting cancels parts
    that have not begun. cache: of batches.
    """
    return fold.result(reduced(source, fold, executor, progress, cache))


def reduced(
    source: Source,
    fold: Fold,
    executor: Executor | None = None,
    progress: Progress | None = None,
    cache: RunCache | None = None,
) -> Any:
    """The sum of a whole log, of which `run` gives the result.

    Raises:
        UsageError: an executor is given for a log that an engine reduces.
        EmptyLogError: there was nothing to read.
    """
    if executor is not None and not isinstance(executor, Executor | CheckpointFolder):
        remedy = "give one of concurrent.futures; a Dask client has it: client.get_executor()"
        raise UsageError(f"{type(executor).__name__} is no executor", remedy)
    within, engine = _Pass(RunCache() if cache is None else cache), engine_of(source)
    every, seen = range(source.parts() if engine is None else 0), None
    if isinstance(progress, RowProgress):
        seen = progress.read
    if engine is not None:
        if executor is not None:
            remedy = "omit executor=, or on the command line --workers and --checkpoint"
            raise UsageError(f"{source.describe()} is reduced by its own engine", remedy)
        found = reduce(total, engine.each(partial(_reduce, source, fold, within), progress), None)
    elif executor is None and len(every) == 1:
        found = _reduce(source, fold, replace(within, seen=seen), 0)
        if progress is not None:
            progress(1, 1)
    else:
        kept, stop, limits = None, threading.Event(), Limits() if len(every) > 1 else None
        if isinstance(executor, CheckpointFolder):
            kept = executor.kept(source, fold, len(every))
            every, executor = every[kept.done :], executor.executor
        with ThreadPoolExecutor(os.cpu_count()) if executor is None else nullcontext(executor) as pool:
            seen = seen if isinstance(pool, ThreadPoolExecutor) else None
            within = replace(within, limits=limits, seen=seen, stop=stop if executor is None else None)
            try:
                submitted = (pool.submit(_reduce, source, fold, within, part) for part in every)
                ahead = AHEAD if executor is not None else 2 * (os.cpu_count() or 1)  # states of pairs are large
                found = _merge(fold, submitted, len(every), progress, kept, ahead)
            except BaseException:
                stop.set()
                raise
    if found is None:
        raise EmptyLogError(f"{source.describe()} has no impressions", "give a log with some")
    return found


@dataclass(frozen=True)
class _Pass:
    """What the parts of one pass over a log share. seen: told of rows; stop: set when the rest is not wanted."""

    cache: RunCache
    limits: Limits | None = None
    seen: Callable[[int], None] | None = None
    stop: threading.Event | None = None


@cache
def _keep_freed_memory() -> None:
    """Let glibc keep what a batch has freed for the next, up to 64 MB, instead of asking for new pages each time.

    When a large block is freed, up to 32 MB, it raises its thresholds to that. The pages of this one are never touched.
    """
    np.empty((32 << 20) - (16 << 10), np.uint8)


def _reduce(source: Source, fold: Fold, within: _Pass, part: int) -> Any:
    _keep_freed_memory()
    state = None
    for batch in source.batches(part):
        if within.stop is not None and within.stop.is_set():
            break
        numbers = batch.slates.size * batch.contexts.candidates.shape[1]
        for some in (batch,) if numbers <= _MOST_IN_LAW else _of_bounded_laws(batch):
            fresh = replace(some, run=within.cache, limits=within.limits)  # they live no longer than this pass
            state = fold.add(state, fresh)
            fresh.known.clear()
        if within.seen is not None:
            within.seen(len(batch))
    return state


def _of_bounded_laws(batch: LogBatch) -> Iterator[LogBatch]:
    """A batch in slices: the probability of each of its candidates at each rank would fill the memory."""
    rows = max(_MOST_IN_LAW // (batch.contexts.candidates.shape[1] * batch.contexts.slots), 1)
    for start in range(0, len(batch), rows):
        some = batch.take(np.arange(start, min(start + rows, len(batch))))
        yield replace(some, skipped={}) if start else some


def _merge(
    fold: Fold, submitted: Iterator[Future[Any]], parts: int, progress: Progress | None, kept: Kept | None, ahead: int
) -> Any:
    """Add what so many parts return, in their order; later parts are submitted as earlier ones are added."""
    merged, done = (None, 0) if kept is None else (kept.state, kept.done)
    parts, futures = done + parts, deque(islice(submitted, ahead))
    try:
        while futures:
            while not (first := futures[0]).done():  # if signals restart system calls, one long wait ignores Ctrl-C
                wait([first], timeout=0.5)
            part, done = futures.popleft().result(), done + 1
            merged = total(merged, part) if merged is None or part is None else fold.merged(merged, part)
            futures.extend(islice(submitted, 1))
            if kept is not None:
                kept.keep(merged, done, last=not futures)
            if progress is not None:
                progress(done, parts)
    except BaseException:
        for future in futures:
            future.cancel()
        raise
    return merged
