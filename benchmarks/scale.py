"""From a hundred thousand slates to a hundred million: wall time, CPU seconds, peak memory, each in a fresh process.

Slates of 5 in Parquet (two 32-bit scores a candidate, which a Plackett-Luce logging policy and target read; zstd, row
groups of 250,000, a file a million), five estimators and everything else as it is by default, 1 and 2 workers; then a
stream of record batches that nothing holds, each in memory of its own; then as many slates of 10 as of 5 at most.
Time and memory are those of the whole process, imports included; kernels were compiled before.

A million slates are drawn. In every further file the scores are multiplied by another number, which changes no
probability: no two rows are alike, and nobody should read the estimates.

    python benchmarks/scale.py scale [--rows 1000000] [--stream 1] [--folder FOLDER] [--write]
    python benchmarks/scale.py tens [--rows 10000000] [--folder FOLDER]

The whole table: `--rows 100000000 --stream 20`, 13 GB of disk and an hour. Logs and measurements stay in the folder, so
that a run that was killed goes on; delete FOLDER/measured.json to measure again.
"""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from _page import drawn, markdown_head, markdown_row
from _page import run as run_commands
from _timing import alone
from _worlds import narrow, reranked, scaled

import offrank
from offrank.report.charts import Chart, Series

FILE, GROUP, SMALLEST = 1_000_000, 250_000, 100_000
ESTIMATORS = ["ips", "snips", "rips", "snrips", "clip(ips, 10)"]
BATCH = 65_536


@dataclass(frozen=True)
class Run:
    """A log that is evaluated: as files, or as a stream of so many gigabytes, with no workers."""

    rows: int
    slots: int = 5
    workers: int = 1
    gigabytes: float = 0.0

    @property
    def key(self) -> str:
        return " ".join(f"{name}={value:g}" for name, value in asdict(self).items())


@dataclass(frozen=True)
class Used:
    """What a process used: seconds, CPU seconds, the peak of its memory in MB; rows: slates that it read."""

    rows: int
    wall: float
    cpu: float
    peak: float


def scale(*, rows: int = 1_000_000, stream: float = 1.0, folder: Path | None = None) -> Iterator[str]:
    """The table and the pictures. rows: of the largest log; stream: gigabytes; folder: keeps logs and measurements."""
    with kept_in(folder) as place:
        yield from page({run: measured(run, place) for run in runs(rows, stream)})


def tens(*, rows: int = 1_000_000, folder: Path | None = None) -> Iterator[str]:
    """A log of slates of 10 beside pyarrow, which reads the same columns and does nothing with them."""
    with kept_in(folder) as place:
        yield from beside_reading(Run(rows, slots=10), place)


@contextlib.contextmanager
def kept_in(folder: Path | None) -> Iterator[Path]:
    """The folder, or a temporary one."""
    with tempfile.TemporaryDirectory() as temporary:
        place = folder or Path(temporary)
        place.mkdir(parents=True, exist_ok=True)
        yield place


def runs(most: int, gigabytes: float) -> Iterator[Run]:
    """The processes, from the smallest log to the largest."""
    rows = SMALLEST
    while rows <= most:
        yield from (Run(rows, workers=workers) for workers in (1, 2))
        rows *= 10
    yield Run(0, gigabytes=gigabytes)
    yield Run(rows // 10, slots=10)


def measured(run: Run, folder: Path) -> Used:
    """What a process used, from an earlier call if that is kept in the folder."""
    kept = folder / "measured.json"
    known = json.loads(kept.read_text()) if kept.exists() else {}
    if run.key not in known:
        job = partial(streamed, run.gigabytes) if run.gigabytes else partial(evaluated, files(run, folder), run.workers)
        alone(partial(evaluated, files(Run(SMALLEST, run.slots), folder), 1))  # compiles
        known[run.key] = alone(job)
        kept.write_text(json.dumps(known, indent=1))
        print(run.key, known[run.key], flush=True)
    return Used(*known[run.key])


def beside_reading(run: Run, folder: Path) -> Iterator[str]:
    """A log and pyarrow's reading of it, each in one thread of a process of its own: always measured anew."""
    paths = files(run, folder)
    evaluated(files(Run(SMALLEST, run.slots), folder), 1)  # compiles
    yield f"{len(paths) * FILE:,} slates of {run.slots} in Parquet:"
    jobs = {"pyarrow, reading alone": partial(read, paths), "offrank": partial(evaluated, paths, run.workers)}
    for name, job in jobs.items():
        _, wall, cpu, peak = alone(job)
        yield f"{name}: {cpu:,.1f} CPU s, {wall:,.1f} s, {peak:,.0f} MB"


def read(paths: list[str]) -> int:
    """Read all columns, a batch at a time."""
    return sum(len(batch) for path in paths for batch in pq.ParquetFile(path).iter_batches(use_threads=False))


def files(run: Run, folder: Path) -> list[str]:
    """The files of a log; those that are missing are written."""
    first = [folder / f"{run.slots}-small.parquet"]
    paths = [folder / f"{run.slots}-{number:03}.parquet" for number in range(run.rows // FILE)] or first
    missing = [path for path in paths if not path.exists()]
    base = narrow(reranked(FILE, run.slots)).slice(0, run.rows) if missing else pa.table({})
    for path in missing:
        unfinished = path.with_suffix(".unfinished")
        options = {"compression": "zstd", "use_dictionary": ["slate.list.element", "clicks.list.element"]}
        pq.write_table(scaled(base, 1 + paths.index(path) / 1024), unfinished, row_group_size=GROUP, **options)
        unfinished.rename(path)
    return list(map(str, paths))


def evaluated(log: object, workers: int | None) -> int:
    """Evaluate, and return the number of rows."""
    executor = None if workers is None else ThreadPoolExecutor(workers)
    target, logging = "plackett_luce(new_score)", "plackett_luce(old_score)"
    return offrank.evaluate(log, target, logging, ESTIMATORS, executor=executor)["ips"].n


def streamed(gigabytes: float) -> int:
    """Evaluate a stream: the same slates again and again, copied into new memory."""
    return evaluated(batches(gigabytes), None)


def batches(gigabytes: float) -> Iterator[pa.RecordBatch]:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, (log := reranked(BATCH, 5)).schema) as writer:
        writer.write_table(log)
    written = sink.getvalue()
    for _ in range(max(int(gigabytes * 1e9 / log.nbytes), 1)):
        yield from pa.ipc.open_stream(pa.py_buffer(bytes(written)))


def page(found: dict[Run, Used]) -> Iterator[str]:
    """The table and the pictures."""
    heads = ("slates", "of", "workers", "wall s", "CPU s", "million slates a CPU second", "peak MB")
    yield from markdown_head("log", *heads)
    for run, used in found.items():
        log = f"stream of {run.gigabytes:g} GB" if run.gigabytes else "Parquet"
        workers = "" if run.gigabytes else str(run.workers)
        cells = f"{used.wall:,.1f}", f"{used.cpu:,.1f}", f"{used.rows / used.cpu / 1e6:.2f}", f"{used.peak:,.0f}"
        yield markdown_row(log, f"{used.rows:,}", run.slots, workers, *cells)
    yield ""
    yield picture(found, "Slates of 5 in Parquet: CPU seconds", "CPU seconds", lambda used: used.cpu, log_y=True)
    yield ""
    yield picture(found, "Slates of 5 in Parquet: peak memory", "MB", lambda used: used.peak, zero_y=True)


def picture(found: dict[Run, Used], title: str, label: str, value: Callable[[Used], float], **axes: bool) -> str:
    """A chart with a line for each number of workers, under its title."""
    series = []
    for workers, name in ((1, "1 worker"), (2, "2 workers")):
        chosen = [used for run, used in found.items() if (run.slots, run.workers, run.gigabytes) == (5, workers, 0)]
        series.append(Series(name, [used.rows / 1e6 for used in chosen], list(map(value, chosen)), line=True))
    chart = Chart(title, "million slates", label, tuple(series), log_x=True, **axes)
    return f"<p>{title}</p>\n{drawn(asdict(chart))}"


COMMANDS = {scale: "scale", tens: ""}
if __name__ == "__main__":
    run_commands(__file__, COMMANDS)
