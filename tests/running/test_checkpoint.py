"""A run that was killed goes on from what was kept, to the same bytes; a log that changed meanwhile is noticed."""

from __future__ import annotations

import json
import os
import pickle
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import offrank
from offrank.errors import StateError, UsageError
from offrank.running import Checkpoint
from offrank.running.identity import digest
from tests.folds.test_every_fold import IN_ORDER, LOGS, SAMPLES, folds

WORDS = ["--target", "top(new)", "--logging", "plackett_luce(old)", "-e", "snips, ipm", "--interval", "bootstrap"]
PARTS = 24


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng, rows = np.random.default_rng(0), 40 * PARTS
    slates = np.argsort(rng.random((rows, 4)), axis=1)[:, :3]
    table = {
        "slate": slates.tolist(),
        "candidates": [[0, 1, 2, 3]] * rows,
        "clicks": (rng.random((rows, 3)) < 0.3).astype(float).tolist(),
        "old": np.zeros((rows, 4)).tolist(),
        "new": rng.random((rows, 4)).tolist(),
        "query": rng.integers(0, 99, rows),
    }
    path = tmp_path_factory.mktemp("log") / "log.parquet"
    pq.write_table(pa.table(table), path, row_group_size=40)
    return path


SLOW = """
import sys, time
from offrank.readers.stored import ParquetTable
from offrank.running import checkpoint
pieces, checkpoint._SECONDS, checkpoint._PATIENCE = ParquetTable.pieces, 0.0, 0.0
def slowly(self, part, columns):
    time.sleep(float(sys.argv[1]))
    print(part, flush=True)
    yield from pieces(self, part, columns)
ParquetTable.pieces = slowly
from offrank.cli import main
main(sys.argv[2:])
"""


def command(log: Path, *more: str, pause: float = 0.0) -> list[str]:
    words = ["evaluate", str(log), *WORDS, "--workers", "2", "--quiet", *more]
    return [sys.executable, "-c", SLOW, str(pause), *words]


def told(path: Path) -> str:
    """The JSON but for when it was made and by which words."""
    return re.sub(r'"(created|command)": "[^\n]*', "", path.read_text())


def test_a_killed_run_goes_on_to_the_same_bytes(log: Path, tmp_path: Path) -> None:
    whole, kept = tmp_path / "whole.json", tmp_path / "kept"
    subprocess.run(command(log, "--json", str(whole)), check=True, stdout=subprocess.DEVNULL)
    begun = []
    for parts in (1, 9, 14):  # killed once so many more parts were begun
        words = command(log, "--checkpoint", str(kept), "--json", str(tmp_path / "never.json"), pause=0.02)
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None
            seen = [int(next(child.stdout)) for _ in range(parts)]
            os.kill(child.pid, signal.SIGKILL)
        begun.append(seen[0])
    assert not (tmp_path / "never.json").exists()
    assert begun[0] == 0
    assert 0 < begun[2] < PARTS
    words = command(log, "--checkpoint", str(kept), "--json", str(tmp_path / "again.json"))
    done = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True)
    assert 0 < len(done.stdout.split()) < PARTS
    assert told(tmp_path / "again.json") == told(whole)
    assert len([path for path in kept.iterdir() if not path.name.startswith(".")]) == 1
