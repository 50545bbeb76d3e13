"""How the tests call the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from click.testing import CliRunner, Result

from offrank.cli import main
from tests.verbs.logs import search

TARGET = ("--target", "top(new_score)")
LOGGING = ("--logging", "plackett_luce(old_score)")


def call(*words: object) -> Result:
    """Run a command in this process; an exception that is no exit fails the test."""
    done = CliRunner().invoke(main, [str(word) for word in words])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def process(*words: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "offrank", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


@contextmanager
def ended(running: subprocess.Popen[Any], seconds: float = 300) -> Iterator[subprocess.Popen[Any]]:
    """A process that is killed when it has not ended after so long, so that no test waits for it for ever."""
    watch = threading.Timer(seconds, running.kill)
    watch.start()
    try:
        with running:
            yield running
    finally:
        watch.cancel()


def written(folder: Path) -> Path:
    """The good log as a Parquet file."""
    path = folder / "log.parquet"
    pq.write_table(search(), path)
    return path


def loaded(words: list[str]) -> tuple[str, set[str]]:
    """What a command that ends in an error prints, in a process of its own, and what it has imported."""
    code = f"""
import json, sys
from offrank.cli import main
try:
    main({words!r}, prog_name="offrank")
finally:
    print(json.dumps(sorted(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode in (1, 2)
    return done.stderr, {name.split(".")[0] for name in json.loads(done.stdout.splitlines()[-1])}
