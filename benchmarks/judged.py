"""Clicks and judgements together: coverage and error of `judged`, and what its sensitivity and its audit are worth.

Queries and items are drawn anew for each log. The old ranker draws 3 of the first 8 of 12 candidates, the target sorts
all 12 by a score, so that a third of what it shows was never logged. Items of a grade earn alike on average, but for
a share by which those never logged earn more or less, or by which the rarely logged ones do.

    python benchmarks/judged.py [--logs 200] [--workers 1] [--write docs/how-to/clicks-and-judges.md]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from _page import generated

import offrank
from offrank.estimators import JudgedClicks

ROWS, QUERIES, ITEMS, OLD, SLOTS = 4000, 400, 12, 8, 3
LONGER = 40_000
"""Impressions of the longer logs, of which there are a fifth as many."""
MANY = 100_000
"""Queries of which the truth is the mean."""
LEVELS, RANKS = np.array([0.05, 0.1, 0.25, 0.4]), np.array([1, 0.6, 0.4])
LOGGING = "plackett_luce(old)"
HEADER = (
    *("never logged items of a grade earn", "truth", "bias", "error / that of `ipm`", "95 % held"),
    *("more than was logged", "decided", "rightly", "said to hold if so", "rightly"),
)
TARGET = "top(new)"
NEVER = (0.0, 0.1, -0.1, 0.2, -0.2, 0.4, -0.4, 0.6)
RARELY = (0.0, 0.2, 0.4)


@dataclass(frozen=True)
class World:
    """never, rarely: the share by which items never, or rarely, logged earn less; all: whether all are logged.

    rows: impressions of a log.
    """

    never: float = 0.0
    rarely: float = 0.0
    all: bool = False
    rows: int = ROWS

    def drawn(self, rng: np.random.Generator, queries: int) -> dict[str, Any]:
        """Return grades, what items attract, and both scores, [queries, items] each."""
        shape = queries, ITEMS
        grade, old = rng.integers(0, 4, shape), np.exp(0.5 * rng.normal(size=shape))
        new = np.arange(ITEMS) >= (ITEMS if self.all else OLD)
        rare = old < np.quantile(old, 1 / 3, axis=1, keepdims=True)
        attracts = LEVELS[grade] * rng.uniform(0.5, 1.5, shape)
        score = attracts + rng.normal(0, 1.0, shape)  # of what the new ranker knew, whatever the new items are worth
        attracts = attracts * np.where(new, 1 - self.never, np.where(rare, 1 - self.rarely, 1.0))
        return {"grade": grade, "attracts": attracts, "old": np.where(new, 0.0, old), "new": score}

    def truth(self) -> tuple[float, float]:
        """Return what the target and the old ranker earn per impression."""
        rng = np.random.default_rng(0)
        found = self.drawn(rng, MANY)
        slates = np.argsort(-found["new"], axis=1)[:, :SLOTS], drawn(found["old"], rng)
        one, other = ((np.take_along_axis(found["attracts"], each, axis=1) @ RANKS).mean() for each in slates)
        return float(one), float(other)

    def log(self, seed: int) -> tuple[pa.Table, pa.Table]:
        """Return a log, and its judgements."""
        rng = np.random.default_rng([int(100 * self.never) + 100, int(100 * self.rarely), self.all, self.rows, seed])
        found = self.drawn(rng, QUERIES)
        query = rng.integers(QUERIES, size=self.rows)
        slate = drawn(found["old"][query], rng)
        clicks = rng.random(slate.shape) < np.take_along_axis(found["attracts"][query], slate, axis=1) * RANKS
        lists = {"slate": slate, "clicks": clicks.astype(int), "candidates": np.tile(np.arange(ITEMS), (self.rows, 1))}
        lists |= {name: found[name][query] for name in ("old", "new")}
        pairs = np.indices(found["grade"].shape).reshape(2, -1)
        judged = pa.table({"query": pairs[0], "item": pairs[1], "grade": found["grade"].ravel()})
        return pa.table({"query": query} | {name: values.tolist() for name, values in lists.items()}), judged


def drawn(weights: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return slates by Plackett-Luce."""
    with np.errstate(divide="ignore"):
        return np.argsort(-np.log(weights) - rng.gumbel(size=weights.shape), axis=1)[:, :SLOTS]


def asked(world: World, seed: int) -> dict[str, Any]:
    """Return the numbers of one log: value, ends and width by estimator, and what `judged` says."""
    log, judgements = world.log(seed)
    beside = ["ipm", "snips", "snipm"] if world.all else ["ipm"]
    found = offrank.evaluate(log, TARGET, LOGGING, [*beside, JudgedClicks(judgements)])
    *_, judged = found.estimates.found
    [told] = found.to_dict()["judged"]
    every = {name.partition("(")[0]: one for (_, name), one in found.estimates.given.items()}
    numbers = {name: (one.value, one.low, one.high) for name, one in every.items()}
    away = found[judged].difference
    codes = [one.code for one in found[judged].warnings]
    return {"numbers": numbers, "away": (away.low, away.high), "told": told, "alarm": "grades-not-alike" in codes}


def row(world: World, every: list[dict[str, Any]]) -> list[str]:
    """Return the cells of a world."""
    truth, logged = world.truth()
    value, low, high = np.array([one["numbers"]["judged"] for one in every]).T
    plain = np.array([one["numbers"]["ipm"][0] for one in every])
    error, other = (float(np.sqrt(np.mean((one - truth) ** 2))) for one in (value, plain))
    decided = np.array([one["told"]["differs"] for one in every])
    right = decided == np.sign(truth - logged)
    less = np.array([np.nan if (one := each["told"].get("less")) is None else one for each in every])
    shift = world.never
    # The decision is said to hold in this world: unless items earn less than they do here.
    holds = (decided != 0) & (np.isnan(less) | (np.sign(less) * shift <= np.abs(less)))
    names = {0.0: "as much", **{one: f"{abs(one):.0%} {'less' if one > 0 else 'more'}" for one in NEVER[1:]}}
    return [
        names[shift],
        f"{truth:.3f}",
        f"{value.mean() - truth:+.3f}",
        f"{error / other:.2f}",
        f"{((low <= truth) & (truth <= high)).mean():.3f}",
        f"{truth / logged - 1:+.0%}",
        f"{(decided != 0).mean():.0%}",
        _share(right, decided != 0),
        f"{holds.mean():.0%}",
        _share(right, holds),
    ]


def _share(some: np.ndarray, among: np.ndarray) -> str:
    return f"{some[among].mean():.0%}" if among.any() else "-"


def width(every: list[dict[str, Any]], name: str) -> float:
    """Return the median of the width of `judged` over that of another estimator."""
    ratios = []
    for one in every:
        (_, low, high), other = one["numbers"]["judged"], one["numbers"].get(name)
        if other is not None and 0 < other[2] - other[1] < np.inf:
            ratios.append((high - low) / (other[2] - other[1]))
    return float(np.median(ratios))


def page(logs: int, each: Any) -> Iterator[str]:
    """Yield the lines of the tables. each: as `map`."""
    yield f"By `python benchmarks/judged.py`: {logs} logs a row, of {ROWS:,} impressions of {QUERIES} queries."
    yield ""
    yield f"| {' | '.join(HEADER)} |"
    yield "|---" + "|--:" * (len(HEADER) - 1) + "|"
    for world in [*map(World, NEVER), World(rows=LONGER)]:
        drawn_logs = range(logs if world.rows == ROWS else logs // 5)
        name, *cells = row(world, list(each(partial(asked, world), drawn_logs)))
        longer = f", {world.rows:,} impressions" if world.rows != ROWS else ""
        yield f"| {name}{longer} | {' | '.join(cells)} |"
    yield ""
    world = World(all=True)
    every = list(each(partial(asked, world), range(logs)))
    truth, _ = world.truth()
    value, low, high = np.array([one["numbers"]["judged"] for one in every]).T
    held = ((low <= truth) & (truth <= high)).mean()
    widths = ", ".join(f"`{name}` {width(every, name):.2f}" for name in ("snipm", "ipm", "snips"))
    yield f"Where all is logged: bias {value.mean() - truth:+.3f}, 95 % held {held:.3f}."
    yield f"Median width over that of {widths}."
    yield ""
    yield "| the rarest third of logged items earns | the audit alarms | in logs ten times as long |"
    yield "|---|--:|--:|"
    for rarely in RARELY:
        alarms = []
        for rows, number in ((ROWS, logs), (LONGER, logs // 5)):
            every = list(each(partial(asked, World(rarely=rarely, rows=rows)), range(number)))
            alarms.append(f"{np.mean([one['alarm'] for one in every]):.0%}")
        yield f"| {f'{rarely:.0%} less' if rarely else 'as much'} | {' | '.join(alarms)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logs", type=int, default=200)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--write", type=Path)
    arguments = parser.parse_args()
    with ProcessPoolExecutor(arguments.workers) as pool:
        lines = []
        for line in page(arguments.logs, pool.map):
            print(line, flush=True)
            lines.append(line)
    if arguments.write:
        generated(arguments.write, "judged", lines, "benchmarks/judged.py")


if __name__ == "__main__":
    main()
