"""How the tests call the command line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
from click.testing import CliRunner, Result

from offrank.cli import main
from tests.jobs.logs import search

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


def written(folder: Path) -> Path:
    """The good log as a Parquet file."""
    path = folder / "log.parquet"
    pq.write_table(search(), path)
    return path
