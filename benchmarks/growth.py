"""How time and memory grow: each verb against rows, targets, estimators, groups, clusters, candidates and slots.

Sizes double. Each line is a process of its own, which runs the smallest size once before (imports, compiled loops). The
exponent is that of the largest size against the one a quarter as large: 1 where twice the size takes twice the time.
Seconds are of the processor, the smallest of some runs.

    python benchmarks/growth.py [--scale 1] [--only slots] [--repeats 2] [--write]
"""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from _page import markdown_row, run
from _timing import alone, memory
from _worlds import draw, lists, logged, reranked, table

import offrank

TARGET, LOGGING = "plackett_luce(new_score)", "plackett_luce(old_score)"
ALLOWED = 1.15
"""Exponent up to which growth counts as n log n."""


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


def rows(size: int) -> pa.Table:
    return reranked(size, 5)


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


def long_slates(size: int) -> pa.Table:
    return reranked(200, size)


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


def evaluated(log: pa.Table, _: int, **options: Any) -> object:
    return offrank.evaluate(log, **{"target": TARGET, "logging": LOGGING, **options})


def bounded(log: pa.Table, size: int) -> object:
    return evaluated(log, size, bounds=True, reward_range=(0, 3))


def targets(log: pa.Table, size: int) -> object:
    return evaluated(
        log, size, target={f"t{n}": f"plackett_luce(new_score, temperature={1 + n / size})" for n in range(size)}
    )


def own_targets(log: pa.Table, size: int) -> object:
    return evaluated(log, size, target={f"t{n}": f"plackett_luce(score{n})" for n in range(size)})


def estimators(log: pa.Table, size: int) -> object:
    return evaluated(log, size, estimators=[f"clip(ips, {2 + n / 8})" for n in range(size)])


def by_key(log: pa.Table, size: int) -> object:
    return evaluated(log, size, by="key")


def clusters(log: pa.Table, size: int) -> object:
    return evaluated(log, size, cluster="key")


def compared(log: pa.Table, _: int) -> object:
    return offrank.compare(log, {"new": TARGET, "flat": "plackett_luce(new_score, temperature=2)"}, LOGGING)


def checked(log: pa.Table, _: int) -> object:
    return offrank.check(log, logging=LOGGING)


def measured(log: pa.Table, _: int) -> object:
    return offrank.measure(log, "new_score", "uniform", ["pairwise_disagreement"])


def click_model(log: pa.Table, _: int) -> object:
    with tempfile.TemporaryDirectory() as folder:
        return offrank.fit_clicks(log, "pbm", Path(folder) / "pbm.json")


def learnt(log: pa.Table, _: int) -> object:
    with tempfile.TemporaryDirectory() as folder:
        return offrank.learn(log, "regression", Path(folder) / "policy.npz", epochs=2, bits=10)


LINES = [
    Line("evaluate", "rows", 25_000, rows, evaluated),
    Line("compare", "rows", 25_000, rows, compared),
    Line("check", "rows", 25_000, rows, checked),
    Line("measure", "rows", 50_000, rows, measured),
    Line("clicks fit", "rows", 25_000, clicked, click_model),
    Line("evaluate --bounds", "rows", 12_500, few_contexts, bounded),
    Line("learn", "rows", 8_000, with_features, learnt),
    Line("evaluate", "targets", 4, some_rows, targets),
    Line("evaluate", "targets of a column each", 6, many_scores, own_targets),
    Line("evaluate", "estimators", 4, some_rows, estimators),
    Line("evaluate", "groups", 60, many_keys, by_key),
    Line("evaluate", "clusters", 2_500, many_keys, clusters),
    Line("evaluate", "candidates", 100, many_candidates, evaluated),
    Line("check", "candidates", 100, many_candidates, checked),
    Line("evaluate", "slots", 10, long_slates, evaluated),
    Line("check", "slots", 10, long_slates, checked, 3),
    Line("measure", "slots", 10, long_slates, measured),
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
    """A line for each verb and what it is measured against; only: those that hold it. scale: of the smallest sizes."""
    yield "| verb | against | sizes, doubled | CPU seconds | exponent | peak MB | exponent |"
    yield "|---|---|--:|---|--:|--:|--:|"
    for line in LINES:
        if only in f"{line.verb} {line.against}":
            found, *_ = alone(partial(points, line, scale, repeats))
            yield told(line, found)


COMMANDS = {growth: "growth"}
if __name__ == "__main__":
    run(__file__, COMMANDS)
