"""How far users read: error and coverage of `continuation` over simulated logs whose users are known.

Queries of 10 documents with graded relevance; Plackett-Luce policies on the grade with some noise, at several
temperatures; users as `dbn` (gamma .8) or `ccm` (.9, .8, .3). "sparse" has few sessions of each query.

    python benchmarks/continuation.py [--logs 8] [--model dbn]
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from _worlds import lists, table
from rich.console import Console
from rich.table import Table

from offrank.clicks import click_model

RANKS = 10
TRUE = {"dbn": [0.8], "ccm": [0.9, 0.8, 0.3]}


@dataclass(frozen=True)
class World:
    """sessions, queries; temperature of the policy, None for random orders."""

    sessions: int
    queries: int
    temperature: float | None

    def log(self, model: str, seed: int) -> pa.Table:
        """A log of users of whom `TRUE[model]` holds."""
        rng = np.random.default_rng(seed)
        grade = rng.choice(5, (self.queries, RANKS), p=[0.52, 0.32, 0.13, 0.02, 0.01])
        relevance = 0.1 + 0.9 * (2.0**grade - 1) / 15
        score = (grade + 0.5 * rng.standard_normal(grade.shape)) / (self.temperature or np.inf)
        query = rng.integers(0, self.queries, self.sessions)
        order = np.argsort(-(score[query] + rng.gumbel(size=(self.sessions, RANKS))), axis=1)
        clicks = read(model, np.take_along_axis(relevance[query], order, axis=1), rng)
        return table({"query": pa.array(query), "slate": lists(order), "clicks": lists(clicks)})


WORLDS = {
    "near-oracle": World(40_000, 200, 0.1),
    "near-oracle, sparse": World(12_000, 600, 0.1),
    "noisy": World(20_000, 200, 1.0),
    "uniform": World(20_000, 200, None),
}


def read(model: str, relevance: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """[n, k] clicks of users who read from the top; half of the relevance satisfies users of `dbn`."""
    clicks = np.zeros(relevance.shape, np.uint8)
    reads = np.ones(len(relevance), np.bool_)
    for rank, r in enumerate(relevance.T):
        click = reads & (rng.random(len(r)) < r)
        if model == "dbn":
            going = np.where(click, (1 - r / 2) * TRUE["dbn"][0], TRUE["dbn"][0])
        else:
            skip, irrelevant, relevant = TRUE["ccm"]
            going = np.where(click, irrelevant * (1 - r) + relevant * r, skip)
        clicks[:, rank] = click
        reads &= rng.random(len(r)) < going
    return clicks


def row(name: str, world: World, model: str, logs: int) -> list[str]:
    """Of each number: bias, spread, mean half-width and coverage of the 95 % interval."""
    value: list[np.ndarray] = []
    low: list[np.ndarray] = []
    high: list[np.ndarray] = []
    seconds = 0.0
    for seed in range(logs):
        log = world.log(model, seed)
        begin = time.process_time()
        fitted = click_model(model).fit(log)
        seconds += (time.process_time() - begin) / logs
        value.append(fitted.learnt.parameters["continuation"])
        for ends, end in zip((low, high), fitted.interval("continuation"), strict=True):
            ends.append(end)
    true = np.array(TRUE[model])
    bias, spread = np.mean(value, axis=0) - true, np.std(value, axis=0, ddof=1)
    half = (np.mean(high, axis=0) - np.mean(low, axis=0)) / 2
    covered = ((np.array(low) <= true) & (true <= np.array(high))).mean(axis=0)
    cells = (
        " / ".join(f"{one:{form}}" for one in numbers)
        for numbers, form in ((bias, "+.3f"), (spread, ".3f"), (half, ".3f"), (covered, ".2f"))
    )
    return [model, name, *cells, f"{seconds:.1f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logs", type=int, default=8)
    parser.add_argument("--model", choices=sorted(TRUE), action="append")
    given = parser.parse_args()
    title = f"continuation over {given.logs} logs: bias, standard deviation, half-width and coverage at 95 %"
    printed = Table("model", "world", "bias", "sd", "half-width", "covered", "CPU s", title=title)
    for model in given.model or ["dbn", "ccm"]:
        for name, world in WORLDS.items():
            printed.add_row(*row(name, world, model, given.logs))
    Console(width=140).print(printed)


if __name__ == "__main__":
    main()
