"""How much more memory this process may take, so that a job that cannot end is refused before it fills it."""

from __future__ import annotations

import ctypes
import importlib
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from ..errors import LogError

_MACHINE, _OWN, _GROUPS = Path("/proc/meminfo"), Path("/proc/self/cgroup"), Path("/sys/fs/cgroup")
T = TypeVar("T")
_SOME = 100_000
"""Bytes after which glibc looks whether it keeps too much."""
_STATUS = Path("/proc/self/status")
_FILES = (
    ("memory.max", "memory.current", "inactive_file"),
    ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)
"""Of a memory group, of the second version and the first: its limit, its use, and what of this can be given up."""
_LIMITED = {"RLIMIT_AS": "VmSize:", "RLIMIT_DATA": "VmData:"}
"""Limits of a process (`ulimit -v`, `ulimit -d`), and its use as the system tells it."""


def refuse_without_room(needed: float, what: str, remedy: str) -> None:
    """Raise if so many bytes more are not there. what: what needs them.

    Raises:
        LogError: they are not.
    """
    there = available()
    if needed > there:
        more = f"{needed / 2**30:,.1f} GiB more of memory, and {max(there, 0.0) / 2**30:,.1f} GiB are there"
        raise LogError(f"{what} need about {more}", remedy)


def given_back(found: T) -> T:
    """What was found, when the system has what was freed but kept for later: after a pass, what its threads had."""
    pa.default_memory_pool().release_unused()
    with large_given_back(_SOME), suppress(AttributeError, OSError, TypeError, RuntimeError):  # RuntimeError: no room
        # What a thread has freed is kept for later ones: some that are there at once have all of it.
        together = threading.Barrier(2 + (os.cpu_count() or 1))
        each = [threading.Thread(target=_free_some, args=(together,)) for _ in range(together.parties)]
        for act in (threading.Thread.start, threading.Thread.join):
            for thread in each:
                act(thread)
        ctypes.CDLL(None).malloc_trim(0)
    return found


@contextmanager
def large_given_back(kept: int = 16 << 20) -> Iterator[None]:
    """Arrays of 4 MB or more go back to the system when they are freed, and all that is freed beyond `kept` bytes.

    Before and after, glibc keeps 64 MB of arrays up to 32 MB, which is faster where there is a batch after others.
    """
    _limit(kept, 4 << 20)
    try:
        yield
    finally:
        _limit(64 << 20, 32 << 20)


def _limit(kept: int, alone: int) -> None:
    with suppress(AttributeError, OSError, TypeError):  # others than glibc have no such limits
        library = ctypes.CDLL(None)
        library.mallopt(-1, kept)
        library.mallopt(-3, alone)


def _free_some(together: threading.Barrier) -> None:
    some = bytearray(_SOME)
    with suppress(threading.BrokenBarrierError):
        together.wait(1)
    del some


def available() -> float:
    """The bytes that are free on this machine, in each memory group (cgroup) of this process, and in its own limits."""
    return min([*_free(), *_own(), *(left for group in _groups() for left in _left(group))], default=float("inf"))


def _free() -> Iterator[float]:
    """The free bytes of this machine, where it tells."""
    with suppress(OSError, ValueError):
        yield from (1024 * float(value) for name, value in _told(_MACHINE) if name == "MemAvailable:")


def _own() -> Iterator[float]:
    """What the limits of this process leave, where it has some."""
    with suppress(ImportError, OSError, ValueError):
        resource: Any = importlib.import_module("resource")
        used = {name: 1024 * float(value) for name, value in _told(_STATUS) if name in _LIMITED.values()}
        for limit, name in _LIMITED.items():
            most = resource.getrlimit(getattr(resource, limit))[0]
            if most != resource.RLIM_INFINITY:
                yield most - used[name]


def _groups() -> Iterator[Path]:
    """The folders of the memory groups of this process, each within the next."""
    with suppress(OSError):
        for line in _OWN.read_text().splitlines():
            _, kinds, name = line.split(":", 2)
            if not kinds or "memory" in kinds.split(","):
                root = _GROUPS / kinds
                group = root / name.lstrip("/")
                yield from (each for each in (group, *group.parents) if each.is_relative_to(root))


def _left(group: Path) -> Iterator[float]:
    """What a memory group may still take, where it has a limit; the cached files of others are not counted as used."""
    for limit, used, cached in _FILES:
        with suppress(OSError, ValueError):  # there are none of the other version; a limit may be the word max
            given_up = sum(float(value) for name, value in _told(group / "memory.stat") if name == cached)
            yield float(int((group / limit).read_text())) - float((group / used).read_text()) + given_up


def _told(path: Path) -> Iterator[tuple[str, str]]:
    """The names and numbers of a file with one in each line."""
    for line in path.read_text().splitlines():
        name, value, *_ = *line.split(), "", ""
        yield name, value
