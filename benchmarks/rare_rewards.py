"""Rare rewards under exploration: how often a target that shows what the log hardly does is declared wrongly.

A ranker sorts by one score and explores a little (`epsilon(top(old), E)`, one slot); the target sorts by another score,
whose first item is another one in about a fifth of the contexts and earns there as much, more or less. The difference
rests on a few rows of large weight, of which few are clicked. A declaration is wrong where it names the other side, or
a difference where there is none.

    python benchmarks/rare_rewards.py [--logs 4] [--workers 1] [--estimators snips] [--write docs/concepts/trust.md]
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from _page import generated

import offrank

EPSILONS, RATES, ROWS, CANDIDATES = (0.02, 0.1, 0.3), (0.005, 0.02, 0.06, 0.2), (2000, 16_000, 100_000), (5, 20, 50)
LIFTS = (1.0, 1.3, 0.7)
"""What the target's items earn where it shows others, as a share of those that the log shows there."""
AGREE = 0.78
CONTEXTS = 300
WORDS = {
    "epsilon": "explored: {:.0%}",
    "rate": "clicked: {:.1%}",
    "rows": "{:,} rows",
    "candidates": "{} candidates",
    "lift": "there it earns {:.0%}",
}


@dataclass(frozen=True)
class World:
    """Contexts of some candidates, of which the log mostly shows the first by one score, the target that by another."""

    epsilon: float
    rate: float
    rows: int
    candidates: int
    lift: float = 1.0

    def log(self, seed: int) -> tuple[pa.Table, float, float]:
        """Return a log, and what its policy and the target earn per impression."""
        name = [int(1e6 * self.epsilon), int(1e6 * self.rate), self.rows, self.candidates, int(100 * self.lift)]
        rng = np.random.default_rng([*name, seed])
        shape = CONTEXTS, self.candidates
        first, other = np.argsort(rng.random(shape), axis=1)[:, :2].T
        each = np.arange(CONTEXTS)
        rates = self.rate * 0.7 * rng.gamma(8.0, 1 / 8, shape)
        rates[each, first] = self.rate * rng.gamma(8.0, 1 / 8, CONTEXTS)
        apart = rng.random(CONTEXTS) >= AGREE
        best = np.where(apart, other, first)
        rates[each[apart], other[apart]] = self.lift * rates[each[apart], first[apart]]
        rates = np.minimum(rates, 1.0)
        old, new = rng.random(shape), rng.random(shape)
        old[each, first], new[each, best] = 2.0, 2.0
        law = np.full(shape, self.epsilon / self.candidates)
        law[each, first] += 1 - self.epsilon
        context = rng.integers(CONTEXTS, size=self.rows)
        uniform = rng.random(self.rows) < self.epsilon
        shown = np.where(uniform, rng.integers(self.candidates, size=self.rows), first[context])
        clicked = rng.random(self.rows) < rates[context, shown]
        columns = {
            "old": old[context],
            "new": new[context],
            "candidates": np.arange(self.candidates)[None] + 100 * context[:, None],
        }
        lists = {key: pa.FixedSizeListArray.from_arrays(one.ravel(), self.candidates) for key, one in columns.items()}
        slate = pa.FixedSizeListArray.from_arrays(shown + 100 * context, 1)
        clicks = pa.FixedSizeListArray.from_arrays(clicked.astype(np.int8), 1)
        table = pa.table({**lists, "slate": slate, "clicks": clicks})
        return table, float((law * rates).sum(axis=1).mean()), float(rates[each, best].mean())


class Outcome(NamedTuple):
    """What was said of one log."""

    decision: str
    trust: str
    wrong: bool
    held: bool
    width: float
    codes: tuple[str, ...]


def outcome(world: World, seed: int, estimators: tuple[str, ...]) -> Outcome:
    """What is said of a log of a world."""
    table, logged, truth = world.log(seed)
    asked = "top(new)", f"epsilon(top(old), {world.epsilon})", list(estimators)
    try:
        found = offrank.evaluate(table, *asked).verdict
    except offrank.OffrankError as error:
        return Outcome("unknown", "none", False, True, np.nan, (error.code,))
    codes = tuple(one.code for one in found.reasons)
    if found.difference is None:
        return Outcome(found.decision, found.trust, False, True, np.nan, codes)
    away, own = truth - logged, found.difference
    wrong = (found.decision == "better" and away <= 0) or (found.decision == "worse" and away >= 0)
    held = own.low <= away <= own.high
    return Outcome(found.decision, found.trust, wrong, held, (own.high - own.low) / 2 / logged, codes)


def outcomes(task: tuple[World, int, tuple[str, ...]]) -> list[Outcome]:
    """What is said of the logs of a world."""
    world, logs, estimators = task
    return [outcome(world, seed, estimators) for seed in range(logs)]


def line(name: str, found: list[Outcome]) -> str:
    sound = [one for one in found if one.trust == "sound"]
    decided = sum(one.decision in ("better", "worse") for one in found)
    held = f"{np.mean([one.held for one in sound]):.3f}" if sound else "-"
    said = sum("rare-rewards" in one.codes for one in found)
    wrong = sum(one.wrong for one in found)
    cells = (
        name,
        len(found),
        len(sound),
        held,
        sum(one.wrong for one in sound),
        decided,
        wrong,
        f"{wrong / len(found):.3f}",
        said,
    )
    return "| " + " | ".join(map(str, cells)) + " |"


def lines(found: dict[World, list[Outcome]]) -> Iterator[str]:
    yield "| worlds | logs | sound | of these hold | sound and wrong | decided | wrong | share | `rare-rewards` |"
    yield "|---|--:|--:|--:|--:|--:|--:|--:|--:|"
    for what in ("epsilon", "rate", "rows", "candidates", "lift"):
        for value in dict.fromkeys(getattr(world, what) for world in found):
            some = [one for world, each in found.items() if getattr(world, what) == value for one in each]
            yield line(WORDS[what].format(value), some)
    yield line("**all**", [one for each in found.values() for one in each])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--logs", type=int, default=4)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--estimators", nargs="+", default=["snips"])
    parser.add_argument("--write", type=Path, help="the page that includes the table")
    given = parser.parse_args()
    worlds = [World(*one) for one in itertools.product(EPSILONS, RATES, ROWS, CANDIDATES, LIFTS)]
    with ProcessPoolExecutor(given.workers, multiprocessing.get_context("spawn")) as pool:
        tasks = [(world, given.logs, tuple(given.estimators)) for world in worlds]
        found = dict(zip(worlds, pool.map(outcomes, tasks), strict=True))
    told = [f"{given.logs} logs in each of {len(worlds)} cells.", "", *lines(found)]
    print(*told, sep="\n")
    if given.write:
        generated(given.write, "rare-rewards", told, "benchmarks/rare_rewards.py")


if __name__ == "__main__":
    main()
