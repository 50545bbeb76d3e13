"""The same log by other threads, batches, row groups, files, orders, hash seeds, locales: how far do the numbers move?

Each verb writes its JSON in a process of its own. Its numbers, floats and whole ones, are compared with those of a base
run (one thread, one file, one row group): |a - b| / max(|a|, |b|, 1e-9), so that the rounding of a zero is none.

    python -m benchmarks.same_bits [--rows 6000] [--write docs/reference/reliability.md]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks._page import generated

LOGGED = ["--logging", "plackett_luce(old_score)"]
TARGET = ["--target", "plackett_luce(new_score)"]
FIVE = ["-e", "ips,snips,snipm,snrips,controlled(ips)"]
VERBS: dict[str, list[str]] = {
    "evaluate": ["evaluate", "LOG", *LOGGED, *TARGET, *FIVE, "--by", "device", "--json", "OUT"],
    "compare": ["compare", "LOG", *LOGGED, *TARGET, "--target", "uniform", "--json", "OUT"],
    "check": ["check", "LOG", *LOGGED, "--json", "OUT"],
    "measure": ["measure", "LOG", "--score", "new_score", "--score", "old_score", *LOGGED, "--json", "OUT"],
    "clicks fit": ["clicks", "fit", "LOG", "--model", "pbm", "--json", "FITTED", "-o", "OUT"],
    "learn": [
        "learn",
        "LOG",
        *LOGGED,
        "--bits",
        "10",
        "--epochs",
        "2",
        "--method",
        "regression",
        "-o",
        "POLICY",
        "--json",
        "OUT",
    ],
}
ROUNDED = 1e-9
"""A number below this counts as one of this size: of a zero the rounding is all there is."""
UNEQUAL = 1e-12
IGNORED = frozenset({"created", "seconds", "command", "versions", "log", "sources", "file", "files", "path"})
RUN = """
import os, sys
import offrank.readers.tables as tables
tables._MOST_VALUES = int(os.environ.get("SAME_BITS_VALUES", tables._MOST_VALUES))
from offrank.cli import main
main(sys.argv[1:])
"""
Written = Callable[[pa.Table, Path], Any]


def in_groups(rows: int | None) -> Written:
    return lambda table, folder: pq.write_table(table, folder / "log.parquet", row_group_size=rows or len(table))


def in_files(count: int, *, backwards: bool = False) -> Written:
    def write(table: pa.Table, folder: Path) -> None:
        edges = np.linspace(0, len(table), count + 1).astype(int)
        for number, (first, end) in enumerate(pairwise(edges.tolist())):
            name = count - number if backwards else number
            pq.write_table(table.slice(first, end - first), folder / f"part-{name:02}.parquet")

    return write


def shuffled(table: pa.Table, folder: Path) -> None:
    order = np.random.default_rng(0).permutation(len(table))
    pq.write_table(table.take(order), folder / "log.parquet")


WHOLE = in_groups(None)
CHANGES: dict[str, tuple[Written, dict[str, str], list[str]]] = {
    "2 threads": (in_groups(500), {}, ["--workers", "2"]),
    "16 threads": (in_groups(500), {}, ["--workers", "16"]),
    "batches of 64 rows": (WHOLE, {"SAME_BITS_VALUES": "64"}, []),
    "batches of 1,000 rows": (WHOLE, {"SAME_BITS_VALUES": "20000"}, []),
    "row groups of 7": (in_groups(7), {}, []),
    "row groups of 1,000": (in_groups(1000), {}, []),
    "5 files": (in_files(5), {}, []),
    "5 files, last first": (in_files(5, backwards=True), {}, []),
    "rows shuffled": (shuffled, {}, []),
    "hash seed 1": (WHOLE, {"PYTHONHASHSEED": "1"}, []),
    "hash seed random": (WHOLE, {"PYTHONHASHSEED": "random"}, []),
    "another locale": (WHOLE, {"LC_ALL": "C.utf8"}, []),
    "another time zone": (WHOLE, {"TZ": "Asia/Kathmandu"}, []),
}


def numbers(found: Any, place: str = "") -> Iterator[tuple[str, float]]:
    """Every number of a result with its place, without times, versions and names of files."""
    if isinstance(found, dict):
        for name, part in found.items():
            if name not in IGNORED:
                yield from numbers(part, f"{place}/{name}")
    elif isinstance(found, list):
        for number, part in enumerate(found):
            yield from numbers(part, f"{place}/{number}")
    elif isinstance(found, int | float) and not isinstance(found, bool):
        yield place, float(found)


def furthest(base: Any, other: Any) -> tuple[float, str]:
    """The largest relative difference of all numbers and its place; infinite where one has a number more."""
    one, two = dict(numbers(base)), dict(numbers(other))
    if one.keys() != two.keys():
        return np.inf, min(one.keys() ^ two.keys())
    away = {at: abs(a - two[at]) / max(abs(a), abs(two[at]), ROUNDED) for at, a in one.items()}
    place = max(away, key=lambda at: away[at])
    return away[place], place


def answer(verb: str, folder: Path, change: tuple[Written, dict[str, str], list[str]], table: pa.Table) -> Any:
    """What a verb says of a log that is written and read so."""
    write, environment, workers = change
    log = folder / "log"
    log.mkdir()
    write(table, log)
    places = {"LOG": str(log), "OUT": "out.json", "FITTED": "fitted.json", "POLICY": "policy.npz"}
    words = [places.get(word, word) for word in VERBS[verb]] + ["--quiet", *(workers or ["--workers", "1"])]
    known = {**os.environ, "PYTHONHASHSEED": "0", "LC_ALL": "C", "TZ": "UTC", **environment}
    run = [sys.executable, "-c", RUN, *words]
    done = subprocess.run(run, cwd=folder, env=known, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 3):
        raise SystemExit(f"{verb}: {done.stderr[-2000:]}")
    return [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]


def compared(verb: str, table: pa.Table, names: list[str]) -> Iterator[tuple[str, float, str]]:
    """The furthest number of each change from the base run, and its place."""
    found = {}
    for name, change in {"base": (WHOLE, {}, []), **{name: CHANGES[name] for name in names}}.items():
        with tempfile.TemporaryDirectory() as made:
            found[name] = answer(verb, Path(made), change, table)
    yield from ((name, *furthest(found["base"], found[name])) for name in names)


def lines(told: dict[str, dict[str, float]]) -> Iterator[str]:
    yield "| change | " + " | ".join(f"`{verb}`" for verb in told) + " |"
    yield "|---|" + "--:|" * len(told)
    for name in CHANGES:
        cells = [said(told[verb][name]) for verb in told]
        yield f"| {name} | " + " | ".join(cells) + " |"


def said(away: float) -> str:
    if away == 0:
        return "0"
    text = "other rows" if away == np.inf else f"{away:.0e}"
    return f"**{text}**" if away > UNEQUAL else text


def logged(rows: int) -> pa.Table:
    """The log of the demo, with features that `learn` reads."""
    with tempfile.TemporaryDirectory() as made:
        words = ["demo", made, "--impressions", str(rows), "--overwrite", "--quiet"]
        subprocess.run([sys.executable, "-c", RUN, *words], check=True, capture_output=True)
        table = pq.read_table(Path(made) / "log.parquet")
    features = pa.array([[[int(item) % 97] for item in items] for items in table["candidates"].to_pylist()])
    return table.append_column("features", features)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=6000)
    parser.add_argument("--only", help="one verb")
    parser.add_argument("--write", type=Path, help="the page that includes the table")
    given = parser.parse_args()
    table, told = logged(given.rows), {}
    for verb in VERBS:
        if given.only in (None, verb):
            found = list(compared(verb, table, list(CHANGES)))
            told[verb] = {name: away for name, away, _ in found}
            for name, away, place in found:
                print(f"{verb}: {name}: {away:.1e} {place}", flush=True)
    print(*lines(told), sep="\n")
    if given.write:
        generated(given.write, "same bits", list(lines(told)), "benchmarks/same_bits.py")


if __name__ == "__main__":
    main()
