"""Bias and spread of pi, its relatives and ips, on simulated logs whose truth is known.

Slates of 4 among 8 candidates in 20 contexts, drawn by Plackett-Luce; the target sorts by another score. Rewards are
NDCG (a sum over slots) or ERR (not one), and are paid out as 0 or 1 with that probability.

python benchmarks/pseudoinverse_errors.py [--logs 300] [--rows 500 5000]
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np
from rich.console import Console
from rich.table import Table

import offrank
from offrank.log.batch import Contexts, Floats, Integers, LogBatch, Shown
from offrank.metrics import err, ndcg
from offrank.policies import PlackettLuce, Top
from offrank_testing import MemorySource

ESTIMATORS = ["ips", "snips", "pi", "wpi", "controlled(pi)", "clip(pi, 20)", "clip(pi, 5)", "clip(wpi, 5)"]
LOGGING, TARGET = PlackettLuce("old"), Top("new")
CONTEXTS, ITEMS, SLOTS = 20, 8, 4


@dataclass(frozen=True)
class World:
    """Grades [c, m] of the candidates of each context, and two scores that know of them a little."""

    grades: Integers
    old: Floats
    new: Floats

    def contexts(self, which: Integers) -> Contexts:
        n = len(which)
        scores = {"old": self.old[which], "new": self.new[which]}
        return Contexts(np.tile(np.arange(ITEMS), (n, 1)), np.full(n, ITEMS), np.full(n, SLOTS), scores)

    def reward(self, metric: str, which: Integers, slates: Integers) -> Floats:
        """[n] probability that the slate is rewarded."""
        grades = np.take_along_axis(self.grades[which], slates, axis=1)
        if metric == "ERR":
            return np.asarray(err(grades))
        return np.asarray(ndcg(grades, judged=self.grades[which]))

    def log(self, metric: str, rows: int, rng: np.random.Generator) -> MemorySource:
        which = rng.integers(CONTEXTS, size=rows)
        contexts = self.contexts(which)
        slates = LOGGING.sample(contexts, rng)
        reward = (rng.random(rows) < self.reward(metric, which, slates)).astype(np.float64)
        row = np.arange(rows, dtype=np.uint64)
        return MemorySource((LogBatch(contexts, Shown(slates), None, reward, np.ones(rows), row),))

    def truth(self, metric: str) -> float:
        every = np.arange(CONTEXTS)
        return float(self.reward(metric, every, TARGET.sample(self.contexts(every), np.random.default_rng())).mean())


def world(seed: int) -> World:
    rng = np.random.default_rng(seed)
    grades = rng.choice(5, p=[0.5, 0.2, 0.15, 0.1, 0.05], size=(CONTEXTS, ITEMS))
    noise = rng.normal(size=(2, CONTEXTS, ITEMS))
    return World(grades, np.exp(0.2 * grades + 0.5 * noise[0]), grades + noise[1])


def measure(here: World, metric: str, rows: int, logs: int) -> None:
    rng = np.random.default_rng(rows)
    found = np.empty((logs, len(ESTIMATORS)))
    for index in range(logs):
        given = offrank.evaluate(here.log(metric, rows, rng), TARGET, LOGGING, ESTIMATORS).estimates.given
        # Without any overlap there is no estimate; 0 is what a sum over matching slates says.
        found[index] = [given["top(new)", name].value if ("top(new)", name) in given else 0.0 for name in ESTIMATORS]
    truth = here.truth(metric)
    table = Table(title=f"{metric}, {rows:,} impressions, {logs} logs; truth {truth:.4f}", title_justify="left")
    for heading in ("estimator", "bias", "its standard error", "standard deviation", "root mean squared error"):
        table.add_column(heading, justify="left" if heading == "estimator" else "right")
    for name, values in zip(ESTIMATORS, found.T, strict=True):
        bias, spread = values.mean() - truth, values.std(ddof=1)
        cells = (bias, spread / np.sqrt(logs), spread, np.sqrt(((values - truth) ** 2).mean()))
        table.add_row(name, *(f"{cell:.4f}" for cell in cells))
    Console(width=110).print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--logs", type=int, default=300)
    parser.add_argument("--rows", type=int, nargs="+", default=[500, 5000])
    given = parser.parse_args()
    for metric in ("NDCG", "ERR"):
        for rows in given.rows:
            measure(world(seed=3), metric, rows, given.logs)


if __name__ == "__main__":
    main()
