"""Large logs on a small machine: each question either ends within 3 GiB of memory, or is refused before it starts.

    python benchmarks/small_machine.py small-machine [--scale 0.001] [--only slates] [--kept FILE] [--write]
    python benchmarks/small_machine.py every-verb [--scale 0.001] [--only check] [--seconds 120] [--kept FILE] [--write]

Each log is made by one process and asked about by others, whose private memory is limited (RLIMIT_DATA: what libraries
reserve and never touch does not count). Two peaks are measured: of its private memory, and of all that was resident
(VmHWM), which counts the pages of a mapped file; the system takes those back where memory is short. At `--scale 1` the
largest file has over 5 GB; one log stands on the disk at a time.
"""

from __future__ import annotations

import json
import multiprocessing
import re
import resource
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from _page import markdown_head, markdown_row, measured, memory, restored, run
from _worlds import logged, matrix, narrow, reranked, scaled

import offrank
from offrank.errors import OffrankError

GIB = 2**30
LIMIT = 3.0
"""GiB of memory that a process may have."""
ENDED = "ended by the benchmark"
PART = 100_000
"""Rows that are drawn; a longer log has them again and again, with other scores."""
TARGET, LOGGING = "plackett_luce(new_score)", "plackett_luce(old_score)"
SLATE, FEATURES, LINE, OBJECT = 130, 50, 33, 150
"""Bytes of ten items in Parquet (two scores, an item and a click each), of their features, of an item in a text log,
and of a list of five in JSON lines."""
PAIRS = 10
"""Items that are shown for each query of a log of many pairs."""
More = Callable[[pa.Table], pa.Table]


@dataclass(frozen=True)
class Used:
    """How a question ended, and what its process used: CPU seconds, seconds, the peaks of its memory in GiB.

    rows, gigabytes: of the log.
    """

    result: str
    cpu: float = 0.0
    wall: float = 0.0
    private: float = 0.0
    resident: float = 0.0
    rows: int = 0
    gigabytes: float = 0.0


def as_it_is(log: pa.Table) -> pa.Table:
    return log


def one_row_group(rows: int, path: Path, more: More = as_it_is) -> None:
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


def with_key(rows: int, path: Path, *, key: str) -> None:
    """Slates of five; each row has a key of its own, as a number or a text."""
    number = pa.array(np.random.default_rng(1).permutation(rows))
    values = pa.array([f"user-{one:09}" for one in number.to_pylist()]) if key == "user" else number
    log = reranked(rows, 5)
    pq.write_table(log.append_column(pa.field(key, values.type, nullable=False), values), path, row_group_size=65_536)


def long_slates(rows: int, path: Path, *, slots: int, more: More = as_it_is) -> None:
    pq.write_table(more(narrow(reranked(rows, slots))), path)


def many_candidates(rows: int, path: Path, *, candidates: int) -> None:
    """Slates of ten from very many candidates, a few rows at a time."""
    rng = np.random.default_rng(2)

    def part(rows: int, candidates: int) -> pa.Table:
        merit = rng.normal(size=(rows, candidates))
        return narrow(logged(np.exp(merit), np.exp(merit + rng.normal(scale=0.1, size=merit.shape)), 10, rng))

    with pq.ParquetWriter(path, part(1, 11).schema) as writer:
        for start in range(0, rows, 50):
            writer.write_table(part(min(rows - start, 50), candidates))


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


def featured(log: pa.Table) -> pa.Table:
    """A log with a feature of each candidate, which `learn` needs."""
    items = matrix(log, "slate")
    each = pa.ListArray.from_arrays(pa.array(np.arange(items.size + 1, dtype=np.int32)), pa.array(items.ravel() % 50))
    rows = pa.array(np.arange(0, items.size + 1, items.shape[1], dtype=np.int32))
    found = pa.ListArray.from_arrays(rows, each)
    return log.append_column(pa.field("features", found.type, nullable=False), found)


def many_pairs(rows: int, path: Path) -> None:
    """Slates of five; each query has ten rows, of its own ten items."""
    log = featured(narrow(reranked(min(rows, PART), 5)))
    with pq.ParquetWriter(path, keyed(log.slice(0, 1), 0).schema) as writer:
        for start, part in zip(range(0, rows, len(log)), repeated(log, rows), strict=True):
            writer.write_table(keyed(part, start))


def keyed(log: pa.Table, start: int) -> pa.Table:
    """A part of a log with the query of each row."""
    return log.append_column("query", pa.array((start + np.arange(len(log))) // PAIRS))


def json_lines(rows: int, path: Path) -> None:
    """A text log with an object for each list."""
    with path.open("w", encoding="ascii") as file:
        for part in repeated(featured(reranked(min(rows, PART), 5)), rows):
            scores = {name: matrix(part, name).round(4).tolist() for name in ("old_score", "new_score")}
            columns = [scores.get(name) or part[name].to_pylist() for name in part.column_names]
            for row in zip(*columns, strict=True):
                file.write(json.dumps(dict(zip(part.column_names, row, strict=True))) + "\n")


Shape = tuple[int, Callable[[int, Path], None], str]
"""Rows at scale 1, what writes so many to a path, and the suffix of the file."""
PARQUET, TEXT = int(5e9 / SLATE), int(3e9 / LINE / 5)
SHAPES: dict[str, Shape] = {
    "5 GB in one row group": (PARQUET, one_row_group, "parquet"),
    "100,000 candidates a row": (1_000, partial(many_candidates, candidates=100_000), "parquet"),
    "a million queries": (1_000_000, partial(with_key, key="query"), "parquet"),
    "a million users as texts": (1_000_000, partial(with_key, key="user"), "parquet"),
    "slates of five": (10_000, partial(long_slates, slots=5), "parquet"),
    "long slates": (2_000, partial(long_slates, slots=1_000), "parquet"),
    "slates of 10,000": (200, partial(long_slates, slots=10_000), "parquet"),
    "a CSV file": (TEXT, lines, "csv"),
}
FEATURED: dict[str, Shape] = {
    "3 GB in one row group": (int(3e9 / (SLATE + FEATURES)), partial(one_row_group, more=featured), "parquet"),
    "10,000,000 pairs": (10_000_000, many_pairs, "parquet"),
    "slates of 1,000": (2_000, partial(long_slates, slots=1_000, more=featured), "parquet"),
    "1 GB of CSV": (int(1e9 / LINE / 5), lines, "csv"),
    "1 GB of JSON lines": (int(1e9 / OBJECT), json_lines, "jsonl"),
}
"""Those of which every verb is asked."""


def evaluated(path: Path, target: Any = TARGET, **options: Any) -> object:
    return offrank.evaluate(str(path), target, LOGGING, **options)


def targets(count: int) -> dict[str, str]:
    return {f"t{n}": f"plackett_luce(new_score, temperature={2 * n / count})" for n in range(1, count + 1)}


def beside(path: Path, name: str) -> Path:
    return path.with_name(name)


def fitted(path: Path) -> Path:
    model = beside(path, "model.npz")
    offrank.fit_clicks(str(path), "pbm", model)
    return model


def merged(path: Path) -> object:
    """A state alone: the same rows are merged once."""
    state = beside(path, "day.state")
    offrank.evaluate(str(path), TARGET, LOGGING, state=state)
    return offrank.merge(state)


VERBS: dict[str, Callable[[Path], object]] = {
    "evaluate": evaluated,
    "evaluate, 100 targets": lambda path: evaluated(path, targets(100)),
    "compare": lambda path: offrank.compare(str(path), {"new": TARGET, "top": "top(new_score)"}, LOGGING),
    "check": lambda path: offrank.check(str(path), logging=LOGGING),
    "inspect": lambda path: offrank.inspect(str(path)),
    "convert": lambda path: offrank.convert(str(path), beside(path, "made.parquet"), scores=["old_score", "new_score"]),
    "clicks fit": fitted,
    "clicks fit, judge": lambda path: offrank.judge_clicks(fitted(path), beside(path, "grades.csv")),
    "clicks fit, predict": lambda path: offrank.predict_clicks(str(path), fitted(path), beside(path, "clicks.csv")),
    "clicks harvest": lambda path: offrank.harvest_clicks(str(path)),
    "learn": lambda path: offrank.learn(str(path), "regression", beside(path, "policy.npz"), logging=LOGGING),
    "measure": lambda path: offrank.measure(str(path), "new_score", LOGGING),
    "select": lambda path: offrank.select_estimators(str(path), TARGET, LOGGING),
    "merge": merged,
}
QUESTIONS = VERBS | {
    "cluster": lambda path: evaluated(path, cluster="query"),
    "by query": lambda path: evaluated(path, by="query"),
    "by user": lambda path: evaluated(path, by="user"),
    "1,000 targets": lambda path: evaluated(path, targets(1000)),
    "ipm": lambda path: evaluated(path, estimators=["ipm"]),
}
CASES = {
    "Parquet in one row group": ("5 GB in one row group", "evaluate"),
    "Parquet in one row group, `check`": ("5 GB in one row group", "check"),
    "100,000 candidates a row": ("100,000 candidates a row", "evaluate"),
    "a million queries as clusters": ("a million queries", "cluster"),
    "a million queries in `by`": ("a million queries", "by query"),
    "a million users as texts": ("a million users as texts", "evaluate"),
    "a million users as texts in `by`": ("a million users as texts", "by user"),
    "1,000 targets": ("slates of five", "1,000 targets"),
    "slates of 1,000": ("long slates", "evaluate"),
    "slates of 1,000, `check`": ("long slates", "check"),
    "slates of 10,000": ("slates of 10,000", "evaluate"),
    "slates of 10,000, `check`": ("slates of 10,000", "check"),
    "slates of 10,000, `ipm`": ("slates of 10,000", "ipm"),
    "a CSV file": ("a CSV file", "evaluate"),
    "a CSV file, `inspect`": ("a CSV file", "inspect"),
    "a CSV file, `convert --score`": ("a CSV file", "convert"),
}
"""Each with a shape and a question."""


def used(task: tuple[str, list[str], float, float]) -> list[Used]:
    """Make a log of a shape, and ask the questions, each in a process with little memory.

    The task: shape, questions, scale, and seconds of CPU after which a question is ended; 0: never.
    """
    shape, questions, scale, seconds = task
    size, make, suffix = (SHAPES | FEATURED)[shape]
    rows, found = max(round(size * scale), 20), []
    with tempfile.TemporaryDirectory() as own:
        path = Path(own) / f"log.{suffix}"
        in_child(make, rows, path)
        gigabytes = path.stat().st_size / 1e9
        for question in questions:
            one = in_child(asked, question, path, seconds)
            found.append(replace(one, rows=rows, gigabytes=gigabytes))
            print(f"{shape}: {question}: {one.result[:150]}, {one.private:.2f} GiB, {one.cpu:.1f} s", file=sys.stderr)
            for made in Path(own).iterdir():
                if made != path:
                    made.unlink()
    return found


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
        return Used(f"killed, {child.exitcode}")
    finally:
        child.join()


def sent(sender: Any, job: Callable[..., Any], *given: Any) -> None:
    sender.send(job(*given))


def ended(*_: object) -> None:
    raise KeyboardInterrupt


def asked(question: str, path: Path, most_seconds: float) -> Used:
    """How a question ended under the limit of memory. most_seconds: of CPU, after which it is ended; 0: never."""
    most = round(LIMIT * GIB)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    signal.signal(signal.SIGPROF, ended)
    signal.setitimer(signal.ITIMER_PROF, most_seconds)
    private, done = [0.0], threading.Event()
    watch = threading.Thread(target=watched, args=(private, done), daemon=True)
    watch.start()
    start, before = time.perf_counter(), time.process_time()
    try:
        QUESTIONS[question](path)
        result = "answered"
    except OffrankError as error:
        result = f"refused: {error.message}; {error.remedy}"
    except KeyboardInterrupt:
        result = ENDED
    except BaseException as error:  # noqa: BLE001
        result = f"**failed**: {type(error).__name__}: {error}"
    wall, cpu = time.perf_counter() - start, time.process_time() - before
    done.set()
    watch.join()
    return Used(result, cpu, wall, private[0] / 1024, memory() / 1024)


def watched(private: list[float], done: threading.Event) -> None:
    """Note the private memory of this process many times a second."""
    while not done.wait(0.02):
        private[0] = max(private[0], memory("RssAnon"))


def said(result: str) -> str:
    """A result in a cell, without the place of the log."""
    return re.sub(r"/\S*/(?=log\.)", "", " ".join(result.replace("|", "\\|").split()))


def small_machine(
    *, scale: float = 0.001, only: str = "", seconds: float = 0.0, kept: Path | None = None
) -> Iterator[str]:
    """A line for each log and question; only: those whose name holds it."""
    chosen = {name: case for name, case in CASES.items() if only in name}
    by_shape: dict[str, list[str]] = {}
    for shape, question in chosen.values():
        by_shape.setdefault(shape, []).append(question)
    tasks = [(shape, questions, scale, seconds) for shape, questions in by_shape.items()]
    heads = ("rows", "file GB", "result", "private GiB", "resident GiB", "CPU s", "wall s")
    yield from markdown_head("log", *heads)
    found: dict[tuple[str, str], Used] = {}
    for (shape, questions, *_), every in measured(used, tasks, kept=kept):
        found |= {(shape, question): restored(Used, one) for question, one in zip(questions, every, strict=True)}
    for name, case in chosen.items():
        one = found[case]
        file = f"{one.gigabytes:.2f}" if one.gigabytes >= 0.005 else "< 0.01"
        peaks = f"{one.private:.2f}", f"{one.resident:.2f}"
        yield markdown_row(name, f"{one.rows:,}", file, said(one.result), *peaks, f"{one.cpu:,.1f}", f"{one.wall:,.1f}")


def every_verb(
    *, scale: float = 0.001, only: str = "", seconds: float = 0.0, kept: Path | None = None
) -> Iterator[str]:
    """A line for each verb, with GiB of private memory and CPU seconds for each shape, and what was refused below."""
    verbs = [verb for verb in VERBS if only in verb]
    tasks = [(shape, verbs, scale, seconds) for shape in FEATURED]
    columns = {task[0]: [restored(Used, one) for one in every] for task, every in measured(used, tasks, kept=kept)}
    yield from markdown_head(
        "verb", *(f"{name}: {each[0].rows:,} of {FEATURED[name][0]:,} rows" for name, each in columns.items())
    )
    refused = list[str]()
    for verb, *answers in zip(verbs, *columns.values(), strict=True):
        cells = []
        for one in answers:
            if one.result in ("answered", ENDED):
                more = "> " * (one.result == ENDED)
                cells.append(f"{one.private:.2f} GiB, {more}{one.cpu:,.0f} s")
            else:
                told = said(one.result)
                refused += [] if told in refused else [told]
                cells.append(f"[{refused.index(told) + 1}]")
        yield markdown_row(f"`{verb}`", *cells)
    yield ""
    yield from (f"{number}. {told}" for number, told in enumerate(refused, 1))


COMMANDS = {small_machine: "small machine", every_verb: "every verb"}
if __name__ == "__main__":
    run(__file__, COMMANDS)
