"""One world of the battery: how it is drawn, its log, its question and its truth."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import perm
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.optimize import brentq

import offrank

from . import log, outcome
from .engine import Engine, Law, Users
from .log import Step
from .world import World

CANDIDATES = {1: (5, 31), 2: (4, 15), 3: (4, 10), 4: (5, 8), 5: (5, 7)}
"""From and to how many candidates, by slots."""
MOST_SLATES = 100_000
LEAK = "score counted on these rows"
FACTORS = (0.05, 8.0)
"""By what the relevance of the items that the target prefers may be multiplied."""
SIMULATED = 200_000
"""Rows from which a truth is counted that is no sum over slates."""


@dataclass(frozen=True)
class Trial:
    """A world, one log of it and one question.

    fault: empty where nothing is wrong. arms: of an experiment; `compares`: they are what is asked about. later: users
    that the target will meet, if they are others. counted: the truths are counted, not summed.
    """

    number: int
    world: World
    rows: int
    kind: str = ""
    fault: str = ""
    arms: outcome.Arms | None = None
    compares: bool = False
    later: Engine | None = None
    counted: bool = False
    lift: float = 0.0

    def table(self) -> pa.Table:
        return self.world.table(self.rows, self.number)

    def answer(self, table: pa.Table) -> offrank.Result:
        """What offrank says if it is asked as anyone would."""
        if self.compares:
            return offrank.compare(table, None, self.world.said)
        asked = self.world.question()
        return offrank.evaluate(table, asked["target"], asked["logging"])

    def truths(self, table: pa.Table) -> tuple[float, float]:
        """What the target earns per impression, and what the log (or the first arm) does."""
        return self._counted() if self.counted else self._summed(table)

    def _summed(self, table: pa.Table) -> tuple[float, float]:
        engine, users, target = self.later or self.world.engine, self.world.users, self.world.target
        if self.fault == LEAK:
            target = outcome.Leaked(target.column, top=True, log=table)
        of_log = self.world.drawn.value(engine, users)
        if self.arms is not None:
            one, other = (law.value(engine, users) for law in self.arms.laws)
            if self.compares:
                return self.world.unit * other, self.world.unit * one
            of_log = (1 - self.arms.share) * one + self.arms.share * other
        return self.world.unit * target.value(engine, users), self.world.unit * of_log

    def _counted(self) -> tuple[float, float]:
        """What happens to slates happens to the log alone; what happens to clicks, to both."""
        at_once = self.rows if any(isinstance(step, outcome.SoldOut) for step in self.world.written) else SIMULATED
        target = replace(self.world, drawn=self.world.target, shown=())
        return (_earned(target, at_once, self.number), _earned(self.world, at_once, self.number))


def _earned(world: World, rows: int, seed: int) -> float:
    logs = [world.table(rows, seed + 10_000 * (one + 1)) for one in range(max(SIMULATED // rows, 1))]
    clicks = [pc.sum(one["clicks"].combine_chunks().flatten()).as_py() / one.num_rows for one in logs]
    return float(np.mean(clicks))


# What is drawn --------------------------------------------------------------------------------------------------------


@dataclass
class Draw:
    """What one world is made of, while it is being drawn."""

    number: int
    rng: np.random.Generator
    name: str
    lift: float
    shape: dict[str, Any] = field(default_factory=dict)
    more: dict[str, Any] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)

    def uniform(self, low: float, high: float) -> float:
        return float(self.rng.uniform(low, high))

    def between(self, low: float, high: float) -> float:
        """Drawn evenly on the scale of logarithms."""
        return float(np.exp(self.rng.uniform(np.log(low), np.log(high))))

    def one_of(self, *values: Any) -> Any:
        return values[self.rng.integers(len(values))]

    @property
    def slots(self) -> int:
        return int(self.shape["slots"])

    def shaped(self, *slots: int, ceiling: float = 0.95, rate: tuple[float, float] = (0.25, 1.4)) -> None:
        """Draw how many slots, candidates and queries there are, and how relevant items are."""
        count = self.one_of(*slots)
        candidates = int(self.rng.integers(*CANDIDATES[count]))
        queries = min(int(self.between(30, 300)), MOST_SLATES // perm(candidates, count))
        self.shape = {"slots": count, "candidates": candidates, "queries": queries, "ceiling": ceiling,
                      "rate": self.between(*rate)}  # fmt: skip

    def law(self) -> Law:
        """A random ranker: Plackett-Luce, uniform, or sorted with some uniform slates."""
        kinds = [Law(), Law(temperature=self.one_of(0.7, 1.4)), Law("flat")]
        return self.one_of(*kinds, Law(top=True, epsilon=round(self.uniform(0.3, 0.6), 2)))

    def target(self) -> Law:
        """A ranker of another score, the nearer the more slots there are."""
        soft = [Law("near_score", temperature=self.one_of(0.7, 0.9)), Law("near_score")]
        return self.one_of(*soft, Law("near_score", top=True)) if self.slots <= 2 else self.one_of(*soft)

    def readers(self) -> Users:
        """Position-based users, whose attention falls as fast as is drawn."""
        power = self.uniform(0.3, 1.2)
        return Users(tuple(float(one) for one in np.arange(1, 6) ** -power))

    def described(self) -> list[Step]:
        """Columns that nobody has to name: the query, the date."""
        return [step for step, share in ((log.tell_query, 0.6), (outcome.dated, 0.5)) if self.rng.random() < share]

    def trial(self, drawn: Law, target: Law, users: Users, *steps: Step, **more: Any) -> Trial:
        """The world whose target earns what was drawn, as nearly as it can.

        Raises:
            ValueError: both should earn the same, and no relevance of items has it so.
        """
        fields = {one: more.pop(one) for one in ("said", "shown", "unit") if one in more}
        arms, written = more.get("arms"), (*([more["arms"]] if "arms" in more else []), *steps)
        made = World(self.name, drawn=drawn, target=target, users=users, shape=self.shape, written=written, **fields)
        tuned = self._tuned(made, arms, (drawn.column, target.column))
        told = (*written, *self.described())
        return Trial(self.number, replace(tuned, written=told), more.pop("rows", self.rows()),
                     lift=self.lift, **more)  # fmt: skip

    def rows(self) -> int:
        return int(self.between(2000, 20_000))

    def _tuned(self, world: World, arms: outcome.Arms | None, scores: tuple[str, str]) -> World:
        def liked(factor: float) -> World:
            return replace(world, shape={**self.shape, "preferred": (*scores, factor)})

        def away(logarithm: float) -> float:
            made = liked(float(np.exp(logarithm)))
            value = made.target.value(made.engine, made.users)
            laws = (made.drawn,) if arms is None else arms.laws
            shares = (1.0,) if arms is None else (1 - arms.share, arms.share)
            if arms is not None and world.target is arms.laws[1]:
                laws, shares = laws[:1], (1.0,)
            of_log = sum(share * law.value(made.engine, made.users) for law, share in zip(laws, shares, strict=True))
            return value / of_log - 1 - self.lift

        ends = np.log(FACTORS)
        low, high = away(ends[0]), away(ends[1])
        if low * high > 0:
            if not self.lift:
                raise ValueError(f"{self.name}: no null")
            return liked(FACTORS[int(abs(high) < abs(low))])
        return liked(float(np.exp(brentq(away, *ends, xtol=1e-13, rtol=1e-13))))
