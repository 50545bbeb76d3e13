"""Commands on bad days, each in a fork of this process, which has no threads: `python -m tests.cli.forking`.

Standard input has a list of [folder, words, name of what goes wrong], standard output one of [exit code, what is said].
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import pyarrow.parquet as pq

from offrank.cli import main
from offrank.language import files


def full_disk() -> None:
    sys.dont_write_bytecode = True  # the interpreter would keep the first 60 bytes of modules that it compiles
    resource.setrlimit(resource.RLIMIT_FSIZE, (60, 60))


def interruption() -> None:
    """Ctrl-C at the worst moment: all is written, and the file has not got its name yet."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    files.refuse_kind = lambda *_: os.kill(os.getpid(), signal.SIGINT)  # type: ignore[assignment]


def while_reading(number: int) -> None:
    """A signal while rows are read, by whatever thread; nothing more is read after it."""

    def instead(*_: object, **__: object) -> None:
        os.kill(os.getpid(), number)
        time.sleep(60)

    signal.signal(signal.SIGINT, signal.default_int_handler)
    pq.ParquetFile.iter_batches = instead


CAUSES: dict[str, Callable[[], None]] = {
    "full disk": full_disk,
    "interruption": interruption,
    "Ctrl-C in reading": partial(while_reading, signal.SIGINT),
    "kill in reading": partial(while_reading, signal.SIGTERM),
}


def forked(folder: str, words: list[str], cause: str) -> tuple[int, str]:
    """Run a command in a child, prepared for its bad day; return its exit code and what it said."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        code = 99
        with suppress(BaseException):
            os.chdir(folder)
            os.dup2(writing, 1)
            os.dup2(writing, 2)
            sys.stdout, sys.stderr = (os.fdopen(number, "w", closefd=False) for number in (1, 2))
            CAUSES[cause]()
            try:
                main([*words, "--quiet"], standalone_mode=False)
                code = 0
            except SystemExit as left:
                code = int(left.code or 0)
            sys.stderr.flush()
        os._exit(code)
    os.close(writing)
    with os.fdopen(reading) as said:
        told = said.read()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), told


def files_in(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


if __name__ == "__main__":
    json.dump([forked(*asked) for asked in json.load(sys.stdin)], sys.stdout)
