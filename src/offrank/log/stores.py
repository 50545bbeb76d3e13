"""Stores, `s3://bucket/log`: what fails there is tried again, what does not answer ends, and errors say why."""

from __future__ import annotations

import io
import re
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from threading import Thread
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs

from ..errors import LogError

_LEAST = 1 << 14
"""Bytes of a read at least: a store tells by a page what fails, which a smaller buffer does not hold."""
TIMEOUTS = {"connect_timeout": 3.0, "request_timeout": 5.0}
"""Seconds without a byte until a request to S3 ends: without them some take many minutes."""
PATIENCE, _BLOCK = 10.0, 1 << 22
"""Seconds after which nobody waits for another store any more, which has no such limits; the bytes of a read of one."""
PAUSES = (0.2, 1.0, 3.0)
"""Seconds before what failed is asked again."""
_QUICK, _AWHILE = 8.0, 30.0
"""Seconds after which that is not done; and those in which a store that did not answer is not asked at all."""
_CAUSES = (
    ("ACCESS_DENIED|Forbidden|ermission|TOKEN", "access is denied", "check the credentials and their rights"),
    ("NO_SUCH|NOT_FOUND|not exist", "it is not there", "check the address: it may have been moved or deleted"),
    ("imeout|timed out", "the store does not answer", "check the address and the network, or copy the log here"),
    ("", "the store fails", "try it again later, or copy the log here"),
)
"""What the error of a store has in it, the cause and the remedy: the first that fits. The last two may pass."""


@dataclass(frozen=True)
class FileStore:
    """A file system elsewhere, as far as readers ask it.

    ends: whether its requests end by themselves. silent: until when it is not asked, for it did not answer.
    """

    system: Any
    ends: bool = False
    silent: list[tuple[float, LogError]] = field(default_factory=list, compare=False, repr=False)

    @classmethod
    def of(cls, system: Any) -> FileStore:
        """Return a store whose requests end."""
        own: dict[str, Any] = {"gcs": {"retry_time_limit": timedelta(seconds=_QUICK)}}
        own["s3"] = {**TIMEOUTS, "retry_strategy": pafs.AwsStandardS3RetryStrategy(max_attempts=1)}
        if system.type_name in own:
            make, (how,) = system.__reduce__()
            system = make({**how, **own[system.type_name]})
        return cls(system, system.type_name == "s3")

    def __reduce__(self) -> Any:
        return FileStore.of, (self.system,)

    def get_file_info(self, of: Any) -> Any:
        """Return what is at a path, at some, or in a folder."""
        path = of.base_dir if isinstance(of, pafs.FileSelector) else of
        return self.answer(partial(self.system.get_file_info, of), path)

    def open_input_file(self, path: str) -> pa.NativeFile:
        """Open a file."""
        return pa.PythonFile(_File(self, path), mode="r")

    def answer(self, ask: Callable[[], Any], path: str) -> Any:
        """Return the answer of the store, which is asked again where it fails.

        Raises:
            LogError: it fails for good, with the cause and the remedy.
        """
        begun, pauses = time.monotonic(), [*PAUSES]
        if self.silent and begun < self.silent[-1][0]:
            raise self.silent[-1][1]
        while True:
            try:
                return ask() if self.ends else in_time(ask)
            except OSError as error:
                known = next(each for each in _CAUSES if re.search(each[0], str(error)))
                if pauses and known in _CAUSES[2:] and time.monotonic() < begun + _QUICK:
                    time.sleep(pauses.pop(0))
                    continue
                found = LogError(f"{path} cannot be read: {known[1]} ({str(error).strip()})", known[2])
                if known is _CAUSES[2]:
                    self.silent[:] = [(time.monotonic() + _AWHILE, found)]
                raise found from error


def in_time(ask: Callable[[], Any]) -> Any:
    """Return what a call returns; raise a `TimeoutError` if that takes too long: its thread is left to itself then."""
    found: Future[Any] = Future()

    def run() -> None:
        try:
            found.set_result(ask())
        except Exception as error:  # noqa: BLE001  which is raised where it is waited for
            found.set_exception(error)

    Thread(target=run, daemon=True).start()
    with suppress(TimeoutError):
        return found.result(PATIENCE)
    raise TimeoutError(f"timed out: no answer in {PATIENCE:g} seconds")


class _File(io.RawIOBase):
    """A file of a store, open."""

    def __init__(self, store: FileStore, path: str) -> None:
        super().__init__()
        self.store, self.path, self.at = store, path, 0
        self.source = store.answer(partial(store.system.open_input_file, path), path)
        self.size = store.answer(self.source.size, path)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self.at = offset + (0, self.at, self.size)[whence]
        return self.at

    def read(self, size: int = -1) -> bytes:
        end = self.size if size < 0 else min(self.at + size, self.size)
        first = max(min(self.at, self.size - _LEAST), 0)
        most = max(end - first, _LEAST)
        step = most if self.store.ends else min(most, _BLOCK)
        asked = (partial(self.source.read_at, step, at) for at in range(first, first + most, step))
        found = b"".join(self.store.answer(ask, self.path) for ask in asked)[self.at - first : end - first]
        self.at = end
        return found
