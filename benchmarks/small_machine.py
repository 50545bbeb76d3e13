"""Large logs on a small machine: each either ends within 3 GiB of memory, or is refused before the work starts.

Each case is made by one process and asked about by another, whose private memory is limited (RLIMIT_DATA: what
libraries reserve and never touch does not count). Two peaks are measured: of its private memory, and of all that was
resident (VmHWM), which counts the pages of a mapped file; the system takes those back where memory is short.

    python benchmarks/small_machine.py [--scale 0.001] [--only slates] [--folder FOLDER]
        [--write docs/contributing/reliability.md]

At `--scale 1` the largest file has over 5 GB. One file stands on the disk at a time. Measurements stay in the folder: a
run that was killed goes on; delete FOLDER/small-machine.json to measure again. Lines of the table that are not measured
stay as they are.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import re
import resource
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from _page import generated, table_of
from _worlds import draw, lists, matrix, narrow, reranked, scaled, table

import offrank
from offrank.errors import OffrankError
from offrank.readers.convert import convert

MARK, SCRIPT = "small machine", "benchmarks/small_machine.py"
GIB = 2**30
LIMIT = 3.0
"""GiB of memory that a process may have."""
ENDED = "ended by the benchmark"
PART = 100_000
"""Rows that are drawn; a longer log has them again and again, with other scores."""
TARGET, LOGGING = "plackett_luce(new_score)", "plackett_luce(old_score)"
BYTES_OF_SLATE = 130
"""Of ten items in Parquet: two scores, an item and a click each."""
BYTES_OF_LINE = 33
"""Of an item in a text log."""


@dataclass(frozen=True)
class Case:
    """What is asked of a log. size: its rows at scale 1. make: writes it to a path, with so many rows."""

    name: str
    size: int
    make: Callable[[int, Path], None]
    ask: Callable[[Path], object]
    suffix: str = "parquet"


@dataclass(frozen=True)
class Used:
    """How a case ended, and what its process used: seconds, CPU seconds, the peaks of its memory in GiB."""

    rows: int
    gigabytes: float
    result: str
    wall: float
    cpu: float
    private: float
    resident: float


def as_it_is(log: pa.Table) -> pa.Table:
    return log


def one_row_group(rows: int, path: Path, more: Callable[[pa.Table], pa.Table] = as_it_is) -> None:
    """Slates of ten in one row group. An Arrow file is mapped, so that writing needs little memory."""
    beside = path.with_suffix(".arrow")
    parts = repeated(more(narrow(reranked(min(rows, PART), 10))), rows)
    first = next(parts)
    with pa.ipc.new_file(beside, first.schema) as writer:
        writer.write_table(first)
        for part in parts:
            writer.write_table(part)
    with pa.memory_map(str(beside)) as mapped:
        log = pa.ipc.open_file(mapped).read_all()
        pq.write_table(log, path, row_group_size=len(log), use_dictionary=False, compression="none")
    beside.unlink()


def repeated(log: pa.Table, rows: int) -> Iterator[pa.Table]:
    """The log again and again up to so many rows, each time with other scores."""
    for start in range(0, rows, len(log)):
        yield scaled(log, 1 + start / len(log)).slice(0, rows - start)


def with_key(rows: int, path: Path, *, key: str, text: bool) -> None:
    """Slates of five; each row has a key of its own, as a number or a text."""
    number = pa.array(np.random.default_rng(1).permutation(rows))
    values = pa.array([f"user-{one:09}" for one in number.to_pylist()]) if text else number
    log = reranked(rows, 5)
    pq.write_table(log.append_column(pa.field(key, values.type, nullable=False), values), path, row_group_size=65_536)


def long_slates(rows: int, path: Path, *, slots: int, more: Callable[[pa.Table], pa.Table] = as_it_is) -> None:
    pq.write_table(more(narrow(reranked(rows, slots))), path)


def many_candidates(rows: int, path: Path, *, candidates: int) -> None:
    """Slates of ten from very many candidates, a few rows at a time."""
    rng = np.random.default_rng(2)
    with pq.ParquetWriter(path, candidate_part(1, 11, rng).schema) as writer:
        for start in range(0, rows, 50):
            writer.write_table(candidate_part(min(rows - start, 50), candidates, rng))


def candidate_part(rows: int, candidates: int, rng: np.random.Generator) -> pa.Table:
    merit = rng.normal(size=(rows, candidates)).astype(np.float32)
    old, new = np.exp(merit), np.exp(merit + rng.normal(scale=0.1, size=merit.shape).astype(np.float32))
    slate = draw(old, rng)[:, :10].astype(np.int32)
    clicks = (rng.random(slate.shape) < 0.1).astype(np.uint8)
    shared = np.tile(np.arange(candidates, dtype=np.int32), (rows, 1))
    columns = {"candidates": shared, "old_score": old, "new_score": new, "slate": slate, "clicks": clicks}
    return table({name: lists(values) for name, values in columns.items()})


def lines(rows: int, path: Path) -> None:
    """A text log with a line an item, five to a list."""
    written, drawn = 0, reranked(min(rows, PART), 5)
    with path.open("wb") as file:
        for part in repeated(drawn, rows):
            n = len(part)
            columns = {
                "impression": np.repeat(np.arange(written, written + n), 5),
                "rank": np.tile(np.arange(1, 6), n),
                "item": matrix(part, "slate").ravel(),
                "click": matrix(part, "clicks").ravel(),
                **{name: matrix(part, name).ravel().astype(np.float32) for name in ("old_score", "new_score")},
            }
            options = pa.csv.WriteOptions(include_header=not written)
            pa.csv.write_csv(pa.table(columns), file, options)
            written += n


def evaluated(path: Path, **options: Any) -> object:
    return offrank.evaluate(str(path), **{"target": TARGET, "logging": LOGGING, **options})


def thousand_targets(path: Path) -> object:
    targets = {f"t{number}": f"plackett_luce(new_score, temperature={number / 500})" for number in range(1, 1001)}
    return evaluated(path, target=targets)


def checked(path: Path) -> object:
    return offrank.check(str(path), logging=LOGGING)


def converted(path: Path) -> object:
    return convert(str(path), path.with_suffix(".wide.parquet"), scores=["old_score", "new_score"])


CASES = [
    Case("Parquet in one row group", int(5e9 / BYTES_OF_SLATE), one_row_group, evaluated),
    Case("Parquet in one row group, `check`", int(5e9 / BYTES_OF_SLATE), one_row_group, checked),
    Case("100,000 candidates a row", 1_000, partial(many_candidates, candidates=100_000), evaluated),
    Case("a million queries as clusters", 1_000_000, partial(with_key, key="query", text=False),
         partial(evaluated, cluster="query")),
    Case("a million queries in `by`", 1_000_000, partial(with_key, key="query", text=False),
         partial(evaluated, by="query")),
    Case("a million users as texts", 1_000_000, partial(with_key, key="user", text=True), evaluated),
    Case("a million users as texts in `by`", 1_000_000, partial(with_key, key="user", text=True),
         partial(evaluated, by="user")),
    Case("1,000 targets", 10_000, partial(long_slates, slots=5), thousand_targets),
    Case("slates of 1,000", 2_000, partial(long_slates, slots=1_000), evaluated),
    Case("slates of 1,000, `check`", 2_000, partial(long_slates, slots=1_000), checked),
    Case("slates of 10,000", 200, partial(long_slates, slots=10_000), evaluated),
    Case("slates of 10,000, `check`", 200, partial(long_slates, slots=10_000), checked),
    Case("slates of 10,000, `ipm`", 200, partial(long_slates, slots=10_000), partial(evaluated, estimators=["ipm"])),
    Case("a CSV file", int(3e9 / BYTES_OF_LINE / 5), lines, evaluated, "csv"),
    Case("a CSV file, `inspect`", int(3e9 / BYTES_OF_LINE / 5), lines, offrank.inspect, "csv"),
    Case("a CSV file, `convert --score`", int(3e9 / BYTES_OF_LINE / 5), lines, converted, "csv"),
]  # fmt: skip


def measured(case: Case, scale: float, folder: Path, seconds: float) -> Used:
    """Make the log, ask about it in a process with little memory, and delete it."""
    rows = max(round(case.size * scale), 2)
    with tempfile.TemporaryDirectory(dir=folder) as own:
        path = Path(own) / f"log.{case.suffix}"
        in_child(case.make, rows, path)
        size = path.stat().st_size
        used = in_child(asked, case.ask, path, seconds)
    return replace(used, rows=rows, gigabytes=size / 1e9)


def in_child(job: Callable[..., Any], *given: Any) -> Any:
    """What a function returns in a fresh process; if that process dies, that it was killed."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=sent, args=(sender, job, *given))
    child.start()
    sender.close()
    try:
        return receiver.recv()
    except EOFError:
        child.join()
        return Used(0, 0.0, f"killed, {child.exitcode}", 0.0, 0.0, 0.0, 0.0)
    finally:
        child.join()


def sent(sender: Any, job: Callable[..., Any], *given: Any) -> None:
    sender.send(job(*given))


def ended(*_: object) -> None:
    raise KeyboardInterrupt


def asked(ask: Callable[[Path], object], path: Path, most_seconds: float = 0.0) -> Used:
    """How a question ended under the limit of memory. most_seconds: of CPU, after which it is ended; 0: never."""
    most = round(LIMIT * GIB)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    signal.signal(signal.SIGPROF, ended)
    signal.setitimer(signal.ITIMER_PROF, most_seconds)
    private, done = [memory("RssAnon")], threading.Event()
    watch = threading.Thread(target=watched, args=(private, done), daemon=True)
    watch.start()
    start, used = time.perf_counter(), time.process_time()
    try:
        ask(path)
        result = "answered"
    except OffrankError as error:
        result = f"refused: {error.message}; {error.remedy}"
    except KeyboardInterrupt:
        result = ENDED
    except BaseException as error:  # noqa: BLE001
        result = f"**failed**: {type(error).__name__}: {error}"
    wall, cpu = time.perf_counter() - start, time.process_time() - used
    done.set()
    watch.join()
    return Used(0, 0.0, result, wall, cpu, max(private), memory("VmHWM"))


def watched(private: list[float], done: threading.Event) -> None:
    """Note the private memory of this process many times a second."""
    while not done.wait(0.02):
        private[0] = max(private[0], memory("RssAnon"))


def memory(kind: str) -> float:
    """GiB of a kind of memory that this process has."""
    found = re.search(rf"{kind}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found[1]) / 2**20 if found else float("nan")


def told(name: str, used: Used) -> str:
    """A line of the table."""
    said = " ".join(used.result.replace("|", "\\|").split())
    file = f"{used.gigabytes:.2f}" if used.gigabytes >= 0.005 else "< 0.01"
    peaks = f"{used.private:.2f} | {used.resident:.2f}"
    return f"| {name} | {used.rows:,} | {file} | {said} | {peaks} | {used.cpu:,.1f} | {used.wall:,.1f} |"


def page(found: dict[str, Used], before: Path) -> Iterator[str]:
    """The table. before: the table whose other lines stay as they are."""
    kept = {one.split("|")[1].strip(): one for one in before.read_text().splitlines() if one.startswith("| ")}
    yield "| log | rows | file GB | result | private GiB | resident GiB | CPU s | wall s |"
    yield "|---|--:|--:|---|--:|--:|--:|--:|"
    lines = kept | {name: told(name, used) for name, used in found.items()}
    yield from (lines[case.name] for case in CASES if case.name in lines)


def given_options(description: str | None) -> argparse.Namespace:
    """The options of this script and of `every_verb.py`."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=0.001, help="of the numbers of rows")
    parser.add_argument("--only", default="", metavar="TEXT", help="cases whose name holds it")
    parser.add_argument("--seconds", type=float, default=0.0, help="of CPU, after which a case is ended; 0: never")
    parser.add_argument("--folder", type=Path, help="keeps measurements, by default a temporary one")
    parser.add_argument("--write", type=Path, help="the page that includes the table")
    return parser.parse_args()


def main() -> None:
    given = given_options(__doc__)
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        kept = folder / "small-machine.json"
        known = json.loads(kept.read_text()) if kept.exists() else {}
        for case in CASES:
            if given.only in case.name and case.name not in known:
                known[case.name] = asdict(measured(case, given.scale, folder, given.seconds))
                kept.write_text(json.dumps(known, indent=1))
                print(told(case.name, Used(**known[case.name])), flush=True)
    found = {case.name: Used(**known[case.name]) for case in CASES if case.name in known}
    if given.write:
        generated(given.write, MARK, list(page(found, table_of(given.write, MARK))), SCRIPT)


if __name__ == "__main__":
    main()
