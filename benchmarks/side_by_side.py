"""What an evaluation costs: beside what a user would pick instead, and part by part. CPU seconds.

    python benchmarks/side_by_side.py side-by-side [--rows 5000000] [--repeats 5] [--folder /tmp] [--write]
    python benchmarks/side_by_side.py counted [--rows 1000000] [--contexts 300000] [--repeats 3] [--write]

Each job runs once to warm up; then the best of several runs counts. The first needs duckdb, polars and vw-estimators;
what is missing is left out.
"""

from __future__ import annotations

import importlib
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from _page import Here, markdown_head, markdown_row, run
from _worlds import lists, narrow, reranked, table

import offrank
from offrank.language.formatting import percent
from offrank.sums.base import Tee

SLATE, CANDIDATES, GROUP = 5, 10, 262_144
Jobs = Mapping[str, Callable[[], Any]]
DISTINCT, ITEMS, SLOTS = 5_000, 6, 4
FOUR = ("ips", "snips", "rips", "ipm")
FEW = 20
"""Times that a small log is asked, for one measurement."""
SMALL = 0.01
"""Parts below this share of the whole stand together."""


def piece(rows: int, rng: np.random.Generator) -> pa.Table:
    """Slates drawn by a Plackett-Luce policy of one score, with the probabilities of that and of another policy."""
    score = rng.integers(0, 5, (rows, CANDIDATES)).astype(float)
    keys = score / 2 + rng.gumbel(size=score.shape)
    order = np.argsort(-keys, axis=1)[:, :SLATE]
    new = score / 2 + rng.normal(0, 0.2, score.shape)
    clicks = rng.random((rows, SLATE)) < 0.3 * np.take_along_axis(score, order, 1) / 4
    return table(
        {
            "slate": lists(order),
            "clicks": lists(clicks.astype(np.uint8)),
            "propensity": pa.array(plackett_luce(score / 2, order)),
            "new_propensity": pa.array(plackett_luce(new, order)),
        }
    )


def plackett_luce(utility: np.ndarray, order: np.ndarray) -> np.ndarray:
    """[n] the probability of each slate."""
    weight = np.exp(utility)
    left, found = weight.sum(axis=1), np.ones(len(order))
    for place in range(order.shape[1]):
        drawn = np.take_along_axis(weight, order[:, place : place + 1], 1)[:, 0]
        found *= drawn / left
        left = left - drawn
    return found


def write(path: Path, rows: int) -> Path:
    """Write a log, a row group at a time."""
    rng, writer = np.random.default_rng(1), None
    for first in range(0, rows, GROUP):
        each = piece(min(GROUP, rows - first), rng)
        writer = writer or pq.ParquetWriter(path, each.schema, compression="zstd")
        writer.write_table(each, row_group_size=GROUP)
    if writer is not None:
        writer.close()
    return path


COLUMNS = ["clicks", "propensity", "new_propensity"]


def pyarrow_alone(path: Path) -> None:
    pq.read_table(path, columns=COLUMNS)


def numpy(path: Path) -> float:
    total, rows = 0.0, 0
    for batch in pq.ParquetFile(path).iter_batches(columns=COLUMNS):
        clicks = batch["clicks"].flatten().to_numpy().reshape(-1, SLATE).sum(axis=1)
        total += float((clicks * (batch["new_propensity"].to_numpy() / batch["propensity"].to_numpy())).sum())
        rows += len(batch)
    return total / rows


def duckdb(path: Path) -> float:
    query = f"select avg(list_sum(clicks) * new_propensity / propensity) from '{path}'"
    return float(importlib.import_module("duckdb").sql(query).fetchall()[0][0])


def polars(path: Path) -> float:
    pl = importlib.import_module("polars")
    column = pl.col("clicks").list.sum() * pl.col("new_propensity") / pl.col("propensity")
    return float(pl.scan_parquet(path).select(column.mean()).collect(engine="streaming").item())


def vw_estimators(path: Path) -> float:
    """A call for each event, over columns that are read by pyarrow."""
    made = importlib.import_module("estimators.bandits.ips").Estimator()
    for batch in pq.ParquetFile(path).iter_batches(columns=COLUMNS):
        clicks = batch["clicks"].flatten().to_numpy().reshape(-1, SLATE).sum(axis=1).tolist()
        logged, new = batch["propensity"].to_pylist(), batch["new_propensity"].to_pylist()
        for old, reward, mine in zip(logged, clicks, new, strict=True):
            made.add_example(old, reward, mine)
    return float(made.get())


def evaluated(path: Path, **keywords: Any) -> float:
    """`ips` of a log whose probabilities are logged."""
    return offrank.evaluate(str(path), "written(slate=new_propensity)", "logged", "ips", **keywords)["ips"].value


def ips(path: Path, own: Path) -> Jobs:
    """The jobs, by name: pyarrow, which only reads, first."""
    each = {
        "pyarrow, reading alone": partial(pyarrow_alone, path),
        "NumPy over pyarrow's batches": partial(numpy, path),
        "DuckDB, SQL": partial(duckdb, path),
        "Polars, lazy": partial(polars, path),
        "vw-estimators": partial(vw_estimators, path),
        "offrank, Parquet": partial(evaluated, path),
        "offrank, own layout": partial(evaluated, own),
    }
    missing = {"duckdb": "DuckDB, SQL", "polars": "Polars, lazy", "estimators": "vw-estimators"}
    without = {name for module, name in missing.items() if importlib.util.find_spec(module) is None}
    return {name: job for name, job in each.items() if name not in without}


def measured(jobs: Jobs, repeats: int) -> dict[str, tuple[float, float, Any]]:
    """name -> (best CPU seconds, best wall seconds, the answer); the slowest, vw-estimators, runs once."""
    found: dict[str, tuple[float, float, Any]] = {}
    for turn in range(repeats + 1):  # the first warms up
        for name, job in jobs.items():
            if name == "vw-estimators" and turn != 1:
                continue
            cpu, wall = time.process_time(), time.perf_counter()
            answer = job()
            now = time.process_time() - cpu, time.perf_counter() - wall
            if turn:
                before = found.get(name, (np.inf, np.inf, None))
                found[name] = min(before[0], now[0]), min(before[1], now[1]), answer
    return found


def write_contexts(path: Path, rows: int) -> Path:
    """Write slates of few distinct contexts, which occur again and again in every row group."""
    rng = np.random.default_rng(5)
    old, new = (rng.random((DISTINCT, ITEMS)) * 2 + 0.1 for _ in range(2))
    relevance = rng.random((DISTINCT, ITEMS)) / 2
    which = rng.integers(0, DISTINCT, rows)
    slates = np.argsort(-np.log(old[which]) - rng.gumbel(size=(rows, ITEMS)), axis=1)[:, :SLOTS]
    chance = np.take_along_axis(relevance[which], slates, axis=1) / np.arange(1, SLOTS + 1)
    columns = {
        "context": pa.array(which),
        "candidates": lists(np.tile(np.arange(ITEMS), (rows, 1))),
        "slate": lists(slates),
        "clicks": lists((rng.random((rows, SLOTS)) < chance).astype(np.uint8)),
        "old": lists(old[which]),
        "new": lists(new[which]),
    }
    pq.write_table(table(columns), path, compression="zstd", row_group_size=50_000)
    return path


def many_times(verb: Callable[..., Any], rows: pa.Table) -> None:
    for _ in range(FEW):
        verb(rows, "top(new)", "plackett_luce(old)", "snips")


def judged(path: Path, name: str) -> float:
    found = offrank.evaluate(str(path), "top(new)", "plackett_luce(old)", name)
    return found[name].value


class Parts:
    """The CPU seconds of each named fold of a run, without those of the folds inside it."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self._inside = [0.0]

    def add(self, tee: Tee, part: dict[str, Any] | None, batch: Any) -> dict[str, Any]:
        """As `Tee.add`."""
        known = part or {}
        return {name: self._timed(name, fold, known.get(name), batch) for name, fold in tee.folds.items()}

    def _timed(self, name: str, fold: Any, part: Any, batch: Any) -> Any:
        self._inside.append(0.0)
        started = time.process_time()
        found = fold.add(part, batch)
        whole = time.process_time() - started
        self.seconds[name] += whole - self._inside.pop()
        self._inside[-1] += whole
        return found


def parts(path: Path, repeats: int) -> tuple[float, dict[str, float]]:
    """Return the CPU seconds of `ips` in one thread, and of each part: the run that took least."""
    best: tuple[float, dict[str, float]] = (np.inf, {})
    plain = Tee.add
    for _ in range(repeats + 1):
        timed = Parts()
        Tee.add = lambda tee, part, batch, timed=timed: timed.add(tee, part, batch)  # type: ignore[method-assign]
        started = time.process_time()
        try:
            evaluated(path, executor=Here())
        finally:
            Tee.add = plain  # type: ignore[method-assign]
        best = min(best, (time.process_time() - started, dict(timed.seconds)), key=lambda one: one[0])
    return best


def side_by_side(*, rows: int = 5_000_000, repeats: int = 5, folder: Path | None = None) -> Iterator[str]:
    """The same estimates by what a user would pick instead: DuckDB's SQL, Polars, NumPy, vw-estimators.

    The question: `ips` of the clicks of slates of 5, from a logged propensity and that of a new policy, in Parquet
    (list columns that cannot be null, zstd, row groups of 262,144) and in offrank's own layout (`offrank convert`). The
    others compute the bare mean; offrank also an interval, tests of the propensities, and checks of every row.
    """
    with tempfile.TemporaryDirectory(dir=folder) as place:
        path, own = write(Path(place) / "log.parquet", rows), Path(place) / "log.arrow"
        offrank.convert(path, own)
        found = measured(ips(path, own), repeats)
    reference = found["pyarrow, reading alone"][0]
    yield f"{rows:,} slates of {SLATE}; CPU seconds, best of several runs."
    yield ""
    yield from markdown_head("job", "CPU s", "wall s", "times pyarrow's CPU", "ips")
    for name, (cpu, wall, answer) in found.items():
        value = "" if answer is None else f"{answer:.6f}"
        yield markdown_row(name, f"{cpu:.2f}", f"{wall:.2f}", f"{cpu / reference:.2f}", value)


def counted(*, rows: int = 1_000_000, contexts: int = 300_000, repeats: int = 3) -> Iterator[str]:
    """What an evaluation pays for: each part of the pass, `pi` and `auto` beside `ips`, numbers alone.

    Three logs in Parquet: slates of 5 with logged probabilities; slates of 5 with the scores of two Plackett-Luce
    policies in 32 bits, for four estimators; and slates of 4 out of 6 candidates in 5,000 distinct contexts, drawn by
    Plackett-Luce; and 200 of these in memory. The parts of a pass are measured in one thread, each without those that
    it contains.
    """
    with tempfile.TemporaryDirectory() as folder:
        slates = write(Path(folder) / "slates.parquet", rows)
        scores, few = Path(folder) / "scores.parquet", write_contexts(Path(folder) / "contexts.parquet", contexts)
        pq.write_table(narrow(reranked(rows, 5)), scores, compression="zstd", row_group_size=250_000)
        yield f"{rows:,} slates of 5 with logged probabilities, as many with two scores for {', '.join(FOUR)}, then"
        yield f"{contexts:,} slates of {SLOTS} out of {ITEMS} candidates in {DISTINCT:,}"
        yield "contexts, by `plackett_luce(old)`; target `top(new)`."
        yield ""
        yield "| log | job | CPU s |"
        yield "|---|---|--:|"
        for log, jobs in jobs_of(slates, scores, few).items():
            for name, (cpu, *_) in measured(jobs, repeats).items():
                yield markdown_row(log, name, f"{cpu / FEW:.4f}" if log == MEMORY else f"{cpu:.2f}")
        whole, each = parts(slates, repeats)
    each["(reading, rules of rows, and the result)"] = whole - sum(each.values())
    large = {name: seconds for name, seconds in each.items() if seconds >= SMALL * whole}
    large["(all others)"] = sum(each.values()) - sum(large.values())
    yield ""
    yield f"The parts of `ips` with logged probabilities, in one thread; {whole:.2f} CPU seconds in all:"
    yield ""
    yield from markdown_head("part", "CPU s", "share")
    for name, seconds in sorted(large.items(), key=lambda one: -one[1]):
        yield markdown_row(name, f"{seconds:.3f}", percent(seconds / whole, 0))


MEMORY = "200 rows in memory"


def jobs_of(slates: Path, scores: Path, contexts: Path) -> dict[str, Jobs]:
    """What is asked of each log."""
    few = pq.read_table(contexts).slice(0, 200)
    asked = str(scores), "plackett_luce(new_score)", "plackett_luce(old_score)", FOUR
    return {
        "logged probabilities": {
            "pyarrow, reading alone": partial(pyarrow_alone, slates),
            "`ips`": partial(evaluated, slates),
        },
        "two scores": {
            "pyarrow, reading alone": partial(pq.read_table, scores),
            "four estimators": partial(offrank.evaluate, *asked),
            "their numbers alone, `estimate`": partial(offrank.estimate, *asked),
        },
        "contexts": {f"`{name}`": partial(judged, contexts, name) for name in ("ips", "pi", "auto")},
        MEMORY: {
            f"`{verb.__name__}` with `snips`": partial(many_times, verb, few)
            for verb in (offrank.evaluate, offrank.estimate)
        },
    }


COMMANDS = {side_by_side: "side by side", counted: "what is counted"}
if __name__ == "__main__":
    run(__file__, COMMANDS)
