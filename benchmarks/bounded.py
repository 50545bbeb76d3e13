"""What the choice of a bound on the weights costs: `clip(e, auto)`, `switch(e, auto)`, `shrink(e, auto)`.

Simulated logs of worlds with forty contexts: mild weights, heavy tails, few data, rare rewards, and a reward model
that is wrong where weights are large. Prints root mean squared errors without a bound, with the best and the worst
fixed one (nobody knows beforehand which that is), of `auto`, and of the other rules that were considered:

- slope: SLOPE over the same estimates, as for windows (only estimates with a known error are compared).
- every: SLOPE with all of them.
- range: the removed weight times the range of the reward as bias (Su et al. 2020), plus the squared error.

and how often 95 % intervals hold the truth: without a bound, of the chosen one alone, and as reported.

python benchmarks/bounded.py [--logs 200]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from rich.console import Console
from rich.table import Table

from offrank.estimators import IPS, Bounded, Clip, Shrink, Switch
from offrank.log.batch import Floats, Integers
from offrank.selection import least_error, slope
from offrank.sums.estimate import FEW_EFFECTIVE

CONTEXTS, Z = 40, 1.959964
KINDS: tuple[Bounded, ...] = (Clip(IPS(), "auto"), Switch(IPS(), "auto"), Shrink(IPS(), "auto"))
FORMS = ("ips", "snips", "dr")


@dataclass(frozen=True)
class World:
    """Slates that are drawn by chance [40, slates]; means and predictions of their rewards, 0 or 1."""

    name: str
    rows: int
    logging: Floats
    target: Floats
    mean: Floats
    predicted: Floats

    @property
    def truth(self) -> float:
        return float((self.target * self.mean).sum() / CONTEXTS)


def worlds() -> Iterator[World]:
    """Mild: ten slates, policies that resemble each other. Heavy: two hundred, of which the target likes few."""
    for name, rows, slates, sharp, rare, wrong in (
        ("mild", 1_000, 10, 1.0, False, False),
        ("heavy tails", 20_000, 200, 0.15, False, False),
        ("fewer data", 3_000, 200, 0.15, False, False),
        ("few data", 300, 200, 0.15, False, False),
        ("rare rewards", 20_000, 200, 0.15, True, False),
        ("wrong model", 20_000, 200, 0.15, False, True),
    ):
        rng = np.random.default_rng(7)
        score, shared, own = (rng.normal(size=(CONTEXTS, slates)) for _ in range(3))
        logging = _softmax(score + (0.5 if name == "mild" else 0.0) * shared)
        target = _softmax((0.7 * shared + 0.7 * (score if name == "mild" else own)) / sharp)
        liking = 0.6 * shared + 0.8 * rng.normal(size=shared.shape)
        mean = np.minimum(0.03 * np.exp(liking / 2), 1) if rare else 1 / (1 + np.exp(-liking))
        noise = 1 + 0.3 * rng.normal(size=mean.shape)
        off = np.where(target > 5 * logging, 0.5, 1.0) if wrong else 1.0
        yield World(name, rows, logging, target, mean, np.clip(mean * noise * off, 0, 1))


def _softmax(score: Floats) -> Floats:
    found = np.exp(score - score.max(axis=1, keepdims=True))
    return np.asarray(found / found.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class Estimated:
    """The estimates [m] of a log, the first without a bound: value, error, mean weight, effective number of weights.

    apart: errors of the differences to the last. reach: range of what is weighted.
    """

    value: Floats
    error: Floats
    kept: Floats
    effective: Floats
    apart: Floats
    reach: float

    @classmethod
    def of(
        cls, world: World, form: str, kind: Bounded, context: Integers, slate: Integers, reward: Floats
    ) -> Estimated:
        at = context, slate
        weight = world.target[at] / world.logging[at]
        weights = np.stack([weight, *(kind.cut(weight, limit) for limit in kind.grid)])
        base = (world.target * world.predicted).sum(axis=1)[context] if form == "dr" else np.zeros(world.rows)
        earned = reward - world.predicted[at] if form == "dr" else reward
        kept = weights.mean(axis=1)
        with np.errstate(all="ignore"):
            each = weights * earned + base
            value = each.mean(axis=1)
            influence = each - value[:, None]
            if form == "snips":
                value = value / kept
                influence = weights * (earned - value[:, None]) / kept[:, None]
            value, influence = np.nan_to_num(value), np.nan_to_num(influence)
            effective = np.nan_to_num(kept**2 * world.rows / (weights**2).mean(axis=1))
        error, apart = (np.sqrt((one**2).sum(axis=1)) / world.rows for one in (influence, influence - influence[-1]))
        return cls(value, error, kept, effective, apart, float(np.abs(earned).max()))

    def choices(self) -> dict[str, int]:
        """The index that each rule chooses."""
        error = np.where(self.error > 0, self.error, np.inf)
        known = np.where(self.effective >= FEW_EFFECTIVE, error, np.inf)
        bias = np.maximum(1 - self.kept, 0) * self.reach
        return {
            "auto": least_error(*(one.tolist() for one in (self.value, self.error, self.kept, self.apart))).index,
            "slope": slope(self.value.tolist(), known.tolist()).index,
            "every": slope(self.value.tolist(), error.tolist()).index,
            "range": int(np.argmin(bias**2 + error**2)),
        }

    def holds(self, truth: float, *which: int) -> bool:
        """Whether the union of some intervals holds the truth."""
        low, high = (
            min(self.value[i] - Z * self.error[i] for i in which),
            max(self.value[i] + Z * self.error[i] for i in which),
        )
        return bool(low <= truth <= high)


def judge(world: World, form: str, kind: Bounded, logs: int) -> dict[str, float]:
    """Root mean squared errors and shares of intervals that hold the truth."""
    rng = np.random.default_rng(1)
    below = world.logging.cumsum(axis=1)
    away: dict[str, list[float]] = {}
    fixed, held = [], []
    for _ in range(logs):
        context = rng.integers(CONTEXTS, size=world.rows)
        drawn = (rng.random(world.rows)[:, None] > below[context]).sum(axis=1)
        slate = np.minimum(drawn, world.logging.shape[1] - 1)
        reward = (rng.random(world.rows) < world.mean[context, slate]).astype(np.float64)
        found = Estimated.of(world, form, kind, context, slate, reward)
        fixed.append(found.value - world.truth)
        choices = found.choices()
        for rule, index in choices.items():
            away.setdefault(rule, []).append(float(found.value[index] - world.truth))
        held.append([found.holds(world.truth, *which) for which in ((0,), (choices["auto"],), (0, choices["auto"]))])
    each = np.sqrt(np.mean(np.square(fixed), axis=0))
    rules = {rule: float(np.sqrt(np.mean(np.square(errors)))) for rule, errors in away.items()}
    shares = dict(zip(("free", "alone", "reported"), np.mean(held, axis=0).tolist(), strict=True))
    return {"none": each[0], "best": each[1:].min(), "worst": each[1:].max(), **rules, **shares}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logs", type=int, default=200)
    given = parser.parse_args()
    errors, shares = ("none", "best", "worst", "auto", "slope", "every", "range"), ("free", "alone", "reported")
    table = Table("world", "rows", "estimator", *errors, *shares)
    ratios: dict[tuple[str, str], list[float]] = {}
    for world, form, kind in product(worlds(), FORMS, KINDS):
        if world.name == "wrong model" and form != "dr":
            continue
        found = judge(world, form, kind, given.logs)
        name = f"dr, {kind.name}" if form == "dr" else f"{kind.name}({form})"
        cells = [f"{found[one]:.4f}" for one in errors] + [f"{found[one]:.2f}" for one in shares]
        table.add_row(world.name, f"{world.rows:,}", name, *cells)
        for one, by in product(errors, ("none", "best")):
            ratios.setdefault((one, by), []).append(
                found[one] / (min(found["none"], found["best"]) if by == "best" else found[by])
            )
    console = Console(width=150)
    console.print(table)
    summary = Table("errors as multiples", *errors)
    for by, words in (("none", "of no bound"), ("best", "of the best")):
        every = [ratios[one, by] for one in errors]
        summary.add_row(f"{words}: geometric mean", *(f"{np.exp(np.mean(np.log(each))):.2f}" for each in every))
        summary.add_row(f"{words}: largest", *(f"{max(each):.2f}" for each in every))
    console.print(summary)


if __name__ == "__main__":
    main()
