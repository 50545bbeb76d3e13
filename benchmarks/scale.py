"""How time and memory grow with the log and with the question, each measured in a fresh process.

`scale`: from a hundred thousand slates to a hundred million: wall time, CPU seconds, peak memory.

Slates of 5 in Parquet (two 32-bit scores a candidate, which a Plackett-Luce logging policy and target read; zstd, row
groups of 250,000, a file a million), five estimators and everything else as it is by default, 1 and 2 workers; then a
stream of record batches that nothing holds, each in memory of its own; then as many slates of 10 as of 5 at most.
Time and memory are those of the whole process, imports included; kernels were compiled before.

A million slates are drawn. In every further file the scores are multiplied by another number, which changes no
probability: no two rows are alike, and nobody should read the estimates.

    python benchmarks/scale.py scale [--rows 1000000] [--stream 1] [--folder FOLDER] [--write]
    python benchmarks/scale.py tens [--rows 10000000] [--folder FOLDER]
    OMP_NUM_THREADS=1 python benchmarks/scale.py growth [--scale 1] [--only slots] [--repeats 2] [--write]

The whole table: `--rows 100000000 --stream 20`, 13 GB of disk and an hour. Logs and measurements stay in the folder, so
that a run that was killed goes on; delete FOLDER/measured.json to measure again.
"""

from __future__ import annotations

import contextlib
import math
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, astuple, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from _page import alone, drawn, markdown_head, markdown_row, measured, memory, restored
from _page import run as run_commands
from _worlds import draw, lists, logged, narrow, reranked, scaled, table

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
        tasks = [(*astuple(run), str(place)) for run in runs(rows, stream)]
        found = measured(used, tasks, kept=place / "measured.json")
        yield from page({Run(*task[:4]): restored(Used, one) for task, one in found})


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


def used(task: tuple[int, int, int, float, str]) -> Used:
    """What a process used: rows, slots, workers and gigabytes of a run, and the folder of the logs."""
    run, folder = Run(*task[:4]), Path(task[4])
    job = partial(streamed, run.gigabytes) if run.gigabytes else partial(evaluated, files(run, folder), run.workers)
    alone(partial(evaluated, files(Run(SMALLEST, run.slots), folder), 1))  # compiles
    return Used(*alone(job))


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


# How time and memory grow ------------------------------------------------------------------------------------------

TARGET, LOGGING = "plackett_luce(new_score)", "plackett_luce(old_score)"
ALLOWED = 1.15  # exponent up to which growth counts as n log n


@dataclass(frozen=True)
class Line:
    """A verb against one size. log: made for a size. ask: the question, of a log and a size."""

    verb: str
    against: str
    smallest: int
    log: Callable[[int], pa.Table]
    ask: Callable[[pa.Table, int], object]
    doublings: int = 4


@dataclass(frozen=True)
class Point:
    """Seconds of the processor, and the largest private memory in MB, at one size."""

    size: int
    seconds: float
    memory: float


def some_rows(_: int) -> pa.Table:
    return reranked(5_000, 5)


def many_keys(size: int) -> pa.Table:
    """40,000 slates with so many values of a column."""
    log = reranked(40_000, 5)
    values = pa.array(np.random.default_rng(1).permutation(np.arange(len(log)) % size))
    return log.append_column(pa.field("key", values.type, nullable=False), values)


def many_scores(size: int) -> pa.Table:
    """4,000 slates of three from six candidates, which have so many columns of scores."""
    rng = np.random.default_rng(5)
    old = rng.random((4_000, 6)) + 0.1
    slate = draw(old, rng)[:, :3]
    columns = {f"score{n}": old + 0.3 * rng.random(old.shape) for n in range(size)}
    columns |= {"candidates": np.tile(np.arange(6), (len(old), 1)), "old_score": old, "slate": slate}
    return table({name: lists(one) for name, one in columns.items()} | {"clicks": lists(rng.random(slate.shape) < 0.3)})


def clicked(size: int) -> pa.Table:
    """Queries of a thousand rows each, for click models."""
    return reranked(size, 5).append_column("query", pa.array(np.arange(size) // 1_000))


def clicked_slots(size: int) -> pa.Table:
    return reranked(5_000, size).append_column("query", pa.array(np.arange(5_000) // 1_000))


def few_contexts(size: int) -> pa.Table:
    """A hundred queries, whose slates of three from ten candidates differ."""
    rng = np.random.default_rng(4)
    query = rng.integers(0, 100, size)
    old, new = (np.exp(rng.normal(size=(100, 10)))[query] for _ in range(2))
    return logged(old, new, 3, rng).append_column("query", pa.array(query))


def many_candidates(size: int) -> pa.Table:
    """500 slates of five from so many candidates."""
    rng = np.random.default_rng(2)
    merit = rng.normal(size=(500, size))
    return logged(np.exp(merit), np.exp(merit + rng.normal(scale=0.1, size=merit.shape)), 5, rng)


def with_features(size: int) -> pa.Table:
    """One item of four in each row, with two features each, for learning."""
    rng = np.random.default_rng(3)
    indices = pa.array(np.tile([[0, 1], [0, 2], [0, 3], [0, 4]], (size, 1, 1)).tolist())
    return pa.table(
        {
            "slate": rng.integers(0, 4, (size, 1)).tolist(),
            "candidates": np.tile(np.arange(4), (size, 1)).tolist(),
            "clicks": rng.integers(0, 2, (size, 1)).tolist(),
            "propensity": np.full(size, 0.25),
            "features": indices,
        }
    )


def asked(log: pa.Table, _: int, **options: Any) -> object:
    return offrank.evaluate(log, **{"target": TARGET, "logging": LOGGING, **options})


def bounded(log: pa.Table, size: int) -> object:
    return asked(log, size, bounds=True, reward_range=(0, 3))


def targets(log: pa.Table, size: int) -> object:
    return asked(
        log, size, target={f"t{n}": f"plackett_luce(new_score, temperature={1 + n / size})" for n in range(size)}
    )


def own_targets(log: pa.Table, size: int) -> object:
    return asked(log, size, target={f"t{n}": f"plackett_luce(score{n})" for n in range(size)})


def estimators(log: pa.Table, size: int) -> object:
    return asked(log, size, estimators=[f"clip(ips, {2 + n / 8})" for n in range(size)])


def by_key(log: pa.Table, size: int) -> object:
    return asked(log, size, by="key")


def clusters(log: pa.Table, size: int) -> object:
    return asked(log, size, cluster="key")


def compared(log: pa.Table, _: int) -> object:
    return offrank.compare(log, {"new": TARGET, "flat": "plackett_luce(new_score, temperature=2)"}, LOGGING)


def checked(log: pa.Table, _: int) -> object:
    return offrank.check(log, logging=LOGGING)


def disagreement(log: pa.Table, _: int) -> object:
    return offrank.measure(log, "new_score", "uniform", ["pairwise_disagreement"])


def click_model(log: pa.Table, _: int) -> object:
    with tempfile.TemporaryDirectory() as folder:
        return offrank.fit_clicks(log, "pbm", Path(folder) / "pbm.json")


def learnt(log: pa.Table, _: int) -> object:
    with tempfile.TemporaryDirectory() as folder:
        return offrank.learn(log, "regression", Path(folder) / "policy.npz", epochs=2, bits=10)


ROWS, SLOTS = partial(reranked, slots=5), partial(reranked, 200)
LINES = [
    Line("evaluate", "rows", 25_000, ROWS, asked),
    Line("compare", "rows", 25_000, ROWS, compared),
    Line("check", "rows", 25_000, ROWS, checked),
    Line("measure", "rows", 50_000, ROWS, disagreement),
    Line("clicks fit", "rows", 25_000, clicked, click_model),
    Line("evaluate --bounds", "rows", 12_500, few_contexts, bounded),
    Line("learn", "rows", 8_000, with_features, learnt),
    Line("evaluate", "targets", 4, some_rows, targets),
    Line("evaluate", "targets of a column each", 6, many_scores, own_targets),
    Line("evaluate", "estimators", 4, some_rows, estimators),
    Line("evaluate", "groups", 60, many_keys, by_key),
    Line("evaluate", "clusters", 2_500, many_keys, clusters),
    Line("evaluate", "candidates", 100, many_candidates, asked),
    Line("check", "candidates", 100, many_candidates, checked),
    Line("evaluate", "slots", 10, SLOTS, asked),
    Line("check", "slots", 10, SLOTS, checked, 3),
    Line("measure", "slots", 10, SLOTS, disagreement),
    Line("clicks fit", "slots", 5, clicked_slots, click_model),
]


def points(line: Line, scale: float, repeats: int) -> list[Point]:
    """What the sizes took, from the smallest on, in this process."""
    first = max(round(line.smallest * scale), 2)
    line.ask(line.log(first), first)
    found = []
    for size in (first << step for step in range(line.doublings + 1)):
        log = line.log(size)
        seconds = min(spent(line, log, size) for _ in range(repeats))
        found.append(Point(size, seconds, memory()))
    return found


def spent(line: Line, log: pa.Table, size: int) -> float:
    start = time.process_time()
    line.ask(log, size)
    return time.process_time() - start


def exponent(found: list[Point], value: Callable[[Point], float]) -> float:
    """Of the largest size against the one a quarter as large, or the smallest."""
    large, small = found[-1], found[max(len(found) - 3, 0)]
    return math.log(value(large) / value(small)) / math.log(large.size / small.size)


def told(line: Line, found: list[Point]) -> str:
    """A line of the table."""
    grows, memory = (exponent(found, each) for each in (lambda point: point.seconds, lambda point: point.memory))
    mark = f"**{grows:.2f}**" if grows > ALLOWED else f"{grows:.2f}"
    sizes = f"{found[0].size:,} to {found[-1].size:,}"
    seconds = ", ".join(f"{point.seconds:.2f}" for point in found)
    return markdown_row(
        f"`{line.verb}`", line.against, sizes, seconds, mark, f"{found[-1].memory:,.0f}", f"{memory:.2f}"
    )


def growth(*, scale: float = 1.0, only: str = "", repeats: int = 2) -> Iterator[str]:
    """Each verb against rows, targets, estimators, groups, clusters, candidates and slots; only: those that hold it.

    Sizes double, from `scale` times the smallest. Each line is a process of its own, which runs the smallest size once
    before (imports, compiled loops). The exponent is that of the largest size against the one a quarter as large: 1
    where twice the size takes twice the time. Seconds are of the processor, the smallest of some runs.
    """
    yield "| verb | against | sizes, doubled | CPU seconds | exponent | peak MB | exponent |"
    yield "|---|---|--:|---|--:|--:|--:|"
    for line in LINES:
        if only in f"{line.verb} {line.against}":
            found, *_ = alone(partial(points, line, scale, repeats))
            yield told(line, found)


COMMANDS = {scale: "scale", tens: "", growth: "growth"}
if __name__ == "__main__":
    run_commands(__file__, COMMANDS)
