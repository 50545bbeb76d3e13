"""How often a target that earns exactly what the log does is called better or worse: at most 5.5 % are promised.

Every item of a query is as relevant as the others, so that all rankings earn the same. Each log is asked with two
estimators, with six, and with `auto`: asking for more must not find more differences where there are none.

With `--clusters` every log has queries of its own, of 5 to 500 rows, whose items are as relevant as chance has it: no
query earns the same by both rankings, all queries together do. Each log is asked with `cluster="query"`.

    python benchmarks/decisions.py [--logs 2000] [--rows 1000 3000] [--clusters] [--workers 2]
        [--write docs/concepts/trust.md]
"""

from __future__ import annotations

import argparse
import multiprocessing
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from _page import generated

import offrank
from offrank.formatting import percent

ASKED: dict[str, list[str] | str] = {
    "two": ["ips", "snips"],
    "six": ["ips", "snips", "rips", "snrips", "ipm", "snipm"],
    "auto": "auto",
}
QUERIES, ITEMS, SLOTS = 30, 6, 3
CURVE = np.array([1, 0.5, 0.33])
SIZES = (5, 500)
"""Of the smallest and the largest cluster, in rows."""
SHARPNESS = {"near": 0.5, "far": 1.0}
"""How unlike the target is to the log: the scale of its scores."""


def table(rows: int, sharpness: float, seed: int) -> pa.Table:
    """A log in which nothing can be better than anything else."""
    fixed, rng = np.random.default_rng(7), np.random.default_rng([seed, rows])
    relevance = fixed.uniform(0.1, 0.5, size=QUERIES)
    old, new = (np.exp(scale * fixed.normal(size=(QUERIES, ITEMS))) for scale in (0.5, sharpness))
    return drawn(rng.integers(QUERIES, size=rows), np.tile(relevance[:, None], ITEMS), old, new, rng)


def clustered(rows: int, sharpness: float, seed: int) -> pa.Table:
    """A log of new queries, of unlike sizes: scores know nothing of what is relevant."""
    rng = np.random.default_rng([seed, rows, 1])
    sizes = np.exp(rng.uniform(*np.log(SIZES), size=rows)).round().astype(int)
    query = np.repeat(np.arange(rows), sizes)[:rows]
    queries = int(query[-1]) + 1
    relevance = rng.uniform(0.05, 0.6, size=(queries, ITEMS))
    old, new = (np.exp(scale * rng.normal(size=(queries, ITEMS))) for scale in (0.5, sharpness))
    return drawn(query, relevance, old, new, rng).append_column("query", pa.array(query))


def drawn(
    query: np.ndarray, relevance: np.ndarray, old: np.ndarray, new: np.ndarray, rng: np.random.Generator
) -> pa.Table:
    """A log of position-based users, by the Plackett-Luce policy of the old scores [query, item]."""
    rows = len(query)
    slate = (rng.exponential(size=(rows, ITEMS)) / old[query]).argsort(axis=1, kind="stable")[:, :SLOTS]
    clicks = rng.random((rows, SLOTS)) < CURVE * np.take_along_axis(relevance[query], slate, axis=1)
    candidates = np.broadcast_to(np.arange(ITEMS), (rows, ITEMS))
    columns: dict[str, Any] = {"slate": slate, "candidates": candidates, "clicks": clicks.astype(float)}
    columns |= {"old_score": old[query], "new_score": new[query]}
    return pa.table({name: list(values) for name, values in columns.items()})


def decisions(task: tuple[int, str, int], clusters: bool) -> tuple[int, str, dict[str, str]]:
    """What is decided of one log, by what was asked."""
    rows, distance, seed = task
    log = (clustered if clusters else table)(rows, SHARPNESS[distance], seed)
    options, found = {"cluster": "query"} if clusters else {}, {}
    for name, asked in ASKED.items():
        question = ("plackett_luce(new_score)", "plackett_luce(old_score)", asked)
        found[name] = offrank.evaluate(log, *question, **options).verdict.decision
    return rows, distance, found


def lines(found: Counter[tuple[int, str, str, str]], logs: int) -> Iterator[str]:
    yield "| rows | target | asked | declared different | worse | better |"
    yield "|--:|---|---|--:|--:|--:|"
    for rows, distance, asked in dict.fromkeys(key[:3] for key in sorted(found)):
        worse, better = (found[rows, distance, asked, decision] / logs for decision in ("worse", "better"))
        shares = " | ".join(percent(one, 1) for one in (worse + better, worse, better))
        yield f"| {rows:,} | {distance} | {asked} | {shares} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--logs", type=int, default=2000)
    parser.add_argument("--rows", type=int, nargs="+", default=[1000, 3000])
    parser.add_argument("--clusters", action="store_true", help="queries of unlike sizes instead")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--write", type=Path, help="the page that includes the table")
    asked = parser.parse_args()
    found: Counter[tuple[int, str, str, str]] = Counter()
    with ProcessPoolExecutor(asked.workers, multiprocessing.get_context("spawn")) as pool:
        tasks = product(asked.rows, SHARPNESS, range(asked.logs))
        for rows, distance, each in pool.map(partial(decisions, clusters=asked.clusters), tasks, chunksize=20):
            found.update((rows, distance, name, decision) for name, decision in each.items())
    told = [f"{asked.logs:,} logs of each kind.", "", *lines(found, asked.logs)]
    print(*told, sep="\n")
    if asked.write:
        mark = "decisions of clusters" if asked.clusters else "decisions"
        generated(asked.write, mark, told, "benchmarks/decisions.py")


if __name__ == "__main__":
    main()
