"""An interval at 95 % that is looked at again and again: how often does it miss the truth at some look?

First in general: equal amounts of new rows between looks, of which the mean is normal, what holds for any estimate of a
long log. Then the intervals of offrank in simulated logs that grow by 1,000 rows on each of 14 days: a near ranking, a
far one with an effective share of .04, and rows of users, five each, who differ in how readily they click.

    python benchmarks/looks.py [--logs 200] [--write docs/concepts/trust.md]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
from _page import generated
from interval_coverage import LOGGING, simulate, truth
from rich.progress import track

import offrank
from offrank.inference.anytime import level_of_each
from offrank.language.formatting import percent
from offrank.policies import PlackettLuce
from offrank.sums.estimate import student

LOOKS = (1, 2, 7, 14, 30, 100)
DAYS, A_DAY = 14, 1_000
KINDS = ("studentised", "anytime")
WORLDS = {
    "near": ("independent rows", PlackettLuce("blend")),
    "far": ("independent rows", PlackettLuce("blend", temperature=0.13)),
    "users": ("cluster", PlackettLuce("blend")),
}
ESTIMATORS = ("ips", "snips", "snipm")


def of_normal_means(logs: int) -> Iterator[str]:
    rng = np.random.default_rng(0)
    sums = rng.normal(size=(logs, max(LOOKS))).cumsum(axis=1)
    away = np.abs(sums) / np.sqrt(np.arange(1, max(LOOKS) + 1))
    yield "| looks | " + " | ".join(map(str, LOOKS)) + " |"
    yield "|---|" + "--:|" * len(LOOKS)
    for kind, level in zip(KINDS, (0.95, level_of_each(0.95)), strict=True):
        missed = [(away[:, :looks] > student(0.5 + level / 2, np.inf)).any(axis=1).mean() for looks in LOOKS]
        yield f"| {kind}: missed at some look | " + " | ".join(percent(one, 0) for one in missed) + " |"


def looked_at(found: offrank.Result) -> np.ndarray:
    """[days, estimators, number or its difference to the log, (low, high)] of all rows up to each day."""
    ends = []
    for numbers in found.cumulative.values():
        each = [numbers[name] for name in ESTIMATORS]
        ends.append([[(one.low, one.high), (one.difference.low, one.difference.high)] for one in each])
    return np.array(ends, float)


def of_logs(logs: int) -> Iterator[str]:
    yield "| world | estimator | studentised: value / difference missed | anytime: value / difference missed | width |"
    yield "|---|---|--:|--:|--:|"
    for world, (kind, target) in WORLDS.items():
        right = truth(target), truth(target) - truth(LOGGING)
        missed, widths = np.zeros((len(KINDS), len(ESTIMATORS), 2)), np.zeros((len(KINDS), len(ESTIMATORS)))
        for seed in track(range(logs), world, transient=True):
            log = simulate(kind, DAYS * A_DAY // (2 if kind == "cluster" else 1), np.random.default_rng(seed))
            log = log.append_column("day", pa.array([f"2026-05-{1 + at // A_DAY:02}" for at in range(len(log))]))
            asked = {"by": "day", "cluster": "user" if kind == "cluster" else "none"}
            once = offrank.evaluate(log, target, LOGGING, list(ESTIMATORS), **asked)
            for at, found in enumerate((once, once.at(level_of_each(0.95)))):
                ends = looked_at(found)
                missed[at] += ((ends[..., 0] > right) | (ends[..., 1] < right)).any(axis=0) / logs
                widths[at] += (ends[-1, :, 0, 1] - ends[-1, :, 0, 0]) / logs
        for at, name in enumerate(ESTIMATORS):
            both = (" / ".join(percent(one, 1) for one in kind[at]) for kind in missed)
            yield f"| {world} | `{name}` | " + " | ".join(both) + f" | {widths[1, at] / widths[0, at]:.2f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--logs", type=int, default=200)
    parser.add_argument("--write", type=Path, help="the page that includes the tables")
    asked = parser.parse_args()
    tables = {"looks": [*of_normal_means(100 * asked.logs)], "looks-of-logs": [*of_logs(asked.logs)]}
    for name, told in tables.items():
        print(*told, "", sep="\n")
        if asked.write:
            generated(asked.write, name, told, "benchmarks/looks.py")


if __name__ == "__main__":
    main()
