"""What SLOPE's choice of a window costs, over the worlds of paper interpol, appendix B.

Every power of the curve x every stay probability x sizes of the log; simulated logs, the same for all powers. Prints
mean squared errors as multiples of the best fixed window's, which nobody knows beforehand, and how often intervals
hold the truth.

python benchmarks/slope.py [--logs 300] [--form paper] [--sizes 500 5000 50000]
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from rich.console import Console
from rich.table import Table

from offrank.estimators.items import Form, Interpol
from offrank.log.batch import Contexts, Floats, LogBatch, Shown
from offrank.policies import propensities
from offrank.selection import slope
from offrank.sums.estimate import FEW_EFFECTIVE
from offrank_papers import toy
from offrank_papers.interpol_numbers import POWERS, STAYS, curve

WINDOWS = range(toy.ITEMS)
MULTIPLES = (1.0, 2.0, 4.0)


@dataclass(frozen=True)
class Weights:
    """What an item shown at a rank counts for: weight and control [powers, windows, items, ranks]."""

    stay: float
    form: Form

    @cached_property
    def tables(self) -> tuple[Floats, Floats]:
        ranks = np.arange(toy.ITEMS)
        # Slate r shows item i at rank (i + r) mod 10, so ten slates hold every item at every rank.
        slates = (ranks[None, :] - ranks[:, None]) % toy.ITEMS
        contexts: Contexts = toy.contexts(toy.ITEMS)
        nothing = np.zeros(slates.shape)
        log = LogBatch(contexts, Shown(slates), nothing, None, np.ones(10), np.arange(10, dtype=np.uint64))
        world = toy.ToyWorld(stay=self.stay)
        logging, target = propensities(world.logging, log), propensities(world.target, log)
        weight, control = np.zeros((2, len(POWERS), len(WINDOWS), toy.ITEMS, toy.ITEMS))
        for p, power in enumerate(POWERS):
            for w in WINDOWS:
                found = Interpol(window=w, form=self.form, examination=curve(power)).weigh(log, logging, target)
                for row, slate in enumerate(slates):
                    weight[p, w, slate, ranks] = found.weight[row]
                    control[p, w, slate, ranks] = found.control[row]
        return weight, control


@dataclass(frozen=True)
class Drawn:
    """Estimates, standard errors and effective sample sizes [powers, windows] of one log."""

    value: Floats
    error: Floats
    effective: Floats


def draw(weights: Weights, n: int, rng: np.random.Generator) -> Drawn:
    """A log; slates that show the base ranking are counted, the others drawn one by one."""
    shuffled = rng.binomial(n, (1 - weights.stay) * toy.ITEMS / (toy.ITEMS - 1))
    rank = np.argsort(rng.random((shuffled, toy.ITEMS)), axis=1)  # of each item
    base = np.argsort(toy.BASE)[None, :]
    weight, control = weights.tables
    sums, squares = np.zeros((2, len(POWERS), len(WINDOWS)))
    looked_at = toy.EXAMINATION[rank[:, list(toy.RELEVANT)]]
    single = rng.random(looked_at.shape) < looked_at
    usual = rng.random((n - shuffled, len(toy.RELEVANT))) < toy.EXAMINATION[base[:, list(toy.RELEVANT)]]
    patterns, times = np.unique(usual, axis=0, return_counts=True)
    for ranks, clicks, counts in (
        (rank, single, np.ones(shuffled)),
        (np.repeat(base, len(patterns), axis=0), patterns, times),
    ):
        value = sum(weight[:, :, item, ranks[:, item]] * clicks[:, place] for place, item in enumerate(toy.RELEVANT))
        sums += value @ counts
        squares += value**2 @ counts
    error = np.sqrt(np.maximum(squares - sums**2 / n, 0) / (n * (n - 1)))
    return Drawn(sums / n, error, _effective(control, rank, base, n - shuffled))


def _effective(control: Floats, rank: Floats, base: Floats, unshuffled: int) -> Floats:
    """(sum of weights)^2 / sum of squares, a weight being the mean control over the slots."""
    if unshuffled > 20_000:  # where it is far above what could be too few
        return np.full(control.shape[:2], np.inf)
    items = range(toy.ITEMS)
    drawn = sum(control[:, :, item, rank[:, item]] for item in items) / toy.ITEMS
    usual = sum(control[:, :, item, base[:, item]] for item in items) / toy.ITEMS
    sums = drawn.sum(axis=2) + unshuffled * usual[:, :, 0]
    return sums**2 / ((drawn**2).sum(axis=2) + unshuffled * usual[:, :, 0] ** 2)


def judge(stay: float, form: Form, n: int, logs: int, seed: int) -> dict[str, Floats]:
    """Per power: mean squared errors of the rules and fixed windows, and shares of intervals that hold the truth."""
    rng, weights = np.random.default_rng([seed, n, int(1000 * stay)]), Weights(stay, form)
    exact = [
        toy.term_moments(
            toy.ToyWorld(stay=stay), [Interpol(window=w, form=form, examination=curve(p)) for w in WINDOWS]
        )
        for p in POWERS
    ]
    fixed = np.array([(mean - toy.TRUTH) ** 2 + variance / n for mean, variance in exact])
    squared, held = np.zeros((len(MULTIPLES), len(POWERS))), np.zeros((3, len(POWERS)))
    for _ in range(logs):
        found = draw(weights, n, rng)
        half = np.where((found.effective < FEW_EFFECTIVE) | (found.error == 0), np.inf, found.error)
        for p in range(len(POWERS)):
            chosen = [slope(found.value[p], half[p], multiple).index for multiple in MULTIPLES]
            squared[:, p] += (found.value[p][chosen] - toy.TRUTH) ** 2
            held[:, p] += _held(found.value[p], found.error[p], half[p], chosen[1])
    found_errors = {f"slope, {m:g} s.e.": squared[i] / logs for i, m in enumerate(MULTIPLES)}
    shares = dict(zip(("IPM", "chosen alone", "as reported"), held / logs, strict=True))
    best = {"best": fixed.min(axis=1), "IPM error": fixed[:, 0], "PBM error": fixed[:, -1], "window 2": fixed[:, 2]}
    return {**best, **found_errors, **shares}


def _held(value: Floats, error: Floats, half: Floats, chosen: int) -> list[bool]:
    """Whether the intervals of the IPM, of the chosen window, and of this with the first trusted hold the truth."""
    low, high = value - 1.96 * error, value + 1.96 * error
    inside = [bool(low[w] <= toy.TRUTH <= high[w]) for w in (0, chosen)]
    first = int(np.isfinite(half).argmax())
    return [*inside, bool(min(low[first], low[chosen]) <= toy.TRUTH <= max(high[first], high[chosen]))]


def summary(form: Form, n: int, found: dict[float, dict[str, Floats]]) -> Table:
    table = Table(
        title=f"form={form}, {n:,} impressions: error as a multiple of the best window's", title_justify="left"
    )
    names = ("slope, 1 s.e.", "slope, 2 s.e.", "slope, 4 s.e.", "IPM error", "window 2", "PBM error")
    for heading in ("", *names):
        table.add_column(heading.removesuffix(" error"), justify="right" if heading else "left")
    ratios = {name: np.concatenate([one[name] / one["best"] for one in found.values()]) for name in names}
    table.add_row("geometric mean", *(f"{np.exp(np.log(ratios[name]).mean()):.2f}" for name in names))
    table.add_row("9 of 10 worlds below", *(f"{np.quantile(ratios[name], 0.9):.1f}" for name in names))
    table.add_row("worst", *(f"{ratios[name].max():.1f}" for name in names))
    return table


def details(form: Form, n: int, found: dict[float, dict[str, Floats]]) -> Table:
    table = Table(title=f"form={form}, {n:,} impressions: 10^4 mean squared error", title_justify="left")
    for heading in ("stay", "power", "slope", "best window", "IPM", "PBM"):
        table.add_column(heading, justify="right")
    for stay, one in found.items():
        for p, power in enumerate(POWERS):
            numbers = (one[name][p] for name in ("slope, 2 s.e.", "best", "IPM error", "PBM error"))
            table.add_row(f"{stay:g}", f"{power:g}", *(f"{1e4 * number:.4g}" for number in numbers))
    return table


def coverage(form: Form, n: int, found: dict[float, dict[str, Floats]]) -> Table:
    table = Table(title=f"form={form}, {n:,} impressions: 95 % intervals that hold the truth", title_justify="left")
    table.add_column("interval of")
    for heading in ("mean over worlds", "least"):
        table.add_column(heading, justify="right")
    for name in ("IPM", "chosen alone", "as reported"):
        shares = np.concatenate([one[name] for one in found.values()])
        table.add_row(name, f"{shares.mean():.3f}", f"{shares.min():.3f}")
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logs", type=int, default=300)
    parser.add_argument("--form", choices=["paper", "windowed"], default="paper")
    parser.add_argument("--sizes", type=int, nargs="+", default=[500, 5_000, 50_000])
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--details", action="store_true", help="print every world")
    given = parser.parse_args()
    console = Console(width=120)
    for n in given.sizes:
        found = {stay: judge(stay, given.form, n, given.logs, given.seed) for stay in STAYS}
        console.print(summary(given.form, n, found), coverage(given.form, n, found))
        if given.details:
            console.print(details(given.form, n, found))


if __name__ == "__main__":
    main()
