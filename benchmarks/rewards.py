"""Rewards that are rare or skewed: how often intervals hold the truth, what is declared, and what is said of both.

python benchmarks/rewards.py rare [--logs 4] [--workers 1] [--estimators snips] [--write]
python benchmarks/rewards.py skewed [--logs 400] [--rows 1000 3000] [--workers 2] [--only NAME] [--kept FILE]
[--write]
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from _page import markdown_head, markdown_row, measured, restored, run
from trust_worlds.engine import Draft, Floats, Law, Step, Users
from trust_worlds.world import World

import offrank

EPSILONS, RATES, ROWS, CANDIDATES = (0.02, 0.1, 0.3), (0.005, 0.02, 0.06, 0.2), (2000, 16_000, 100_000), (5, 20, 50)
LIFTS = (1.0, 1.3, 0.7)
"""What the target's items earn where it shows others, as a share of those that the log shows there."""
AGREE = 0.78
CONTEXTS = 300
WORDS = {
    "epsilon": "explored: {:.0%}",
    "rate": "clicked: {:.1%}",
    "rows": "{:,} rows",
    "candidates": "{} candidates",
    "lift": "there it earns {:.0%}",
}


@dataclass(frozen=True)
class Exploring:
    """Contexts of some candidates, of which the log mostly shows the first by one score, the target that by another."""

    epsilon: float
    rate: float
    rows: int
    candidates: int
    lift: float = 1.0

    def log(self, seed: int) -> tuple[pa.Table, float, float]:
        """Return a log, and what its policy and the target earn per impression."""
        name = [int(1e6 * self.epsilon), int(1e6 * self.rate), self.rows, self.candidates, int(100 * self.lift)]
        rng = np.random.default_rng([*name, seed])
        shape = CONTEXTS, self.candidates
        first, other = np.argsort(rng.random(shape), axis=1)[:, :2].T
        each = np.arange(CONTEXTS)
        rates = self.rate * 0.7 * rng.gamma(8.0, 1 / 8, shape)
        rates[each, first] = self.rate * rng.gamma(8.0, 1 / 8, CONTEXTS)
        apart = rng.random(CONTEXTS) >= AGREE
        best = np.where(apart, other, first)
        rates[each[apart], other[apart]] = self.lift * rates[each[apart], first[apart]]
        rates = np.minimum(rates, 1.0)
        old, new = rng.random(shape), rng.random(shape)
        old[each, first], new[each, best] = 2.0, 2.0
        law = np.full(shape, self.epsilon / self.candidates)
        law[each, first] += 1 - self.epsilon
        context = rng.integers(CONTEXTS, size=self.rows)
        uniform = rng.random(self.rows) < self.epsilon
        shown = np.where(uniform, rng.integers(self.candidates, size=self.rows), first[context])
        clicked = rng.random(self.rows) < rates[context, shown]
        columns = {
            "old": old[context],
            "new": new[context],
            "candidates": np.arange(self.candidates)[None] + 100 * context[:, None],
        }
        lists = {key: pa.FixedSizeListArray.from_arrays(one.ravel(), self.candidates) for key, one in columns.items()}
        slate = pa.FixedSizeListArray.from_arrays(shown + 100 * context, 1)
        clicks = pa.FixedSizeListArray.from_arrays(clicked.astype(np.int8), 1)
        table = pa.table({**lists, "slate": slate, "clicks": clicks})
        return table, float((law * rates).sum(axis=1).mean()), float(rates[each, best].mean())


class Declared(NamedTuple):
    """What was said of one log."""

    decision: str
    trust: str
    wrong: bool
    held: bool
    width: float
    codes: tuple[str, ...]


def outcome(world: Exploring, seed: int, estimators: tuple[str, ...]) -> Declared:
    """What is said of a log of a world."""
    table, logged, truth = world.log(seed)
    asked = "top(new)", f"epsilon(top(old), {world.epsilon})", list(estimators)
    try:
        found = offrank.evaluate(table, *asked).verdict
    except offrank.OffrankError as error:
        return Declared("unknown", "none", False, True, np.nan, (error.code,))
    codes = tuple(one.code for one in found.reasons)
    if found.difference is None:
        return Declared(found.decision, found.trust, False, True, np.nan, codes)
    away, own = truth - logged, found.difference
    wrong = (found.decision == "better" and away <= 0) or (found.decision == "worse" and away >= 0)
    held = own.low <= away <= own.high
    return Declared(found.decision, found.trust, wrong, held, (own.high - own.low) / 2 / logged, codes)


def outcomes(task: tuple[Exploring, int, tuple[str, ...]]) -> list[Declared]:
    """What is said of the logs of a world."""
    world, logs, estimators = task
    return [outcome(world, seed, estimators) for seed in range(logs)]


def line(name: str, found: list[Declared]) -> str:
    sound = [one for one in found if one.trust == "sound"]
    decided = sum(one.decision in ("better", "worse") for one in found)
    held = f"{np.mean([one.held for one in sound]):.3f}" if sound else "-"
    said = sum("rare-rewards" in one.codes for one in found)
    wrong = sum(one.wrong for one in found)
    counts = len(found), len(sound), held, sum(one.wrong for one in sound), decided, wrong
    return markdown_row(name, *counts, f"{wrong / len(found):.3f}", said)


def rare_lines(found: dict[Exploring, list[Declared]]) -> Iterator[str]:
    heads = ("logs", "sound", "of these hold", "sound and wrong", "decided", "wrong", "share", "`rare-rewards`")
    yield from markdown_head("worlds", *heads)
    for what in ("epsilon", "rate", "rows", "candidates", "lift"):
        for value in dict.fromkeys(getattr(world, what) for world in found):
            some = [one for world, each in found.items() if getattr(world, what) == value for one in each]
            yield line(WORDS[what].format(value), some)
    yield line("**all**", [one for each in found.values() for one in each])


SIX = ("ips", "snips", "rips", "snrips", "ipm", "snipm")
Draw = Callable[[np.random.Generator, tuple[int, ...]], Floats]


def lognormal(sigma: float) -> Draw:
    return lambda rng, shape: np.exp(sigma * rng.normal(size=shape) - sigma**2 / 2)


def pareto(index: float) -> Draw:
    return lambda rng, shape: (1 + rng.pareto(index, size=shape)) * (index - 1) / index


def gamma(shape: float) -> Draw:
    return lambda rng, size: rng.gamma(shape, 1 / shape, size=size)


def ratings(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """One to five stars, over their mean."""
    return rng.choice(np.arange(1, 6), p=(0.1, 0.1, 0.2, 0.3, 0.3), size=shape) / 3.6


def earning(draw: Draw) -> Step:
    """Every click earns something."""

    def step(draft: Draft) -> None:
        clicks = np.asarray(draft.columns["clicks"])
        draft.columns["clicks"] = clicks * draw(draft.rng, clicks.shape)

    return step


def dense(draw: Draw) -> Step:
    """Every slot earns something, in proportion to the chance of a click."""

    def step(draft: Draft) -> None:
        relevance = draft.engine.columns["relevance"][draft.query[:, None], draft.slate]
        draft.columns["clicks"] = draft.users.expected(relevance) * draw(draft.rng, relevance.shape)

    return step


def world(name: str, *steps: Step, rare: float = 1.0) -> World:
    users = Users(tuple(rare * each for each in Users().curve))
    return World(name, target=Law("near_score", temperature=0.8), users=users, written=steps, estimators=SIX)


WORLDS = {
    one.name: one
    for one in (
        world("clicks"),
        world("stars", earning(ratings)),
        world("gamma 2", earning(gamma(2))),
        world("gamma 0.5", earning(gamma(0.5))),
        world("lognormal 1", earning(lognormal(1))),
        world("lognormal 1.5", earning(lognormal(1.5))),
        world("lognormal 2", earning(lognormal(2))),
        world("lognormal 1, every slot", dense(lognormal(1))),
        world("lognormal 2, every slot", dense(lognormal(2))),
        world("lognormal 1, rare", earning(lognormal(1)), rare=0.2),
        world("lognormal 2, rare", earning(lognormal(2)), rare=0.2),
        world("Pareto 3", earning(pareto(3))),
        world("Pareto 2", earning(pareto(2))),
        world("Pareto 1.5", earning(pareto(1.5))),
    )
}


@dataclass(frozen=True)
class Outcome:
    """What was said of one log. trust: sound, with care or none; held: its interval; each: (held, warned)."""

    trust: str
    held: bool | None
    decided: bool | None
    each: tuple[tuple[bool, bool], ...]


def judged(task: tuple[str, int, int]) -> list[Outcome]:
    """The logs of a world, judged: its name, rows and logs."""
    name, rows, logs = task
    return [judged_log(WORLDS[name], rows, seed) for seed in range(logs)]


def judged_log(here: World, rows: int, seed: int) -> Outcome:
    """One log of a world, judged."""
    result = offrank.evaluate(here.table(rows, seed), **here.question())
    each = []
    for estimator in SIX:
        found = result[estimator]
        warned = any(one.severity != "note" for one in (*found.warnings, *found.about_log))
        each.append((found.low <= here.truth <= found.high, warned))
    said = result.verdict
    if said.value is None or said.difference is None:
        return Outcome("none", None, None, tuple(each))
    away = here.truth - here.unit * here.drawn.value(here.engine, here.users)
    held = said.value.low <= here.truth <= said.value.high
    difference = said.difference.low <= away <= said.difference.high
    return Outcome(said.trust, held, difference, tuple(each))


def share(found: Sequence[bool | None]) -> str:
    """In per cent; of few in brackets with their number."""
    if not found:
        return ""
    percent = 100 * sum(map(bool, found)) / len(found)
    return f"{percent:.0f}" if len(found) >= 100 else f"({percent:.0f}, {len(found)})"


SAID = ("sound / with care / none", "sound holds", "difference")


def skewed_line(name: str, rows: int, outcomes: list[Outcome]) -> str:
    """A line of the table."""
    words = [share([one.trust == word for one in outcomes]) for word in ("sound", "with care", "none")]
    sound = [one for one in outcomes if one.trust == "sound"]
    cells = [" / ".join(words), share([one.held for one in sound]), share([one.decided for one in sound])]
    for place in range(len(SIX)):
        held, warned = zip(*(one.each[place] for one in outcomes), strict=True)
        rest = [hit for hit, said in zip(held, warned, strict=True) if not said]
        cells.append(" / ".join(share(part) for part in (held, warned, rest) if part))
    return markdown_row(name, f"{rows:,}", *cells)


def rare(*, logs: int = 4, workers: int = 1, estimators: Sequence[str] = ("snips",)) -> Iterator[str]:
    """Rare rewards under exploration: how often a target that shows what the log hardly does is declared wrongly.

    A ranker sorts by one score and explores a little (`epsilon(top(old), E)`, one slot); the target sorts by another
    score, whose first item is another one in about a fifth of the contexts and earns there as much, more or less. The
    difference rests on a few rows of large weight, of which few are clicked. A declaration is wrong where it names the
    other side, or a difference where there is none.
    """
    worlds = [Exploring(*one) for one in itertools.product(EPSILONS, RATES, ROWS, CANDIDATES, LIFTS)]
    tasks = [(one, logs, tuple(estimators)) for one in worlds]
    found = {task[0]: each for task, each in measured(outcomes, tasks, workers)}
    yield f"{logs} logs in each of {len(worlds)} cells."
    yield ""
    yield from rare_lines(found)


def skewed(
    *, logs: int = 400, rows: Sequence[int] = (1000, 3000), workers: int = 2, only: str = "", kept: Path | None = None
) -> Iterator[str]:
    """How often 95 % intervals hold the truth where rewards are skewed, and how often that is said.

    Healthy logs of a position-based world, whose clicks earn 1 on average, by laws from a single value to such as have
    no variance. For each law and size: the verdicts (sound, with care, none), how often a sound one's interval holds
    the truth, then for each estimator the coverage of all its intervals, how many have a warning, and the coverage of
    the rest. The file `kept` goes on where another run ended.
    """
    yield f"{logs} logs of each law and size, in per cent."
    yield ""
    yield from markdown_head("Law of a click's reward", "rows", *SAID, *SIX)
    tasks = [(name, size, logs) for name in WORLDS if only in name for size in rows]
    for (name, size, _), every in measured(judged, tasks, workers, kept):
        yield skewed_line(name, size, [restored(Outcome, one) for one in every])


COMMANDS = {rare: "rare-rewards", skewed: "skewed rewards"}
if __name__ == "__main__":
    run(__file__, COMMANDS)
