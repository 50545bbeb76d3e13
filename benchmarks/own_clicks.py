"""Scores that count the clicks of their own log, and scores that do not: how often `same-log` says so.

For every healthy world: its own scores, and rates that were counted on another day, must not be convicted; those
counted on the day itself should be; likewise the relevances of click models that were learnt on either day. `close` is
the largest share of close neighbours of a score from elsewhere, of at least 20 pairs; `residual` the smallest mean
square of its residual clicks, of at least 20 degrees of freedom.

    python benchmarks/own_clicks.py [--seeds 4] [--rows 1000 5000 20000] [--write docs/reference/benchmarks.md]
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
from _page import generated
from numpy.typing import NDArray
from trust_worlds import HEALTHY, World

import offrank
from offrank.checks.score_leakage import KINDS, OwnClicksFold
from offrank.findings.rows import OwnClicksEvidence, counted_here
from offrank.log.source import Needs
from offrank.running.executors import run
from offrank.sums.base import Tee

Floats = NDArray[np.float64]

FORMS: dict[str, Callable[[Floats, Floats], Floats]] = {
    "rate": lambda k, n: k / np.maximum(n, 1),
    "clicks": lambda k, n: k + 0 * n,
    "smoothed": lambda k, n: (k + 2) / (n + 40),
    "per cent, rounded": lambda k, n: np.round(100 * k / np.maximum(n, 1), 2),
    "logarithm": lambda k, n: np.log((k + 0.5) / np.maximum(n, 1)),
}


def counted(judged: pa.Table, day: pa.Table, *, by_query: bool) -> tuple[Floats, Floats]:
    """[n, m] clicks and impressions of each candidate of a log, as another one shows them."""
    ids, cells = _cells(judged, "candidates", by_query)
    _, shown = _cells(day, "slate", by_query)
    clicks = np.concatenate([np.asarray(row, float) for row in day["clicks"].to_pylist()])
    known, place = np.unique(shown, return_inverse=True)
    n, k = np.bincount(place).astype(float), np.bincount(place, weights=clicks)
    at = np.minimum(np.searchsorted(known, cells), len(known) - 1)
    there = known[at] == cells
    return np.where(there, k[at], 0.0).reshape(ids), np.where(there, n[at], 0.0).reshape(ids)


def _cells(log: pa.Table, column: str, by_query: bool) -> tuple[tuple[int, int], NDArray[np.int64]]:
    """The shape of a column of lists, and the cell of each of its items; the first candidate tells the query."""
    rows, sets = log[column].to_pylist(), np.array(log["candidates"].to_pylist())
    items = np.concatenate([np.asarray(row, np.int64) for row in rows])
    query = np.repeat(sets.min(axis=1) * 1_000_003 + sets.sum(axis=1), [len(row) for row in rows])
    return (len(rows), len(rows[0])), items + 10_000_019 * query if by_query else items


def found(log: pa.Table, column: str) -> list[OwnClicksEvidence]:
    """What a score knows of the clicks of a log, by item and by item of a candidate set."""
    source = offrank.read_log(log).select(Needs(frozenset(["candidates", "clicks"]), scores=frozenset([column])))
    every = run(source, Tee({of: OwnClicksFold((column,), of) for of in KINDS}))
    return [one[column] for one in every.values()]


def looked_at(world: World, rows: int, seed: int) -> Iterator[tuple[str, list[OwnClicksEvidence]]]:
    """What is found, by the kind of score: the world's own, of another day, or of this one."""
    log, other = world.table(rows, seed), world.table(rows, seed + 1_000)
    for name in log.column_names:
        if name.endswith("_score"):
            yield "own", found(log, name)
    for day, table in (("other day", other), ("this day", log)):
        for by_query in (False, True):
            k, n = counted(log, table, by_query=by_query)
            for form, made in FORMS.items():
                name = f"{form}, {'query and item' if by_query else 'item'}: {day}"
                yield name, found(log.append_column("counted", pa.array(made(k, n).tolist())), "counted")
        for model in MODELS:
            learnt = relevances(log, table, model)
            yield f"{model}: {day}", found(log.append_column("learnt", pa.array(learnt.tolist())), "learnt")


MODELS = {"pbm": offrank.clicks.PBM, "ubm": offrank.clicks.UBM, "dbn": offrank.clicks.DBN}


def relevances(judged: pa.Table, day: pa.Table, model: str) -> Floats:
    """[n, m] relevance of each candidate of a log by a click model that another one taught; the mean where unknown."""
    (shape, cells), (_, shown) = _cells(judged, "candidates", True), _cells(day, "slate", True)
    clicked = [[float(one > 0) for one in row] for row in day["clicks"].to_pylist()]
    offsets = pa.array(np.append(0, np.cumsum([len(row) for row in day["slate"].to_pylist()])), pa.int32())
    log = pa.table({"slate": pa.ListArray.from_arrays(offsets, pa.array(shown)), "clicks": clicked})
    told = pa.Table.from_batches(list(MODELS[model]().fit(log, by=None).predictions(offrank.read_log(log))))
    known = dict(zip(told["item"].to_pylist(), told["relevance"].to_pylist(), strict=True))
    mean = float(np.mean(list(known.values())))
    return np.array([known.get(cell, known.get(str(cell), mean)) for cell in cells.tolist()]).reshape(shape)


def lines(rows: list[int], seeds: int) -> Iterator[str]:
    """A table of the scores that were convicted, by kind and by rows of the log."""
    scores, said, close, residual = Counter[tuple[str, int]](), Counter[tuple[str, int]](), 0.0, 1.0
    for world, n, seed in product(HEALTHY, rows, range(seeds)):
        for name, every in looked_at(world, n, seed):
            scores[name, n] += 1
            said[name, n] += any(map(counted_here, every))
            if not name.endswith("this day"):
                close = max([close, *(one.close / one.pairs for one in every if one.pairs >= 20)])
                residual = min([residual, *(one.residual for one in every if one.freedom >= 20)])
    yield "| score | " + " | ".join(f"{n:,} rows" for n in rows) + " |"
    yield "|---|" + "--:|" * len(rows)
    for name in dict.fromkeys(name for name, _ in scores):
        yield f"| {name} | " + " | ".join(f"{said[name, n]} of {scores[name, n]}" for n in rows) + " |"
    yield ""
    yield f"From elsewhere: `close` at most {close:.3f}, `residual` at least {residual:.3f}."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000, 5_000, 20_000])
    parser.add_argument("--write", type=Path, help="the page that includes the table")
    asked = parser.parse_args()
    told = [f"{len(HEALTHY)} worlds, {asked.seeds} logs of each size.", "", *lines(asked.rows, asked.seeds)]
    print(*told, sep="\n")
    if asked.write:
        generated(asked.write, "own clicks", told, "benchmarks/own_clicks.py")


if __name__ == "__main__":
    main()
