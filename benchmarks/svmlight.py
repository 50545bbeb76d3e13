"""Judged documents in SVMlight's format, read by one thread, against scikit-learn's loader.

The sets are simulated (`mslr_like`: 136 features with six decimals, written out) and, beside them, numbers with as many
digits as a double has. scikit-learn reads a smaller piece and is compared by rate.
Last, what reading takes of memory beyond the result, in a process of its own.

    python benchmarks/svmlight.py [--queries 600] [--repeats 5] [--folder /tmp]
"""

from __future__ import annotations

import argparse
import gzip
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
from _timing import Times, in_turn
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_svmlight_file

from offrank.log.graded_queries import Judged
from offrank.readers.svmlight import read_svmlight, write_svmlight
from offrank.simulation.judged_queries import mslr_like

SMALL = 25
REFERENCE = "scikit-learn, a piece"

PEAK = r"""
import re, sys
from offrank.readers.svmlight import read_svmlight
high = lambda: int(re.search(r"VmHWM:\s+(\d+)", open("/proc/self/status").read())[1]) / 1024
read_svmlight(sys.argv[1])
before = high()
judged = read_svmlight(sys.argv[2])
print(high() - before, judged.features.nbytes / 2**20)
"""  # the small set first, so that the libraries are not counted


def digits(judged: Judged) -> Judged:
    """The same set with features of 15 to 17 digits."""
    features = np.random.default_rng(0).normal(size=judged.features.shape)
    return Judged(judged.query, judged.first, judged.grade, features, judged.document)


def measure(folder: Path, queries: int, repeats: int) -> None:
    judged = mslr_like(queries)
    piece = judged.take(np.arange(min(SMALL, queries)))
    sets = {"text": judged, "piece": piece, "digits": digits(piece)}
    paths = {name: folder / f"{name}.txt" for name in sets}
    for name, each in sets.items():
        write_svmlight(each, paths[name])
    packed = folder / "packed.txt.gz"
    packed.write_bytes(gzip.compress(paths["text"].read_bytes(), compresslevel=6))
    assert read_svmlight(paths["text"]).features.tobytes() == judged.features.tobytes()
    jobs = {
        REFERENCE: partial(load_svmlight_file, str(paths["piece"]), query_id=True),
        "offrank, the same piece": partial(read_svmlight, paths["piece"]),
        "offrank": partial(read_svmlight, paths["text"]),
        "offrank, packed": partial(read_svmlight, packed),
        "offrank, 17 digits": partial(read_svmlight, paths["digits"]),
    }
    read = [paths["piece"], paths["piece"], paths["text"], paths["text"], paths["digits"]]
    sizes = {name: path.stat().st_size for name, path in zip(jobs, read, strict=True)}
    show(in_turn(jobs, repeats), sizes, judged.rows)
    done = subprocess.run(
        [sys.executable, "-c", PEAK, paths["piece"], paths["text"]], check=True, capture_output=True, text=True
    )
    peak, result = map(float, done.stdout.split())
    Console(width=120).print(f"peak memory of reading: {peak:,.0f} MiB; the features alone have {result:,.0f} MiB")


def show(times: dict[str, Times], sizes: dict[str, int], rows: int) -> None:
    rate = {name: sizes[name] / found.best / 1e6 for name, found in times.items()}
    table = Table(title=f"{rows:,} documents, one thread; MB of unpacked text", title_justify="left")
    table.add_column("job")
    for heading in ("MB", "best s", "median s", "MB/s, best", "times scikit-learn"):
        table.add_column(heading, justify="right")
    for name, found in times.items():
        cells = (sizes[name] / 1e6, found.best, found.median, rate[name], rate[name] / rate[REFERENCE])
        table.add_row(name, *(f"{cell:,.3g}" for cell in cells))
    Console(width=120).print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=600)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--folder")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        measure(Path(folder), chosen.queries, chosen.repeats)


if __name__ == "__main__":
    main()
