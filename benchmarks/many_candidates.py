"""Rows per second with exact Plackett-Luce propensities: 10 of 200 candidates shown, in fresh or repeated contexts.

python benchmarks/many_candidates.py [--rows 100000] [--queries 500] [--repeats 3]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from _timing import in_turn, show

import offrank
from offrank.log.batch import Contexts, LogBatch, Shown
from offrank.policies import PlackettLuce
from offrank_testing import MemorySource

CANDIDATES, SLOTS, BATCH = 200, 10, 5_000
EXAMINATION = 1 / np.arange(1, SLOTS + 1)
JOBS = {
    "ipm": ["ipm"],
    "interpol(window=2)": ["interpol(window=2)"],
    "interpol(window=slope)": ["interpol(window=slope)"],
    "all of them, both forms": [
        "ips",
        "snips",
        "ipm",
        "interpol(window=slope)",
        "interpol(window=slope, form=windowed)",
    ],
}


def log(rows: int, queries: int) -> MemorySource:
    """Slates drawn by `old`, from `queries` contexts that come again."""
    rng, parts = np.random.default_rng(0), []
    relevance = rng.beta(1, 4, size=(queries, CANDIDATES))
    old, new = (np.exp(3 * relevance + rng.normal(scale=0.5, size=relevance.shape)) for _ in range(2))
    for start in range(0, rows, BATCH):
        n = min(BATCH, rows - start)
        query = (start + np.arange(n)) % queries
        items = np.tile(np.arange(CANDIDATES), (n, 1))
        scores = {"old": old[query], "new": new[query]}
        contexts = Contexts(items, np.full(n, CANDIDATES), np.full(n, SLOTS), scores)
        slates = PlackettLuce("old").sample(contexts, rng)
        chance = EXAMINATION * np.take_along_axis(relevance[query], slates, axis=1)
        clicks = (rng.random(chance.shape) < chance).astype(np.float64)
        number = np.arange(start, start + n, dtype=np.uint64)
        parts.append(LogBatch(contexts, Shown(slates), clicks, None, np.ones(n), number))
    return MemorySource(tuple(parts))


def evaluating(source: MemorySource, estimators: list[str]) -> Callable[[], object]:
    return lambda: offrank.evaluate(
        source, "top(new)", "plackett_luce(old)", estimators, examination=EXAMINATION.tolist()
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=500)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    for rows, queries in ((given.rows, given.queries), (given.rows // 10, given.rows // 10)):
        source = log(rows, queries)
        times = in_turn({name: evaluating(source, estimators) for name, estimators in JOBS.items()}, given.repeats)
        show(f"{rows:,} slates of {SLOTS} from {CANDIDATES} candidates, {queries:,} contexts", times, rows, "ipm")


if __name__ == "__main__":
    main()
