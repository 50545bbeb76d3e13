"""Healthy logs stay healthy: how many are refused, how many answers are sound, and how many of these hold the truth.

The worlds of `trust_worlds` in which nothing is wrong, each asked about a target that a log of this length can answer:
a ranker near the logging policy, by the default estimators.

    python benchmarks/healthy.py [--logs 40] [--rows 20000] [--workers 2] [--write docs/concepts/trust.md]
"""

from __future__ import annotations

import argparse
import multiprocessing
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

from _page import generated
from trust_worlds import HEALTHY, WORLDS, World
from trust_worlds.engine import Law
from trust_worlds.measure import NONE, SOUND, Outcome, Share, outcome

NEAR = Law("near_score", temperature=0.8)
NEARER = Law("old_score", top=True, epsilon=0.3)
"""A target near a log that is drawn by a fixed ranking with random slates in between."""


def asked(world: World) -> World:
    """The same log, asked what it can answer."""
    fixed = world.drawn.top or "random swaps" in world.name
    return replace(world, target=NEARER if fixed else NEAR, estimators=("ips", "snips"))


def outcomes(task: tuple[str, int, int]) -> list[Outcome]:
    """What is said of the logs of a world."""
    name, rows, logs = task
    return [outcome(asked(WORLDS[name]), rows, seed) for seed in range(logs)]


def line(name: str, found: list[Outcome]) -> str:
    sound = [one for one in found if one.trust == SOUND]
    refused = sum(one.trust == NONE for one in found)
    return f"| {name} | {len(found)} | {refused} | {Share.that(one.trust == SOUND for one in found)} | {held(sound)} |"


def held(sound: list[Outcome]) -> str:
    return str(Share.that(one.held for one in sound))


def lines(found: dict[str, list[Outcome]]) -> Iterator[str]:
    yield "| world | logs | trust none | sound | sound ones that hold the truth |"
    yield "|---|--:|--:|--:|--:|"
    yield from (line(name, each) for name, each in found.items())
    yield line("**all**", [one for each in found.values() for one in each])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--logs", type=int, default=40)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--write", type=Path, help="the page that includes the table")
    given = parser.parse_args()
    names = [one.name for one in HEALTHY if one.sampled is None and "examination" not in one.options]
    with ProcessPoolExecutor(given.workers, multiprocessing.get_context("spawn")) as pool:
        tasks = [(name, given.rows, given.logs) for name in names]
        found = dict(zip(names, pool.map(outcomes, tasks), strict=True))
    told = [f"Logs of {given.rows:,} rows.", "", *lines(found)]
    print(*told, sep="\n")
    if given.write:
        generated(given.write, "healthy", told, "benchmarks/healthy.py")


if __name__ == "__main__":
    main()
