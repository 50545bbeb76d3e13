"""What estimates are worth in impressions of the target, truly and as reported; and how self-normalised ones normalise.

In many simulated logs of a small world: truly is the variance of one impression's reward under the target over the
variance of the estimates; reported the median `ess`. `kish` is the effective number of the weights that are averaged
over slots. Then the error of a normaliser per slot and of a pooled one.

    python benchmarks/worth.py [--logs 300] [--rows 5000] [--slots 2 5 10]
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from rich.console import Console
from rich.table import Table

import offrank
from offrank.log.batch import Contexts, Floats, Integers, LogBatch, Shown
from offrank.policies import policy
from offrank_testing import MemorySource

ESTIMATORS = [
    "logged",
    "ips",
    "snips",
    "pi",
    "wpi",
    "rips",
    "snrips",
    "snrips(normaliser=pooled)",
    "ipm",
    "snipm",
    "snipm(normaliser=pooled)",
    "interpol(window=1)",
    "sninterpol(window=1)",
    "pbm",
]
WORLDS = {  # users, scale of the clicks, logging, whether slates are of unlike length
    "rare clicks": ("position", 0.15, "uniform", False),
    "many clicks": ("position", 1.0, "uniform", False),
    "clicks all but sure": ("position", 3.0, "uniform", False),
    "no position bias": ("item", 0.6, "plackett_luce(old)", False),
    "reads down to a click": ("cascade", 0.6, "plackett_luce(old)", False),
    "unlike users": ("eager", 0.6, "plackett_luce(old)", False),
    "unlike lengths": ("position", 0.6, "plackett_luce(old)", True),
}
QUERIES, TARGET = 50, policy("top(new)")


@dataclass(frozen=True)
class World:
    """Queries with `items` candidates, of which slates of `slots` (ragged: 1 to `slots`) are shown."""

    users: str
    scale: float
    logging: str
    ragged: bool
    slots: int
    items: int

    @cached_property
    def relevance(self) -> Floats:
        return np.minimum(self.scale * np.random.default_rng(1).beta(1.5, 3, (QUERIES, self.items)), 0.97)

    @cached_property
    def examination(self) -> Floats:
        ranks = np.arange(1, self.slots + 1)
        return ranks**-0.7 if self.users == "position" else np.ones(self.slots)

    def contexts(self, query: Integers) -> Contexts:
        noise = np.random.default_rng(2).normal(size=(2, QUERIES, self.items))
        merit = 3 * self.relevance / min(self.scale, 1)
        scores = {"old": np.exp(0.3 * merit + 0.5 * noise[0])[query], "new": (merit + 0.3 * noise[1])[query]}
        length = np.random.default_rng(3).integers(1, self.slots + 1, QUERIES)[query]
        n = len(query)
        items = np.tile(np.arange(self.items), (n, 1))
        return Contexts(items, np.full(n, self.items), length if self.ragged else np.full(n, self.slots), scores)

    def clicks(self, query: Integers, slates: Integers, rng: np.random.Generator) -> Floats:
        chance = np.where(slates >= 0, self.relevance[query[:, None], np.maximum(slates, 0)], 0.0)
        chance = chance * self.examination[: slates.shape[1]]
        if self.users == "eager":
            chance = chance * rng.choice([0.2, 1.0], (len(query), 1))
        clicks = (rng.random(slates.shape) < chance).astype(np.float64)
        if self.users == "cascade":
            clicks *= np.cumsum(clicks, axis=1) <= 1
        return clicks

    def batch(self, rows: int, shown_by: str, rng: np.random.Generator) -> LogBatch:
        query = rng.integers(QUERIES, size=rows)
        contexts = self.contexts(query)
        slates = policy(shown_by).sample(contexts, rng)
        clicks = self.clicks(query, slates, rng)
        return LogBatch(contexts, Shown(slates), clicks, None, np.ones(rows), np.arange(rows, dtype=np.uint64))

    def on_policy(self, shown_by: str) -> tuple[float, float]:
        """Mean and variance of the clicks of an impression of a policy."""
        earned = self.batch(400_000, shown_by, np.random.default_rng(5)).reward
        return float(earned.mean()), float(earned.var())


@dataclass(frozen=True)
class Found:
    """Of every estimator, log by log, [logs, estimators]; nan where there is no estimate."""

    value: Floats
    ess: Floats
    weights: Floats


def run(world: World, names: list[str], logs: int, rows: int) -> Found:
    rng, found = np.random.default_rng(7), np.full((3, logs, len(names)), np.nan)
    for log in range(logs):
        batch = world.batch(rows, world.logging, rng)
        given = offrank.evaluate(
            MemorySource((batch,)), TARGET, world.logging, names, examination=list(world.examination)
        ).estimates.given
        for place, name in enumerate(names):
            if ("top(new)", name) in given:
                one = given["top(new)", name]
                spread = one.mean_weight_interval.standard_error if one.mean_weight_interval else np.nan
                kish = rows / (1 + rows * spread**2 / one.mean_weight**2) if one.mean_weight else np.nan
                found[:, log, place] = one.value, one.ess, kish
    return Found(*found)


def show(title: str, world: World, logs: int, rows: int) -> None:
    names = [name for name in ESTIMATORS if name != "pbm" or (world.items == world.slots and not world.ragged)]
    found, (target, logging) = run(world, names, logs, rows), map(world.on_policy, ("top(new)", world.logging))
    value = target[0]
    table = Table(title=f"{title}, {world.slots} slots of {world.items}: value {value:.3f}", title_justify="left")
    for heading in ("estimator", "bias", "rmse", "truly worth", "reported", "ratio", "kish of mean weights"):
        table.add_column(heading, justify="left" if heading == "estimator" else "right")
    for place, name in enumerate(names):
        each, (mean, variance) = found.value[:, place], logging if name == "logged" else target
        if np.isnan(each).mean() > 0.5:
            table.add_row(name, *6 * ["no overlap"])
            continue
        each = np.where(np.isnan(each), 0.0, each)
        true, told = variance / each.var(ddof=1), np.nanmedian(found.ess[:, place])
        rmse, kish = np.sqrt(((each - mean) ** 2).mean()), np.nanmedian(found.weights[:, place])
        table.add_row(
            name,
            f"{each.mean() - mean:.4f}",
            f"{rmse:.4f}",
            *(f"{x:,.0f}" for x in (true, told)),
            f"{told / true:.2f}",
            f"{kish:,.0f}",
        )
    Console(width=120).print(table)


def show_scale() -> None:
    """By arithmetic: rare clicks, as frequent in each slot; uniform logging, ten candidates, a target that sorts."""
    table = Table(title="1,000,000 impressions are worth", title_justify="left")
    for heading in ("slots", "ips", "rips", "ipm"):
        table.add_column(heading, justify="right")
    for slots in range(1, 6):
        prefixes = [np.prod(10 - np.arange(k + 1)) for k in range(slots)]  # 1 / P(the first slots agree)
        worth = 1 / prefixes[-1], slots / np.sum(prefixes), 1 / 10
        table.add_row(str(slots), *(f"{1e6 * share:,.0f}" for share in worth))
    Console(width=120).print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--logs", type=int, default=300)
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--slots", type=int, nargs="+", default=[2, 5, 10])
    parser.add_argument("--worlds", nargs="+", default=list(WORLDS), choices=list(WORLDS))
    given = parser.parse_args()
    show_scale()
    for slots in given.slots:
        for title in given.worlds:
            users, scale, logging, ragged = WORLDS[title]
            show(title, World(users, scale, logging, ragged, slots, slots + 2), given.logs, given.rows)


if __name__ == "__main__":
    main()
