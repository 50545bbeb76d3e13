"""Reads damaged files, one after another: run as a process of its own, since a crash must fail a test, not end it.

Prints a line for each: format, number and `same`, `other` (another answer), or `error` and whether it names the file.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq

import offrank
from benchmarks.damage import damaged
from offrank.errors import LogError
from offrank.log.source import Needs
from tests.readers.plain import rows

_ROLES = ("clicks", "candidates", "propensity", "inclusion")
NEEDED = Needs(frozenset(_ROLES), scores=frozenset(["old"]), labels=frozenset(["segment"]))


def log(n: int = 60) -> pa.Table:
    """A log of texts, whole numbers, fractions, and nulls."""
    rng = np.random.default_rng(0)
    items = [[f"i{item}" for item in rng.permutation(6)[:4]] for _ in range(n)]
    return pa.table(
        {
            "slate": [each[:3] for each in items],
            "candidates": items,
            "clicks": rng.integers(0, 2, (n, 3)).tolist(),
            "propensity": rng.uniform(0.1, 1, n),
            "inclusion": rng.uniform(0.1, 1, n),
            "old": rng.random((n, 4)).tolist(),
            "segment": [[None, "a", "b"][i % 3] for i in range(n)],
        }
    )


def arrow(path: Path, compression: str | None = None) -> None:
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_file(path, log().schema, options=options) as file:
        file.write_table(log(), max_chunksize=20)


def stream(path: Path) -> None:
    with pa.ipc.new_stream(path, log().schema) as file:
        file.write_table(log(), max_chunksize=20)


def parquet(path: Path) -> None:
    pq.write_table(log(), path, row_group_size=20, write_page_checksum=True)


def converted(path: Path) -> None:
    with patch("offrank.readers.convert._GROUP_ROWS", 20):
        offrank.convert(offrank.read_log(log()), path)


FORMATS: dict[str, Callable[[Path], None]] = {
    "file.arrow": arrow,
    "packed.arrow": lambda path: arrow(path, "lz4"),
    "stream.arrow": stream,
    "log.parquet": parquet,
    "converted.arrow": converted,
    "converted.parquet": converted,
}


def main(folder: Path, trials: int) -> None:
    for name, write in FORMATS.items():
        path = folder / name
        write(path)
        content, truth = path.read_bytes(), rows(offrank.read_log(path), NEEDED)
        for trial in range(trials):
            path.write_bytes(damaged(content, random.Random(f"{name} {trial}")))
            print(name, trial, end=" ", flush=True)
            try:
                found = rows(offrank.read_log(path), NEEDED)
            except LogError as error:
                print("error", "named" if name in str(error) else f"not named: {error}")
            else:
                print("same" if json.dumps(found) == json.dumps(truth) else "other")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
