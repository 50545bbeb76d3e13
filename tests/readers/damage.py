"""Reads damaged files, one after another: run as a process of its own, since a crash must fail a test, not end it.

Prints a line for each: format, number and `same`, `other` (another answer), or `error` and whether it names the file.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from unittest.mock import patch

import pyarrow.parquet as pq

import offrank
from benchmarks import damage
from offrank.errors import LogError
from offrank.log.source import Needs
from tests.readers.plain import rows

_ROLES = ("clicks", "candidates", "propensity", "inclusion")
NEEDED = Needs(frozenset(_ROLES), scores=frozenset(["new"]), labels=frozenset(["segment"]))
ROWS = 60

log = partial(damage.log, ROWS)
parquet = damage.parquet(ROWS, write_page_checksum=True)


def converted(path: Path) -> None:
    with patch("offrank.readers.convert._GROUP_ROWS", ROWS // 3):
        offrank.convert(offrank.read_log(log()), path)


FORMATS: dict[str, Callable[[Path], object]] = {
    "file.arrow": damage.arrow(None, ROWS),
    "packed.arrow": damage.arrow("lz4", ROWS),
    "stream.arrow": partial(damage.stream, rows=ROWS),
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
            path.write_bytes(damage.damaged(content, random.Random(f"{name} {trial}")))
            print(name, trial, end=" ", flush=True)
            print(how_read(path, truth))


def how_read(path: Path, truth: object) -> str:
    """How a damaged file is read."""
    try:
        found = rows(offrank.read_log(path), NEEDED)
    except LogError as error:
        return "error named" if path.name in str(error) else f"error not named: {error}"
    return "same" if json.dumps(found) == json.dumps(truth) else "other"


def footers(path: Path) -> None:
    """Set each byte of the footer of a Parquet file to zero, one after another."""
    pq.write_table(log(), path)
    content, truth = path.read_bytes(), rows(offrank.read_log(path), NEEDED)
    for at in range(len(content) - 8 - int.from_bytes(content[-8:-4], "little"), len(content)):
        path.write_bytes(content[:at] + b"\0" + content[at + 1 :])
        print(path.name, at, end=" ", flush=True)
        print(how_read(path, truth))


if __name__ == "__main__":
    if sys.argv[2] == "footers":
        footers(Path(sys.argv[1]) / "log.parquet")
    else:
        main(Path(sys.argv[1]), int(sys.argv[2]))
