"""The same log by other threads, files, orders, hash seeds, locales, processors and so on: how far do the numbers move?

All verbs write their JSON under each change. Its numbers, floats and whole ones, are compared with those of a base run
(one thread, one file, row groups of 500): |a - b| / max(|a|, |b|, 1e-9), so that the rounding of a zero is none. The
places of rows in the log are compared only where no row changes its place.

    python -m benchmarks.same_bits [--rows 2000] [--write]

An older processor is that of scripts/as-older-processor, for which every loop is compiled anew: some minutes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import offrank
from benchmarks._page import markdown_head, markdown_row, run

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
ROOT = Path(__file__).resolve().parent.parent
IGNORED = frozenset({"created", "seconds", "command", "versions", "log", "sources", "file", "files", "path"})
RUN = """
import concurrent.futures as futures, json, multiprocessing, sys
import offrank.readers.tables as tables
import offrank.running.executors
from offrank.cli import main

class Processes(futures.ProcessPoolExecutor):
    def __init__(self, workers):
        super().__init__(workers, multiprocessing.get_context("spawn"))

if __name__ == "__main__":
    usual, threads, codes = tables._MOST_VALUES, futures.ThreadPoolExecutor, set()
    for words, values, processes in json.loads(sys.stdin.read()):
        tables._MOST_VALUES = values or usual
        futures.ThreadPoolExecutor = Processes if processes else threads  # --workers makes these
        try:
            main(words)
        except SystemExit as ended:
            codes.add(ended.code)
    sys.exit(not codes <= {0, 3, None})
"""
Written = Callable[[pa.Table, Path], Any]


def in_groups(rows: int) -> Written:
    return lambda table, folder: pq.write_table(table, folder / "log.parquet", row_group_size=rows)


def in_files(count: int, *, backwards: bool = False) -> Written:
    def write(table: pa.Table, folder: Path) -> None:
        edges = np.linspace(0, len(table), count + 1).astype(int)
        for number, (first, end) in enumerate(pairwise(edges.tolist())):
            name = count - number if backwards else number
            pq.write_table(table.slice(first, end - first), folder / f"part-{name:02}.parquet")

    return write


USUAL = in_groups(500)


def shuffled(table: pa.Table, folder: Path) -> None:
    order = np.random.default_rng(0).permutation(len(table))
    USUAL(table.take(order), folder)


@dataclass(frozen=True)
class Change:
    """How a log is written, and how it is read. values: of a batch; before: words of a command that runs the verbs."""

    write: Written = USUAL
    workers: int = 1
    values: int | None = None
    processes: bool = False
    environment: tuple[str, ...] = ()
    before: tuple[str, ...] = ()


CHANGES: dict[str, Change] = {
    "2 threads": Change(workers=2),
    "16 threads": Change(workers=16),
    "2 processes": Change(workers=2, processes=True),
    "batches of 64 values": Change(values=64),
    "batches of 20,000 values": Change(values=20_000),
    "one row group": Change(in_groups(1_000_000)),
    "row groups of 7": Change(in_groups(7)),
    "5 files": Change(in_files(5)),
    "5 files, last first": Change(in_files(5, backwards=True)),
    "rows shuffled": Change(shuffled),
    "a random hash seed": Change(environment=("PYTHONHASHSEED=random",)),
    "another locale": Change(environment=("LC_ALL=C.utf8",)),
    "another time zone": Change(environment=("TZ=Asia/Kathmandu",)),
    "an older processor": Change(before=(str(ROOT / "scripts/as-older-processor"),)),
}
MOVED = ("5 files, last first", "rows shuffled")
"""Changes that give rows another place."""
PLACES = frozenset({"row"})
"""What says where a row stands in the log."""


def numbers(found: Any, ignored: frozenset[str], place: str = "") -> Iterator[tuple[str, float]]:
    """Every number of a result with its place, without times, versions and names of files."""
    if isinstance(found, dict):
        for name, part in found.items():
            if name not in ignored:
                yield from numbers(part, ignored, f"{place}/{name}")
    elif isinstance(found, list):
        for number, part in enumerate(found):
            yield from numbers(part, ignored, f"{place}/{number}")
    elif isinstance(found, int | float) and not isinstance(found, bool):
        yield place, float(found)


def furthest(base: Any, other: Any, *, moved: bool = False) -> tuple[float, str]:
    """The largest relative difference of all numbers and its place; infinite where one has a number more."""
    one, two = (dict(numbers(found, IGNORED | (PLACES if moved else set()))) for found in (base, other))
    if one.keys() != two.keys():
        return np.inf, min(one.keys() ^ two.keys())
    away = {at: abs(a - two[at]) / max(abs(a), abs(two[at]), ROUNDED) for at, a in one.items()}
    place = max(away, key=lambda at: away[at])
    return away[place], place


def answers(table: pa.Table, changes: Mapping[str, Change], verbs: Iterable[str]) -> dict[str, dict[str, Any]]:
    """What each verb says of a log under each change; changes of one environment share a process."""
    alike: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for name, change in changes.items():
        alike.setdefault((change.environment, change.before), []).append(name)
    found: dict[str, dict[str, Any]] = {name: {} for name in changes}
    for (environment, before), names in alike.items():
        with tempfile.TemporaryDirectory() as made:
            asked, outputs = [], {}
            for number, name in enumerate(names):
                (folder := Path(made) / str(number) / "log").mkdir(parents=True)
                changes[name].write(table, folder)
                for verb in verbs:
                    outputs[name, verb] = [folder.parent / f"{verb}-{number}.json" for number in range(2)]
                    asked.append(job(verb, folder, outputs[name, verb], changes[name]))
            answered(Path(made), asked, environment, before)
            for (name, verb), paths in outputs.items():
                found[name][verb] = [json.loads(path.read_text()) for path in paths if path.exists()]
    return found


def answered(folder: Path, asked: list[Any], environment: tuple[str, ...], before: tuple[str, ...]) -> None:
    """Run the verbs in a process of their own."""
    (folder / "run.py").write_text(RUN)
    known = {**os.environ, "PYTHONHASHSEED": "0", "LC_ALL": "C", "TZ": "UTC", "PYTHON": sys.executable}
    known |= {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    run = ["env", *environment, *before, sys.executable, str(folder / "run.py")]
    done = subprocess.run(
        run, cwd=folder, env=known, input=json.dumps(asked), capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(done.stderr[-3000:])


def job(verb: str, log: Path, outputs: list[Path], change: Change) -> list[Any]:
    """The words of a verb's command with names of files, and how it reads."""
    places = {"LOG": log, "OUT": outputs[0], "FITTED": outputs[1], "POLICY": log.parent / "policy.npz"}
    words = [str(places.get(word, word)) for word in VERBS[verb]]
    return [[*words, "--quiet", "--workers", str(change.workers)], change.values, change.processes]


def said(away: float) -> str:
    if away == 0:
        return "0"
    text = "another" if away == np.inf else f"{away:.0e}"
    return f"**{text}**" if away > UNEQUAL else text


def logged(rows: int) -> pa.Table:
    """The log of the demo, with features that `learn` reads."""
    with tempfile.TemporaryDirectory() as made:
        offrank.demo(made, impressions=rows, overwrite=True)
        table = pq.read_table(Path(made) / "log.parquet")
    features = pa.array([[[int(item) % 97] for item in items] for items in table["candidates"].to_pylist()])
    return table.append_column("features", features)


def same_bits(*, rows: int = 2000, only: str = "") -> Iterator[str]:
    """How far the numbers of each verb move; only: changes whose name holds it."""
    chosen = {name: change for name, change in CHANGES.items() if only in name}
    found = answers(logged(rows), {"base": Change(), **chosen}, VERBS)
    yield from markdown_head("change", *(f"`{verb}`" for verb in VERBS))
    for name in chosen:
        away = {verb: furthest(found["base"][verb], found[name][verb], moved=name in MOVED) for verb in VERBS}
        print(f"{name}:", *(f"{verb} {far:.1e} {place};" for verb, (far, place) in away.items()), file=sys.stderr)
        yield markdown_row(name, *(said(far) for far, _ in away.values()))


COMMANDS = {same_bits: "same bits"}
if __name__ == "__main__":
    run(__file__, COMMANDS)
