"""Checkpoints: what a run has counted so far is kept in a folder, and a run that was killed goes on from there."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import StateError, UsageError
from ..language.files import atomic_write
from ..log.source import Source, stamp_of
from ..sums.base import Fold
from ..wording import Option, Wording
from .identity import digest
from .states import dumps, loads

__all__ = ["CheckpointFolder"]

SECONDS = 2.0
"""The shortest time between two writings."""
PATIENCE = 20.0
"""A writing that took long is followed by so many times its duration without another: it costs 5 % at most."""


class CheckpointFolder(Executor):
    """An executor that saves partial results in a folder, so that an interrupted run can be resumed.

    Parts of the log are merged in their order, and the state of all that are merged is written every few seconds: one
    small file for each pass over the log, by a temporary name. A run that was killed at any moment goes on from there
    when it is called again, with the same result to the last bit. Other jobs have other files in the folder.

    Parameters:
        folder: where the states are kept; it is made if it is missing, and may be deleted when the job is done.
        executor: what runs the parts; by default as many threads as there are cores.
        fresh: whether to begin again, also where the log has changed.

    Raises:
        StateError: the log is not what it was when the kept state was begun; or a kept file is damaged.
        UsageError: a log whose changes cannot be noticed, such as a table in memory.

    Examples:
        >>> keep = offrank.CheckpointFolder("kept")
        >>> result = offrank.evaluate("offrank-demo/log.parquet", "top(new_score)", executor=keep)
    """

    def __init__(
        self, folder: str | os.PathLike[str], executor: Executor | None = None, *, fresh: bool = False
    ) -> None:
        self.folder, self.executor, self.fresh = Path(folder), executor, fresh
        self._begun: set[Path] = set()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run by the executor inside.

        Parameters:
            fn: the function; what follows are its arguments.

        Returns:
            The future of what it returns.

        Raises:
            UsageError: there is none.

        Examples:
            >>> import concurrent.futures
            >>> with offrank.CheckpointFolder("kept", concurrent.futures.ThreadPoolExecutor(1)) as folder:
            ...     folder.submit(len, "abc").result()
            3
        """
        if self.executor is None:
            raise UsageError(
                "this checkpoint has no executor", "give one: CheckpointFolder(folder, ThreadPoolExecutor(4))"
            )
        return self.executor.submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Shut down the executor inside.

        Parameters:
            wait: whether to wait for what runs.
            cancel_futures: whether to give up what has not begun.

        Examples:
            >>> offrank.CheckpointFolder("kept").shutdown()
        """
        if self.executor is not None:
            self.executor.shutdown(wait, cancel_futures=cancel_futures)

    def kept(self, source: Source, fold: Fold, parts: int) -> Kept:
        """Return what is kept of a pass over a log, and begin it if nothing is.

        Parameters:
            source: the log.
            fold: what is counted.
            parts: of how many parts.

        Returns:
            The state of all merged parts, which more may be added to.

        Raises:
            StateError, UsageError: see above.

        Examples:
            >>> from offrank.checks.rows import ImpressionsFold
            >>> log = offrank.read_log("offrank-demo/log.parquet")
            >>> offrank.CheckpointFolder("kept").kept(log, ImpressionsFold(), log.parts()).done
            0
        """
        stamp = stamp_of(source)
        if stamp is None:
            raise UsageError(
                f"a change of the log could not be detected: {source.describe()}",
                Wording("give files, or omit {}", Option("checkpoint")),
            )
        try:
            path = self.folder / f"{digest((fold, source))}.state"
        except TypeError as error:
            raise UsageError(
                f"this job cannot be distinguished from others: {error}", "use policies that can be pickled"
            ) from error
        self.folder.mkdir(parents=True, exist_ok=True)
        anew = self.fresh and path not in self._begun
        self._begun.add(path)
        found = Kept(path, {**stamp, "number of parts": parts}, None)
        return found if anew or not path.exists() else found.read()


@dataclass
class Kept:
    """The state of the first parts of a log. stamp: what the log is; done: how many parts are merged."""

    path: Path
    stamp: Mapping[str, Any]
    state: Any
    done: int = 0
    _next: float = 0.0

    def read(self) -> Kept:
        """Return the same with what was kept before.

        Raises:
            StateError: it is damaged, or the log is another than then.
        """
        remedy = Wording("begin again: {}, or delete {}", Option("fresh", True), self.path)
        found = loads(self.path.read_bytes(), str(self.path))
        if not isinstance(found, dict) or found.keys() != {"stamp", "done", "state"}:
            raise StateError(f"{self.path} is damaged: it is not a checkpoint", remedy)
        before = found["stamp"]
        for name in dict.fromkeys([*self.stamp, *before]):
            is_now, was = self.stamp.get(name, "not there"), before.get(name, "not there")
            if is_now != was:
                raise StateError(
                    f"the log has changed since this job was started: {name} is {is_now}, but was {was}", remedy
                )
        self.state, self.done = found["state"], found["done"]
        return self

    def keep(self, state: Any, done: int, *, last: bool) -> None:
        """Write the state of so many parts; seldom enough that it costs little."""
        begun = time.monotonic()
        if begun < self._next and not last:
            return
        with atomic_write(self.path) as temporary:
            temporary.write_bytes(dumps({"stamp": dict(self.stamp), "done": done, "state": state}))
        now = time.monotonic()
        self._next = now + max(SECONDS, PATIENCE * (now - begun))
