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
            try:
                found = rows(offrank.read_log(path), NEEDED)
            except LogError as error:
                print("error", "named" if name in str(error) else f"not named: {error}")
            else:
                print("same" if json.dumps(found) == json.dumps(truth) else "other")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
