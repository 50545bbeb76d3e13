"""What it costs that windows and bounds are chosen from the log: beside the best fixed one, which nobody knows.

python benchmarks/choices.py windows [--logs 300] [--form paper] [--sizes 500 5000 50000] [--details]
python benchmarks/choices.py bounds [--logs 200]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from _page import run
from rich.console import Console
from rich.table import Table

from offrank.estimators import IPS, Bounded, Clip, Shrink, Switch
from offrank.estimators.items import Form, Interpol
from offrank.log.batch import Contexts, Floats, Integers, LogBatch, Shown
from offrank.policies import propensities
from offrank.selection import least_error, slope
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


def judge_windows(stay: float, form: Form, n: int, logs: int, seed: int) -> dict[str, Floats]:
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


def every_world(form: Form, n: int, found: dict[float, dict[str, Floats]]) -> Table:
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


def windows(
    *,
    logs: int = 300,
    form: str = "paper",
    sizes: Sequence[int] = (500, 5_000, 50_000),
    seed: int = 3,
    details: bool = False,
) -> None:
    """What SLOPE's choice of a window costs, over the worlds of paper interpol, appendix B.

    Every power of the curve x every stay probability x sizes of the log; simulated logs, the same for all powers.
    Prints mean squared errors as multiples of the best fixed window's, and how often intervals hold the truth; with
    `details`, every world.
    """
    told: Form = "windowed" if form == "windowed" else "paper"
    for n in sizes:
        found = {stay: judge_windows(stay, told, n, logs, seed) for stay in STAYS}
        Console(width=120).print(summary(told, n, found), coverage(told, n, found))
        if details:
            Console(width=120).print(every_world(told, n, found))


def bounds(*, logs: int = 200) -> None:
    """What the choice of a bound on the weights costs: `clip(e, auto)`, `switch(e, auto)`, `shrink(e, auto)`.

    Simulated logs of worlds with forty contexts: mild weights, heavy tails, few data, rare rewards, and a reward model
    that is wrong where weights are large. Prints root mean squared errors without a bound, with the best and the worst
    fixed one, of `auto`, and of the other rules that were considered:

    - slope: SLOPE over the same estimates, as for windows (only estimates with a known error are compared).
    - every: SLOPE with all of them.
    - range: the removed weight times the range of the reward as bias (Su et al. 2020), plus the squared error.

    and how often 95 % intervals hold the truth: without a bound, of the chosen one alone, and as reported.
    """
    errors, shares = ("none", "best", "worst", "auto", "slope", "every", "range"), ("free", "alone", "reported")
    table = Table("world", "rows", "estimator", *errors, *shares)
    ratios: dict[tuple[str, str], list[float]] = {}
    for world, form, kind in product(worlds(), FORMS, KINDS):
        if world.name == "wrong model" and form != "dr":
            continue
        found = judge(world, form, kind, logs)
        name = f"dr, {kind.name}" if form == "dr" else f"{kind.name}({form})"
        cells = [f"{found[one]:.4f}" for one in errors] + [f"{found[one]:.2f}" for one in shares]
        table.add_row(world.name, f"{world.rows:,}", name, *cells)
        for one, by in product(errors, ("none", "best")):
            against = min(found["none"], found["best"]) if by == "best" else found[by]
            ratios.setdefault((one, by), []).append(found[one] / against)
    total = Table("errors as multiples", *errors)
    for by, words in (("none", "of no bound"), ("best", "of the best")):
        every = [ratios[one, by] for one in errors]
        total.add_row(f"{words}: geometric mean", *(f"{np.exp(np.mean(np.log(each))):.2f}" for each in every))
        total.add_row(f"{words}: largest", *(f"{max(each):.2f}" for each in every))
    Console(width=150).print(table, total)


COMMANDS = {windows: "", bounds: ""}
if __name__ == "__main__":
    run(__file__, COMMANDS)
