"""Standard input and pipes as files: a log may be read more than once, so what comes is kept until the process ends."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from contextlib import ExitStack
from functools import cache
from pathlib import Path

from ..errors import UsageError
from ..language.files import scratch

STANDARD_INPUT, KEPT = "-", "standard-input"
"""What stands for standard input, and the name of the file that it is kept in."""


def spooled(path: str) -> str:
    """Return the path of a file with what comes from a pipe, `-` for standard input; any other path as it is."""
    name = Path(path)
    if not (name.is_fifo() or (path == STANDARD_INPUT and not name.exists())):
        return path
    if path == STANDARD_INPUT and sys.stdin.isatty():
        raise UsageError("nothing is piped into standard input", "write `offrank inspect - < log.csv`")
    return _kept(path, name.stat().st_ino if path != STANDARD_INPUT else 0)


@cache
def _kept(path: str, _pipe: int) -> str:
    """Copy a pipe to a temporary file, once, which is deleted when the process ends. _pipe: which of this name."""
    folders = ExitStack()
    folder = folders.enter_context(scratch(Path(tempfile.gettempdir()), "offrank-"))
    folder.chmod(0o700)
    atexit.register(_remove, folders, os.getpid())
    kept = folder / (KEPT if path == STANDARD_INPUT else "pipe")
    with ExitStack() as open_files, kept.open("wb") as file:
        pipe = sys.stdin.buffer if path == STANDARD_INPUT else open_files.enter_context(Path(path).open("rb"))
        shutil.copyfileobj(pipe, file, 1 << 20)
    return str(kept)


def _remove(folders: ExitStack, process: int) -> None:
    if os.getpid() == process:  # a child of a fork leaves it to its parent
        folders.close()
