"""Click models on one simulated log: time, memory and perplexity, beside what other packages came to.

The world: 5,000 queries with ten graded documents each; a logging policy that knows the grades somewhat (Plackett-Luce
on grade + N(0, 1/4)); users who look at rank k with probability 1/k. Tested on 100,000 sessions of the same policy,
and on 100,000 with random rankings. Each fit is a process of its own, whose compiled code is loaded before the clock
starts; its CPU time counts reading batches that are in memory. Peak memory is the whole process's, log included.

    python benchmarks/click_models.py [--models pbm ubm dbn] [--sessions 50000 500000 5000000]
        [--write]
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from _page import alone, markdown_row, memory, run

import offrank
from offrank.clicks import click_model
from offrank.log.batch import Contexts, LogBatch, Shown
from offrank.policies import PlackettLuce

QUERIES, RANKS, ROWS = 5_000, 10, 65_536
PROPORTIONS = [0.52, 0.32, 0.13, 0.02, 0.01]
TESTED = 100_000
COUNTS = ("gctr", "rctr", "dctr", "rdctr", "pbm", "ubm", "trust")
MOST = 500_000
"""Sessions that other models than these are fitted to."""
OTHERS = ("cascade", "dcm", "ccm", "dbn", "sdbn")
BARS = {
    ("pbm", 5_000_000): ("seconds", 2.0),
    ("ubm", 5_000_000): ("seconds", 6.0),
    ("dbn", 500_000): ("seconds", 5.0),
    ("ccm", 500_000): ("seconds", 5.0),
    ("pbm", 50_000): ("perplexity", 1.2095),
    ("ubm", 50_000): ("perplexity", 1.2095),
    ("pbm", 500_000): ("perplexity", 1.1992),
    ("ubm", 500_000): ("perplexity", 1.1992),
}
PEAK = 1_000
"""Megabytes."""

CLAX = {
    ("pbm", 50_000): (8.4, 1.2108, 1.1959),
    ("ubm", 50_000): (62.5, 1.2108, 1.1959),
    ("dbn", 50_000): (23.9, 1.2142, 1.2048),
    ("ccm", 50_000): (27.9, 1.2139, 1.2040),
    ("dcm", 50_000): (32.4, 1.2286, 1.2159),
    ("sdbn", 50_000): (27.0, 1.2285, 1.2163),
    ("cascade", 50_000): (9.6, 1.2292, 1.2239),
    ("rctr", 50_000): (14.2, 1.2206, 1.2027),
    ("dctr", 50_000): (10.8, 1.2359, 1.2271),
    ("pbm", 500_000): (9.8, 1.1996, 1.1895),
    ("ubm", 500_000): (50.5, 1.1996, 1.1895),
    ("dbn", 500_000): (24.3, 1.2016, 1.1928),
    ("ccm", 500_000): (30.6, 1.2017, 1.1927),
    ("dcm", 500_000): (33.1, 1.2140, 1.2111),
    ("sdbn", 500_000): (32.2, 1.2138, 1.2105),
    ("dctr", 500_000): (11.1, 1.2186, 1.2209),
    ("pbm", 5_000_000): (29.1, 1.1952, 1.1863),
}
"""CPU seconds, perplexity, and that of random rankings, of CLAX 0.1.1 (AdamW .01, batches of 4096, early stopping).
On two shared cores, and a log of this kind whose true perplexities are 1.1943 and 1.1855."""


@dataclass(frozen=True)
class Log:
    """Sessions in memory, as small as can be; batches are made as they are read. As a source, one part.

    query: [n]. order: [n, 10] documents of the query by rank. clicks: [n, 10] 0 or 1.
    """

    query: np.ndarray
    order: np.ndarray
    clicks: np.ndarray

    def parts(self) -> int:
        return 1

    def batches(self, part: int) -> Iterator[LogBatch]:
        for first in range(0, len(self.query), ROWS):
            rows = slice(first, first + ROWS)
            query = self.query[rows].astype(np.int64)
            n = len(query)
            items = np.tile(np.arange(RANKS), (n, 1))
            full = np.full(n, RANKS)
            contexts = Contexts(items, full, full, keys={"query": query})
            number = np.arange(first, first + n, dtype=np.uint64)
            slates, clicks = self.order[rows].astype(np.int64), self.clicks[rows].astype(np.float64)
            yield LogBatch(contexts, Shown(slates), clicks, None, np.ones(n), number)

    def select(self, needed: object) -> Log:
        return self

    def describe(self) -> str:
        return f"{len(self.query):,} simulated sessions"


class World:
    """Documents and users of the benchmark."""

    def __init__(self) -> None:
        rng = np.random.default_rng(0)
        grade = rng.choice(5, size=(QUERIES, RANKS), p=PROPORTIONS)
        self.relevance = 0.1 + 0.9 * (2.0**grade - 1) / 15
        self.score = np.exp(grade + 0.5 * rng.normal(size=grade.shape))

    def draw(self, n: int, seed: int, *, shuffled: bool = False) -> Log:
        """n sessions, drawn in pieces."""
        log = Log(np.empty(n, np.int32), np.empty((n, RANKS), np.uint8), np.empty((n, RANKS), np.uint8))
        rng = np.random.default_rng(seed)
        for first in range(0, n, ROWS):
            rows = slice(first, min(first + ROWS, n))
            log.query[rows] = rng.integers(0, QUERIES, rows.stop - first)
            log.order[rows] = self._orders(log.query[rows], rng, shuffled=shuffled)
            log.clicks[rows] = rng.random((rows.stop - first, RANKS)) < self.chance(log, rows)
        return log

    def chance(self, log: Log, rows: slice = slice(None)) -> np.ndarray:
        """[n, 10] true probabilities of clicks."""
        shown = np.take_along_axis(self.relevance[log.query[rows]], log.order[rows].astype(np.int64), axis=1)
        return np.asarray(shown / np.arange(1, RANKS + 1))

    def _orders(self, query: np.ndarray, rng: np.random.Generator, *, shuffled: bool) -> np.ndarray:
        score = np.ones((len(query), RANKS)) if shuffled else self.score[query]
        full = np.full(len(query), RANKS)
        contexts = Contexts(np.tile(np.arange(RANKS), (len(query), 1)), full, full, scores={"score": score})
        return PlackettLuce("score").sample(contexts, rng)

    def oracle(self, log: Log) -> float:
        """Perplexity of the truth."""
        chance = self.chance(log)
        loss = -np.log2(np.where(log.clicks > 0, chance, 1 - chance))
        return float(np.exp2(loss.mean(axis=0)).mean())


def fit(task: tuple[str, int]) -> dict[str, Any]:
    """Fit a model to so many sessions once, and judge it: what a process of its own measures."""
    (spelling, sessions), world = task, World()
    model = click_model(spelling)
    model.fit(world.draw(2_000, 1), by="query")  # loads compiled code
    train = world.draw(sessions, 2)
    fold, seconds = model.collect("query"), 0.0
    state = None
    for batch in train.batches(0):
        start = time.process_time()
        state = fold.add(state, batch)
        seconds += time.process_time() - start
    start = time.process_time()
    gathered = fold.result(state)
    counted = seconds + time.process_time() - start
    fitted = model.of(gathered)
    seconds += time.process_time() - start
    peak = memory()
    logs = (world.draw(TESTED, 3 + shuffled, shuffled=bool(shuffled)) for shuffled in (0, 1))
    alike, random = (next(iter(offrank.evaluate_clicks(log, fitted).here.values())) for log in logs)
    return {
        "model": spelling,
        "sessions": sessions,
        "seconds": seconds,
        "counting": counted,
        "peak": peak,
        "perplexity": alike.perplexity.value,
        "conditional": alike.conditional_perplexity.value,
        "random": random.perplexity.value,
    }


def verdict(found: dict[str, Any]) -> str:
    """Whether the bars that were set for this model and size are passed."""
    words = [] if found["peak"] <= PEAK else [f"missed: {PEAK} MB"]
    name, bar = BARS.get((found["model"], found["sessions"]), ("", 0.0))
    if name:
        words.append(f"{'passed' if found[name] <= bar else 'missed'}: {name} {bar:g}")
    return ", ".join(words)


def models(
    *, models: tuple[str, ...] = COUNTS + OTHERS, sessions: tuple[int, ...] = (50_000, 500_000)
) -> Iterator[str]:
    """Time, memory and perplexity of each model. sessions: 5,000,000 for the models that learn from counts."""
    world = World()
    truth = [world.oracle(world.draw(TESTED, 3 + shuffled, shuffled=bool(shuffled))) for shuffled in (0, 1)]
    yield f"True perplexity: {truth[0]:.5f}; of random rankings {truth[1]:.5f}."
    yield ""
    heads = ["sessions", "model", "CPU s", "of it counting", "peak MB", "perplexity", "conditional", "random rankings"]
    yield markdown_row(*heads, "CLAX: CPU s", "perplexity", "random rankings", "bar")
    yield "|--:|---|" + "--:|" * 9 + "---|"
    for name, n in ((name, n) for n in sessions for name in models if n <= MOST or name in COUNTS):
        one, *_ = alone(partial(fit, (name, n)))
        cells = [*(f"{one[part]:.2f}" for part in ("seconds", "counting")), f"{one['peak']:.0f}"]
        cells += [f"{one[part]:.4f}" for part in ("perplexity", "conditional", "random")]
        peer = CLAX.get((name, n))
        beside = [""] * 3 if peer is None else [f"{peer[0]}", *(f"{each:.4f}" for each in peer[1:])]
        yield markdown_row(f"{n:,}", f"`{name}`", *cells, *beside, verdict(one))


COMMANDS = {models: "click models"}
if __name__ == "__main__":
    run(__file__, COMMANDS)
