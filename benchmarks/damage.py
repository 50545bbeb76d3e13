"""Damaged files: bits flipped, bytes changed and ends cut, of every format; what an evaluation then says.

    python -m benchmarks.damage --variants 250
    python -m benchmarks.damage --variants 250 --page docs/contributing/reliability.md

Each file is read in a process of its own kind, which is started again if damage ends it: that is counted as a crash.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq

import offrank
from benchmarks._page import generated
from offrank.errors import OffrankError

N = 120
OUTCOMES = ("refused, named", "the same answer", "another answer", "refused, not named", "foreign exception", "crash")
CHECKED = ("converted", "state", "checksums", "gz")
"""What the names of formats with checksums hold."""


def log(rows: int = N) -> pa.Table:
    """A log of texts, whole numbers, fractions and nulls."""
    rng = np.random.default_rng(0)
    items = [[f"i{item}" for item in rng.permutation(6)[:4]] for _ in range(rows)]
    return pa.table(
        {
            "slate": [each[:3] for each in items],
            "candidates": items,
            "clicks": rng.integers(0, 2, (rows, 3)).tolist(),
            "propensity": rng.uniform(0.1, 1, rows),
            "inclusion": rng.uniform(0.1, 1, rows),
            "new": rng.random((rows, 4)).tolist(),
            "segment": [[None, "a", "b"][i % 3] for i in range(rows)],
        }
    )


def parquet(rows: int = N, **how: Any) -> Callable[[Path], object]:
    """What writes a log in three row groups."""
    return lambda path: pq.write_table(log(rows), path, row_group_size=rows // 3, **how)


def arrow(compression: str | None, rows: int = N) -> Callable[[Path], None]:
    """What writes an Arrow file of three batches."""

    def write(path: Path) -> None:
        options = pa.ipc.IpcWriteOptions(compression=compression)
        with pa.ipc.new_file(path, log().schema, options=options) as file:
            file.write_table(log(rows), max_chunksize=rows // 3)

    return write


def stream(path: Path, rows: int = N) -> None:
    """Write an Arrow stream of three batches."""
    with pa.ipc.new_stream(path, log().schema) as file:
        file.write_table(log(rows), max_chunksize=rows // 3)


def lines() -> bytes:
    return "".join(f"{json.dumps(row)}\n" for row in log().to_pylist()).encode()


def state(path: Path) -> None:
    offrank.evaluate(log(), "top(new)", "logged", "ips", cluster=None, state=path)


FORMATS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "Parquet, not compressed": ("a.parquet", parquet(compression="none")),
    "Parquet, snappy": ("a.parquet", parquet(compression="snappy")),
    "Parquet, zstd": ("a.parquet", parquet(compression="zstd")),
    "Parquet, snappy, page checksums": ("a.parquet", parquet(compression="snappy", write_page_checksum=True)),
    "Parquet, converted": ("a.parquet", lambda path: offrank.convert(log(), path)),
    "Arrow file": ("a.arrow", arrow(None)),
    "Arrow file, lz4": ("a.arrow", arrow("lz4")),
    "Arrow stream": ("a.arrows", stream),
    "Arrow file, converted": ("a.arrow", lambda path: offrank.convert(log(), path)),
    "JSON lines": ("a.jsonl", lambda path: path.write_bytes(lines())),
    "JSON lines, gz": ("a.jsonl.gz", lambda path: path.write_bytes(gzip.compress(lines()))),
    "state": ("a.state", state),
}


def damaged(content: bytes, rng: random.Random) -> bytes:
    """Flip one bit, or change up to four bytes, two thirds of them near the ends; or cut the file."""
    kind, found = rng.random(), bytearray(content)
    if kind < 0.15:
        return content[: rng.randrange(len(content))]
    ends = min(len(content), 2000)
    for _ in range(1 if kind < 0.7 else rng.randint(2, 4)):
        at = rng.choice([rng.randrange(len(found)), rng.randrange(ends), len(found) - 1 - rng.randrange(ends)])
        found[at] ^= 1 << rng.randrange(8) if kind < 0.7 else rng.randrange(1, 256)
    return bytes(found)


def answer(path: Path) -> tuple[float, int]:
    if path.suffix == ".state":
        found = offrank.merge(path)["ips"]
    else:
        found = offrank.evaluate(path, "top(new)", "logged", "ips", cluster=None)["ips"]
    return found.value, found.n


def variants(name: str, first: int, last: int) -> None:
    """Read variants of one format, and print how each ends, one line for each."""
    file, write = FORMATS[name]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / file
        write(path)
        content, truth = path.read_bytes(), answer(path)
        for number in range(first, last):
            path.write_bytes(damaged(content, random.Random(f"{name} {number}")))
            print(number, end=" ", flush=True)
            try:
                found = answer(path)
            except OffrankError as error:
                print(OUTCOMES[0] if file in str(error) else OUTCOMES[3], flush=True)
            except Exception as error:  # noqa: BLE001  these are what is counted
                print(OUTCOMES[4], flush=True)
                print(name, number, repr(error), file=sys.stderr)
            else:
                print(OUTCOMES[1] if found == truth else OUTCOMES[2], flush=True)


def outcomes(name: str, count: int) -> Counter[str]:
    """Return how the variants of a format end; a process that ends has crashed at the one it was at."""
    found: list[str] = []
    while len(found) < count:
        words = [sys.executable, "-m", "benchmarks.damage", "--only", name, str(len(found)), str(count)]
        done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=False)
        said = [line.partition(" ")[2] for line in done.stdout.splitlines()]
        if done.returncode == 0 and len(said) < count - len(found):
            raise SystemExit(f"{name}: {len(said)} variants were read of {count - len(found)}")
        found += [one.strip() or "crash" for one in said]
        if done.returncode and not said:
            raise SystemExit(f"{name} cannot be read even whole")
    return Counter(found)


def table(found: dict[str, Counter[str]]) -> list[str]:
    """Return the table of the page."""
    rows = [_row(name, each) for name, each in [*found.items(), ("all", sum(found.values(), Counter[str]()))]]
    kept = [each for name, each in found.items() if any(mark in name for mark in CHECKED)]
    bare = [each for name, each in found.items() if not any(mark in name for mark in CHECKED)]
    (lost, of), (other, among) = (
        (sum(each["another answer"] for each in some), sum(each.total() for each in some)) for some in (kept, bare)
    )
    share = 100 * other / max(among, 1)
    return [
        f"| what is damaged | variants | {' | '.join(OUTCOMES)} |",
        "|---|" + "--:|" * (len(OUTCOMES) + 1),
        *rows,
        "",
        f"Of files with checksums {lost} of {of} gave another answer,",
        f"of files without {other} of {among} ({share:.1f} %).",
    ]


def _row(name: str, each: Counter[str]) -> str:
    return f"| {name} | {each.total()} | {' | '.join(str(each[one]) for one in OUTCOMES)} |"


def main(given: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--variants", type=int, default=200, help="of each format")
    parser.add_argument("--page", type=Path)
    parser.add_argument("--only", nargs=3, metavar=("FORMAT", "FIRST", "LAST"))
    said = parser.parse_args(given)
    if said.only:
        variants(said.only[0], int(said.only[1]), int(said.only[2]))
        return
    found = {name: outcomes(name, said.variants) for name in FORMATS}
    print(*table(found), sep="\n")
    if said.page:
        generated(said.page, "damage", table(found), "benchmarks/damage.py")


if __name__ == "__main__":
    main()
