"""The same estimates by what a user would pick instead: DuckDB's SQL, Polars, NumPy, vw-estimators. CPU seconds.

The question: `ips` of the clicks of 5,000,000 slates of 5, from a logged propensity and that of a new policy, in
Parquet (list columns that cannot be null, zstd, row groups of 262,144) and in offrank's own layout (`offrank convert`).
The others compute the bare mean; offrank also an interval, tests of the propensities, and checks of every row. Each job
runs in this process, in turn; the best CPU seconds of several runs.

    python benchmarks/side_by_side.py [--rows 5000000] [--repeats 5] [--folder /tmp]
        [--table docs/reference/benchmarks.md]

Needs duckdb, polars and vw-estimators; what is missing is left out.
"""

from __future__ import annotations

import argparse
import importlib
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from _page import generated
from _worlds import lists
from _worlds import table as table_of

import offrank

SLOTS, CANDIDATES, GROUP = 5, 10, 262_144
MARK = "side by side"
Jobs = Mapping[str, Callable[[], Any]]


def piece(rows: int, rng: np.random.Generator) -> pa.Table:
    """Slates drawn by a Plackett-Luce policy of one score, with the probabilities of that and of another policy."""
    score = rng.integers(0, 5, (rows, CANDIDATES)).astype(float)
    keys = score / 2 + rng.gumbel(size=score.shape)
    order = np.argsort(-keys, axis=1)[:, :SLOTS]
    new = score / 2 + rng.normal(0, 0.2, score.shape)
    clicks = rng.random((rows, SLOTS)) < 0.3 * np.take_along_axis(score, order, 1) / 4
    return table_of(
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
        clicks = batch["clicks"].flatten().to_numpy().reshape(-1, SLOTS).sum(axis=1)
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
        clicks = batch["clicks"].flatten().to_numpy().reshape(-1, SLOTS).sum(axis=1).tolist()
        logged, new = batch["propensity"].to_pylist(), batch["new_propensity"].to_pylist()
        for old, reward, mine in zip(logged, clicks, new, strict=True):
            made.add_example(old, reward, mine)
    return float(made.get())


def evaluated(path: Path) -> float:
    found = offrank.evaluate(str(path), "written(slate=new_propensity)", "logged", "ips")
    return found["ips"].value


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


def table(found: Mapping[str, tuple[float, float, Any]], rows: int) -> Iterator[str]:
    reference = found["pyarrow, reading alone"][0]
    yield f"{rows:,} slates of {SLOTS}; CPU seconds, best of several runs."
    yield ""
    yield "| job | CPU s | wall s | times pyarrow's CPU | ips |"
    yield "|---|--:|--:|--:|--:|"
    for name, (cpu, wall, answer) in found.items():
        value = "" if answer is None else f"{answer:.6f}"
        yield f"| {name} | {cpu:.2f} | {wall:.2f} | {cpu / reference:.2f} | {value} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--folder", type=Path, help="where the log is written, by default a temporary folder")
    parser.add_argument("--table", type=Path, help="the page that includes the table")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        path, own = write(Path(folder) / "log.parquet", given.rows), Path(folder) / "log.arrow"
        offrank.convert(path, own)
        lines = list(table(measured(ips(path, own), given.repeats), given.rows))
    print(*lines, sep="\n")
    if given.table:
        generated(given.table, MARK, lines, "benchmarks/side_by_side.py")


if __name__ == "__main__":
    main()
