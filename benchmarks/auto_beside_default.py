"""`-e auto` beside the default estimators on healthy logs: is it as sound, how wide is it, how far is it off?

python benchmarks/auto_beside_default.py [--logs 50] [--rows 5000] [--write docs/concepts/selection.md]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from _page import generated
from trust_worlds import HEALTHY, World

import offrank
from offrank.findings.verdict import Verdict
from offrank.language.formatting import percent

DEFAULT = ("ips", "snips")


@dataclass(frozen=True)
class Beside:
    """Two verdicts on one log, and the truth."""

    default: Verdict
    auto: Verdict
    truth: float

    @property
    def contains(self) -> bool:
        one, other = self.auto.value, self.default.value
        return one is not None and other is not None and one.low <= other.low and one.high >= other.high

    @property
    def answered(self) -> bool:
        return self.auto.value is not None and self.default.value is not None


def width(found: Verdict) -> float:
    return np.nan if found.value is None else found.value.high - found.value.low


def error(found: Verdict, truth: float) -> float:
    return np.nan if found.value is None else abs(found.value.value - truth)


def beside(world: World, rows: int, seed: int) -> Beside:
    log, question = world.table(rows, seed), {**world.question()}
    question.pop("estimators")
    verdicts = (offrank.evaluate(log, estimators=asked, **question).verdict for asked in (DEFAULT, "auto"))
    return Beside(*verdicts, world.truth)


def lines(found: list[Beside]) -> Iterator[str]:
    both = [one for one in found if one.answered]
    sound = [one for one in both if one.default.trust == "sound"]
    kept = [one for one in sound if one.contains]
    ratios = [width(one.auto) / width(one.default) for one in both]
    errors = [error(one.auto, one.truth) / error(one.default, one.truth) for one in both]
    held = [one.auto.value is not None and one.auto.value.low <= one.truth <= one.auto.value.high for one in both]
    yield "| `-e auto` beside `-e ips -e snips` | |"
    yield "|---|--:|"
    yield f"| logs, both with an answer | {len(both)} of {len(found)} |"
    yield f"| the default is sound | {len(sound)} |"
    yield f"| of these auto's interval contains the default's | {len(kept)} |"
    yield f"| of these auto is sound | {sum(one.auto.trust == 'sound' for one in kept)} |"
    yield f"| width, auto over default: median, and a quarter to three quarters | {quarters(ratios)} |"
    yield f"| distance from the truth, auto over default: likewise | {quarters(errors)} |"
    yield f"| auto's interval holds the truth | {percent(np.mean(held), 0)} |"


def quarters(found: list[float]) -> str:
    low, middle, high = np.quantile(found, [0.25, 0.5, 0.75])
    return f"{middle:.2f} ({low:.2f} to {high:.2f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--logs", type=int, default=50)
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--write", type=Path, help="the page that includes the table")
    asked = parser.parse_args()
    worlds = [world for world in HEALTHY if "estimators" not in world.options and world.sampled is None]
    tasks = [(worlds[place % len(worlds)], place // len(worlds)) for place in range(asked.logs)]
    found = []
    for world, seed in tasks:
        try:
            found.append(beside(world, asked.rows, seed))
        except offrank.OffrankError as refused:
            print(f"{world.name}: {refused.code}")
    told = [f"{asked.logs} healthy logs of {asked.rows:,} rows.", "", *lines(found)]
    print(*told, sep="\n")
    if asked.write:
        generated(asked.write, "auto", told, "benchmarks/auto_beside_default.py")


if __name__ == "__main__":
    main()
