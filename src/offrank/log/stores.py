"""Stores, `s3://bucket/log`: what fails there is tried again, what does not answer ends, and errors say why."""

from __future__ import annotations

import io
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs

from ..errors import LogError

_LEAST = 1 << 14
"""Bytes of a read at least: a store tells by a page what fails, which a smaller buffer does not hold."""
PATIENCE = {"connect_timeout": 3.0, "request_timeout": 5.0}
"""Seconds without a byte until a request to S3 ends: without them some take many minutes."""
PAUSES, _QUICK = (0.2, 1.0, 3.0), 8.0
"""Seconds before what failed is asked again; and the time after which it is not."""
_AWHILE = 30
"""Seconds that a store is not asked which did not answer: one run asks it in many places."""
_SILENT = "[Tt]imeout|timed out", "the store does not answer", "check the address and the network, or copy the log here"
_FAILS = "", "the store fails", "try it again later, or copy the log here"
_PASSING = _SILENT, _FAILS
_CAUSES = (
    ("ACCESS_DENIED|Forbidden|ermission|TOKEN", "access is denied", "check the credentials and their rights"),
    ("NO_SUCH|NOT_FOUND|not exist", "it is not there", "check the address: it may have been moved or deleted"),
    *_PASSING,
)
"""What the error of a store has in it, the cause and the remedy. The first that fits."""


@dataclass(frozen=True)
class Store:
    """A file system elsewhere, as far as readers ask it. silent: until when it is not asked, for it did not answer."""

    system: Any
    silent: list[tuple[float, LogError]] = field(default_factory=list, compare=False, repr=False)

    @classmethod
    def of(cls, system: Any) -> Store:
        """Return a store whose requests end."""
        if system.type_name == "s3":
            make, (how,) = system.__reduce__()
            once = pafs.AwsStandardS3RetryStrategy(max_attempts=1)
            system = make({**how, **PATIENCE, "retry_strategy": once})
        return cls(system)

    def __reduce__(self) -> Any:
        return Store.of, (self.system,)

    def get_file_info(self, of: Any) -> Any:
        """Return what is at a path, at some, or in a folder."""
        return self.answer(partial(self.system.get_file_info, of), str(getattr(of, "base_dir", of)))

    def open_input_file(self, path: str) -> pa.NativeFile:
        """Open a file."""
        return pa.PythonFile(_File(self, path), mode="r")

    def open_input_stream(self, path: str, compression: str | None) -> pa.NativeFile:
        """Open a file as a stream, which is unpacked."""
        file = self.open_input_file(path)
        return file if compression is None else pa.CompressedInputStream(file, compression)

    def answer(self, ask: Callable[[], Any], path: str) -> Any:
        """Return the answer of the store, which is asked again where it fails.

        Raises:
            LogError: it fails for good, with the cause and the remedy.
        """
        begun, pauses = time.time(), [*PAUSES]
        if self.silent and begun < self.silent[-1][0]:
            raise self.silent[-1][1]
        while True:
            try:
                return ask()
            except OSError as error:
                known = next(each for each in _CAUSES if re.search(each[0], str(error)))
                _, cause, remedy = known
                if pauses and known in _PASSING and time.time() < begun + _QUICK:
                    time.sleep(pauses.pop(0))
                    continue
                found = LogError(f"{path} cannot be read: {cause} ({str(error).strip()})", remedy)
                if known == _SILENT:
                    self.silent[:] = [(time.time() + _AWHILE, found)]
                raise found from error


class _File(io.RawIOBase):
    """A file of a store, open."""

    def __init__(self, store: Store, path: str) -> None:
        super().__init__()
        self.store, self.path, self.at = store, path, 0
        self.source = store.answer(partial(store.system.open_input_file, path), path)
        self.size = self.source.size()

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
        ask = partial(self.source.read_at, max(end - first, _LEAST), first)
        found: bytes = self.store.answer(ask, self.path)[self.at - first : end - first]
        self.at = end
        return found
