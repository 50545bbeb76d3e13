"""An interval at 95 % that is looked at again and again: how often does it miss the truth at some look?

Equal amounts of new rows between looks, of which the mean is normal: what holds for any estimate of a long log.

    python benchmarks/looks.py [--logs 20000] [--write docs/concepts/trust.md]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from _page import generated

from offrank.language.formatting import percent

LOOKS = (1, 2, 7, 14, 30, 100)
Z = 1.959964


def lines(logs: int) -> Iterator[str]:
    rng = np.random.default_rng(0)
    sums = rng.normal(size=(logs, max(LOOKS))).cumsum(axis=1)
    missed = np.abs(sums) / np.sqrt(np.arange(1, max(LOOKS) + 1)) > Z
    yield "| looks | " + " | ".join(map(str, LOOKS)) + " |"
    yield "|---|" + "--:|" * len(LOOKS)
    yield (
        "| missed at some look | "
        + " | ".join(percent(missed[:, :looks].any(axis=1).mean(), 0) for looks in LOOKS)
        + " |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--logs", type=int, default=20_000)
    parser.add_argument("--write", type=Path, help="the page that includes the table")
    asked = parser.parse_args()
    told = list(lines(asked.logs))
    print(*told, sep="\n")
    if asked.write:
        generated(asked.write, "looks", told, "benchmarks/looks.py")


if __name__ == "__main__":
    main()
