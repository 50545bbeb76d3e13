"""Healthy logs: how often 95 % intervals hold the truth, with and without a warning of weights.

Slates hold all candidates, drawn by Plackett-Luce with weights exp(spread * merit); clicks follow a position-based
model. Warned: any warning or serious finding. The design (hidden share, effective size) is that of the first log.

    python benchmarks/design.py [--logs 60]
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
from _worlds import draw, lists, table
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

import offrank

SLOTS, CLICK_RATE = 5, 0.6
CURVE = 1 / np.arange(1, SLOTS + 1)
WORLDS = [
    (spread, target) for spread in (0.5, 1.0, 1.3) for target in ("top(new)", "plackett_luce(new, temperature=0.3)")
]
ROWS = (1000, 5000)
ESTIMATORS = ["ips", "rips", "ipm"]


def contexts(n: int, spread: float, rng: np.random.Generator) -> tuple[NDArray[np.float64], ...]:
    """[n, k] chance of a click at the top, old and new weights."""
    merit = rng.normal(size=(n, SLOTS))
    new = np.exp(spread * (0.5 * merit + rng.normal(scale=0.5, size=(n, SLOTS))))
    return CLICK_RATE / (1 + np.exp(-merit)), np.exp(spread * merit), new


def log(n: int, spread: float, rng: np.random.Generator) -> object:
    """A log of n impressions."""
    every = contexts(n, spread, rng)
    order = draw(every[1], rng)
    chance, old, new = (np.take_along_axis(one, order, axis=1) for one in every)
    clicks = (rng.random((n, SLOTS)) < CURVE * chance).astype(np.uint8)
    items = np.tile(np.arange(SLOTS), (n, 1))
    return table({"slate": lists(items), "old": lists(old), "new": lists(new), "clicks": lists(clicks)})


def truth(spread: float, target: str, rng: np.random.Generator) -> float:
    """What the target earns, of many contexts with their expected clicks."""
    chance, _, new = contexts(400_000, spread, rng)
    order = np.argsort(-new, axis=1) if target.startswith("top") else draw(new ** (1 / 0.3), rng)
    return float((CURVE * np.take_along_axis(chance, order, axis=1)).sum(axis=1).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--logs", type=int, default=60)
    logs = parser.parse_args().logs
    shown = Table(title=f"{logs} logs of each kind", title_justify="left")
    for heading in ("spread", "target", "rows", "estimator", "hidden", "design ess", "covered", "unwarned", "covered"):
        shown.add_column(heading, justify="right")
    total: list[tuple[bool, bool]] = []
    for spread, target in WORLDS:
        rng = np.random.default_rng(1)
        right = truth(spread, target, rng)
        for rows in ROWS:
            results = [
                offrank.evaluate(log(rows, spread, rng), target, "plackett_luce(old)", ESTIMATORS) for _ in range(logs)
            ]
            for name in ESTIMATORS:
                found = [one.estimates.given[target, name] for one in results if (target, name) in one.estimates.given]
                pairs = [(one.low <= right <= one.high, unwarned(one.warnings)) for one in found]
                total += pairs
                design = found[0].design
                cells = (f"{design.hidden:.3f}", f"{design.effective:.0f}", *covered(pairs))
                shown.add_row(f"{spread:g}", target.partition("(")[0], f"{rows:,}", name, *cells)
    console = Console(width=120)
    console.print(shown)
    console.print("all: covered {}, unwarned {}, of these covered {}".format(*covered(total)))


def unwarned(warnings: Sequence[offrank.Caution]) -> bool:
    return all(one.severity == "note" for one in warnings)


def covered(pairs: Sequence[tuple[bool, bool]]) -> tuple[str, str, str]:
    """Share of intervals that hold the truth, share that nothing is said of, and those of these that do."""
    good = [held for held, silent in pairs if silent]
    return (
        f"{np.mean([held for held, _ in pairs]):.3f}",
        f"{len(good) / len(pairs):.2f}",
        f"{np.mean(good):.3f}" if good else "-",
    )


if __name__ == "__main__":
    main()
