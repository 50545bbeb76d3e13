"""What the sums of `offrank sql` cost DuckDB, beside its own mean of the same column and offrank's reading of the rows.

python benchmarks/warehouse.py [--rows 3000000] [--write docs/how-to/daily-states.md]
"""

from __future__ import annotations

import argparse
import resource
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from _page import generated

import offrank

TARGET = "written(slate=p)"
RATIO = "SELECT {} avg(reward * p / propensity) FROM '{}' {}"


def written(path: str, rows: int) -> None:
    rng = np.random.default_rng(1)
    propensity = rng.uniform(0.05, 0.9, rows)
    columns = {
        "user": rng.integers(0, 3000, rows),
        "propensity": propensity,
        "slate": rng.integers(0, 50, (rows, 1)).tolist(),
    }
    columns |= {
        "p": np.clip(propensity * rng.uniform(0.5, 1.5, rows), 0, 1),
        "reward": (rng.random(rows) < 0.2).astype(float),
    }
    pq.write_table(pa.table(columns), path, row_group_size=250_000)


def cpu(ask: Callable[[], Any]) -> float:
    def used() -> float:
        found = resource.getrusage(resource.RUSAGE_SELF)
        return found.ru_utime + found.ru_stime

    before = used()
    ask()
    return used() - before


def lines(rows: int, repeats: int = 5) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/log.parquet"
        written(path, rows)
        queries = {
            "mean of reward x weight, by DuckDB": RATIO.format("", path, ""),
            "the same for each of 3,000 users": RATIO.format('"user",', path, 'GROUP BY "user"'),
            "sums of `offrank sql`": offrank.sql(f"'{path}'", TARGET),
            "sums of `offrank sql`, by user": offrank.sql(f"'{path}'", TARGET, cluster="user"),
        }
        asked = {name: lambda text=text: duckdb.sql(text).fetchall() for name, text in queries.items()}
        asked["`offrank evaluate` of the rows"] = lambda: offrank.evaluate(path, TARGET, cluster="none")
        asked["`offrank.estimate` of the rows"] = lambda: offrank.estimate(path, TARGET, cluster="none")
        every = [{name: cpu(ask) for name, ask in asked.items()} for _ in range(repeats)]
    least = {name: min(one[name] for one in every) for name in asked}
    yield "| | CPU | times the mean |"
    yield "|---|--:|--:|"
    for name, seconds in least.items():
        yield f"| {name} | {seconds:.2f} s | {seconds / min(least.values()):.1f} |"
    yield ""
    yield f"{rows:,} rows of one slot in Parquet, least of {repeats} rounds."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=3_000_000)
    parser.add_argument("--write", type=Path, help="the page that includes the table")
    given = parser.parse_args()
    found = list(lines(given.rows))
    print(*found, sep="\n")
    if given.write:
        generated(given.write, "warehouse", found, "benchmarks/warehouse.py")


if __name__ == "__main__":
    main()
