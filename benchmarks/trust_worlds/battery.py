"""A battery of worlds that no one picked: shapes, users and laws are drawn, half of them with a fault.

`trial(seed, count, number)` is one of them, with one log: first come those in which nothing is wrong, then as many
with a fault, the kinds in turn. What the target earns more than the log is drawn too, and users like its items as much
as that takes: in a third of the worlds both earn exactly the same.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import cycle, islice
from math import perm
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.optimize import brentq

import offrank

from . import log
from .engine import Engine, Law, Shuffled, Step, Users, stream
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
    arms: log.Arms | None = None
    compares: bool = False
    later: Engine | None = None
    counted: bool = False
    lift: float = 0.0

    def table(self) -> pa.Table:
        return self.world.table(self.rows, self.number)

    def answer(self, table: pa.Table) -> offrank.Result:
        """What offrank says if it is asked as anyone would."""
        asked = self.world.question()["target"], self.world.question()["logging"]
        return offrank.compare(table, None, asked[1]) if self.compares else offrank.evaluate(table, *asked)

    def truths(self, table: pa.Table) -> tuple[float, float]:
        """What the target earns per impression, and what the log (or the first arm) does."""
        if self.counted:  # what happens to slates happens to the log alone; what happens to clicks, to both
            at_once = self.rows if any(isinstance(step, log.SoldOut) for step in self.world.written) else SIMULATED
            target = replace(self.world, drawn=self.world.target, shown=())
            return _earned(target, at_once, self.number), _earned(self.world, at_once, self.number)
        engine, users, asked = self.later or self.world.engine, self.world.users, self.world.target
        if self.fault == LEAK:
            asked = log.Leaked(asked.column, top=True, log=table)
        laws = self.arms.laws if self.arms else (self.world.drawn,)
        earned = [law.value(engine, users) for law in laws]
        share = self.arms.share if self.arms and not self.compares else 0.0
        of_log = (1 - share) * earned[0] + share * earned[-1]
        value = earned[1] if self.compares else asked.value(engine, users)
        return self.world.unit * value, self.world.unit * of_log


def _earned(world: World, rows: int, seed: int) -> float:
    logs = [world.table(rows, seed + 10_000 * (one + 1)) for one in range(max(SIMULATED // rows, 1))]
    return float(np.mean([pc.sum(pc.list_flatten(one["clicks"])).as_py() / one.num_rows for one in logs]))


# What is drawn --------------------------------------------------------------------------------------------------------


@dataclass
class Draw:
    """What one world is made of, while it is being drawn."""

    number: int
    rng: np.random.Generator
    name: str
    lift: float
    shape: dict[str, Any] = field(default_factory=dict)

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
        some = [Law(), Law(temperature=self.one_of(0.7, 1.4)), Law("flat")]
        return self.one_of(*some, Law(top=True, epsilon=round(self.uniform(0.3, 0.6), 2)))

    def target(self) -> Law:
        """A ranker of another score, the nearer the more slots there are."""
        soft = [Law("near_score", temperature=self.one_of(0.7, 0.9)), Law("near_score")]
        return self.one_of(*soft, Law("near_score", top=True)) if self.slots <= 2 else self.one_of(*soft)

    def readers(self) -> Users:
        """Position-based users, whose attention falls as fast as is drawn."""
        return Users(tuple((np.arange(1, 6) ** -self.uniform(0.3, 1.2)).tolist()))

    def described(self) -> list[Step]:
        """Columns that nobody has to name: the query, the date."""
        return [step for step, share in ((log.tell_query, 0.6), (log.dated, 0.5)) if self.rng.random() < share]

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

    def _tuned(self, world: World, arms: log.Arms | None, scores: tuple[str, str]) -> World:
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


# Without a fault ------------------------------------------------------------------------------------------------------

FLAT = (1.0,) * 5
SORTED = (Law("old_score", top=True), Law("near_score", top=True))
RANDOM = (Law("old_score"), Law("other_score"))


def plain(draw: Draw, laws: tuple[Law, ...], slots: tuple[int, ...]) -> Trial:
    draw.shaped(*slots)
    return draw.trial(draw.one_of(*laws), draw.target(), draw.readers())


def rare(draw: Draw, most: float = 0.5) -> Trial:
    """A sorted ranker with some uniform exploration, and few clicks."""
    draw.shaped(1, rate=(0.1, most))
    draw.shape |= {"candidates": int(draw.rng.integers(12, 30)), "queries": int(draw.between(150, 600))}
    drawn = Law(top=True, epsilon=round(draw.between(0.03, 0.3), 2))
    return draw.trial(drawn, SORTED[1], Users(), rows=int(draw.between(6000, 40_000)))


def shuffled(draw: Draw) -> Trial:
    draw.shaped(2, 3, 4)
    return draw.trial(Shuffled(), Law("reordered_score", top=True), draw.readers())


def team(draw: Draw) -> Trial:
    """Two random rankers in an experiment, and a third one that is asked about."""
    draw.shaped(1, 2, 3)
    arms = log.Arms(RANDOM, draw.one_of(0.5, 0.3))
    return draw.trial(Law(), draw.target(), draw.readers(), arms=arms, said=by(RANDOM))


def by(laws: tuple[Law, Law]) -> str:
    """As offrank reads an experiment."""
    return f"by(arm, {{A: {laws[0].spelling}, B: {laws[1].spelling}}})"


def clusters(draw: Draw) -> Trial:
    draw.shaped(1, 2, 3, ceiling=0.5)
    of_users = log.of_users(draw.between(2, 25), round(draw.uniform(0.3, 0.95), 2))
    return draw.trial(draw.law(), draw.target(), draw.readers(), of_users)


def sorted_rows(draw: Draw) -> Trial:
    draw.shaped(1, 2, 3)
    told = [log.tell_query] if draw.rng.random() < 0.5 else []
    return draw.trial(draw.law(), draw.target(), draw.readers(), log.sorted_by_query, *told)


def revenue(draw: Draw, kind: str, more: tuple[Step, ...] = ()) -> Trial:
    draw.shaped(1, 2, 3)
    draw.shape["priced"] = kind == "item"
    amount = 1.0 if kind == "item" else round(draw.between(1.5, 40), 1)
    step = log.revenue(kind, amount)
    return draw.trial(draw.law(), draw.target(), draw.readers(), step, *more, unit=amount)


def users(draw: Draw, kind: str) -> Trial:
    draw.shaped(2, 3, 4)
    made = {
        "cascade": Users(FLAT, stop=1.0),
        "satisfied": Users(FLAT, stop=round(draw.uniform(0.5, 1), 2), satisfied=True),
        "position": draw.readers(),
        "comparing": replace(draw.readers(), distraction=round(draw.uniform(0.4, 0.9), 2)),
        "best": Users(FLAT, best=True),
    }[kind]
    return draw.trial(draw.law(), draw.target(), made)


def ab_test(draw: Draw, kind: str) -> Trial:
    """Two rankers that sort, or draw."""
    draw.shaped(2, 3, 4, 5, ceiling=0.5)
    laws, share = draw.one_of(SORTED, (Law(), Law("near_score"))), draw.one_of(0.5, 0.5, 0.1)
    arms, steps, unit, readers = log.Arms(laws, share), [], 1.0, draw.readers()
    if kind == "users":
        arms = replace(arms, visits=draw.between(3, 20), more=0.9)
    elif kind == "revenue":
        unit = round(draw.between(2, 30), 1)
        steps = [log.revenue("log-normal", unit)]
    elif kind == "comparing":
        readers = draw.one_of(replace(readers, distraction=0.7), Users(FLAT, best=True))
    return draw.trial(laws[0], laws[1], readers, *steps, arms=arms, said=by(laws), unit=unit,
                      compares=True)  # fmt: skip


HEALTHY: dict[str, Callable[[Draw], Trial]] = {
    "uniform": partial(plain, laws=(Law("flat"),), slots=(1, 2, 3)),
    "Plackett-Luce": partial(plain, laws=tuple(Law(temperature=heat) for heat in (0.7, 1.0, 1.5)), slots=(1, 2, 3, 4)),
    "epsilon, rare clicks": rare,
    "shuffled": shuffled,
    "arms of two random rankers": team,
    "users who come back": clusters,
    "rows sorted by query": sorted_rows,
    "epsilon, rarer clicks": partial(rare, most=0.25),
    "revenue, log-normal": partial(revenue, kind="log-normal"),
    "revenue, counts": partial(revenue, kind="count"),
    "revenue, prices of items": partial(revenue, kind="item"),
    "users of the cascade": partial(users, kind="cascade"),
    "users satisfied by what they click": partial(users, kind="satisfied"),
    "users who compare": partial(users, kind="comparing"),
    "users who click the best alone": partial(users, kind="best"),
    "position-based users": partial(users, kind="position"),
    "A/B test": partial(ab_test, kind="plain"),
    "A/B test, users who come back": partial(ab_test, kind="users"),
    "A/B test, revenue": partial(ab_test, kind="revenue"),
    "A/B test, users who compare": partial(ab_test, kind="comparing"),
}


# With a fault ---------------------------------------------------------------------------------------------------------


def clicks_wrong(draw: Draw, step: Step, slots: tuple[int, ...] = (2, 3, 4), rows: float = 1.0, **more: Any) -> Trial:
    """A log of some law, and what happens to its clicks; `rows` times more, where rows are lost."""
    draw.shaped(*slots)
    return draw.trial(draw.law(), draw.target(), draw.readers(), step, rows=int(rows * draw.rows()), **more)


def thinned(draw: Draw, column: str) -> Trial:
    keep = round(draw.between(0.05, 0.5), 2)
    return clicks_wrong(draw, log.subsample(keep, column), (1, 2, 3), rows=2.0)


def late(draw: Draw) -> Trial:
    return clicks_wrong(draw, log.not_there_yet(draw.uniform(0.1, 0.35)), (1, 2, 3))


def sold_out(draw: Draw) -> Trial:
    return clicks_wrong(draw, log.SoldOut(draw.uniform(0.2, 0.6)), (1, 2, 3), counted=True)


def currency(draw: Draw) -> Trial:
    return revenue(draw, "log-normal", (log.other_currency(draw.one_of(1 / 110, 1 / 18, 7.5, 18.0, 110.0)),))


def drifting(draw: Draw) -> Trial:
    """In the second half users like other items, and less or more of them."""
    draw.shaped(1, 2, 3)
    made = draw.trial(draw.law(), draw.target(), draw.readers())
    one, other, factor = made.world.engine.preferred or ("", "", 1.0)
    changed = (one, other, factor * draw.one_of(0.5, 0.7, 1.4))
    later = replace(made.world.engine, rate=made.world.engine.rate * draw.one_of(0.6, 0.8, 1.3), preferred=changed)
    written = (log.drift(later), *made.world.written)
    return replace(made, world=replace(made.world, written=written), later=later)


def leak(draw: Draw) -> Trial:
    draw.shaped(1, 2)
    steps = (log.tell_query, log.leaking("near_score"))
    return draw.trial(draw.one_of(Law("flat"), Law()), SORTED[1], draw.readers(), *steps)


def experiment(draw: Draw, kind: type[log.Arms]) -> Trial:
    draw.shaped(1, 2, 3, 4, ceiling=0.5)
    laws = draw.one_of(SORTED, (Law(), Law("near_score")))
    visits = draw.between(4, 12) if kind is log.BothArms else 0.0
    return draw.trial(laws[0], laws[1], draw.readers(), arms=kind(laws, visits=visits), said=by(laws), compares=True)


def law_wrong(draw: Draw) -> Trial:
    """A fault of the logging law: of the propensities, or of what was shown."""
    draw.shaped(2, 3)
    written: tuple[tuple[Law, dict[str, Any], tuple[Step, ...]], ...] = (
        (Law(), {"said": "logged"}, (log.propensities(Law(), draw.one_of(0.5, 0.75, 1.3, 2.0)),)),
        (Law(), {"said": "logged"}, (log.mixed_up,)),
        (Law(temperature=0.6), {"said": Law().spelling}, ()),
        (Law("stale_score"), {"said": Law().spelling}, ()),
        (Law(epsilon=0.3), {"said": Law().spelling}, ()),
        (Law(), {"shown": (log.swap(0, 1),), "counted": True}, ()),
        (Law(), {"shown": (log.pin(0.6),), "counted": True}, ()),
        (Law(), {}, (log.shown_only,)),
    )
    drawn, more, steps = written[draw.number % len(written)]
    return draw.trial(drawn, Law("near_score", temperature=0.8), draw.readers(), *steps, **more)


FAULTS: dict[str, tuple[Callable[[Draw], Trial], frozenset[str]]] = {
    name: (make, frozenset(fitting.split()))
    for name, make, fitting in (
        ("low clicks lost", partial(clicks_wrong, step=log.low_clicks_lost), "every-click-logged"),
        ("rows kept by outcome", partial(thinned, column=""), "rows-kept-blindly"),
        ("rows kept by outcome, the rate in a column", partial(thinned, column="keep_prob"),
         "rows-kept-blindly right-rates"),
        ("robots", partial(clicks_wrong, step=log.robots(0.07), slots=(1, 2, 3)), "same-users every-click-logged"),
        ("clicks not there yet", late, "every-click-logged every-reward-logged"),
        ("another currency", currency, "every-reward-logged"),
        ("drift between halves", drifting, "same-users"),
        ("clicks a rank late", partial(clicks_wrong, step=log.one_rank_late), "every-click-logged"),
        ("stock that runs out", sold_out, "no-interference"),
        ("lists cut to the top", partial(clicks_wrong, step=log.top_alone), "every-click-logged"),
        ("clicked items on top", partial(clicks_wrong, step=log.clicked_on_top), ""),
        (LEAK, leak, "target-from-elsewhere"),
        ("ramped A/B test", partial(experiment, kind=log.Ramped), "same-users"),
        ("a slower arm", partial(experiment, kind=log.SlowerArm), ""),
        ("users in both arms", partial(experiment, kind=log.BothArms), "no-interference"),
        ("the law", law_wrong, "propensities-as-drawn"),
    )
}  # fmt: skip
"""What is drawn, and codes of assumptions that a reader needs to hear where this is wrong."""
NO_LOG_SHOWS = ("low clicks lost", "lists cut to the top", "rows kept by outcome")


def kinds(count: int) -> list[tuple[str, str]]:
    """Kind and fault of so many worlds, half of them with a fault."""
    half = count // 2
    healthy = [(kind, "") for kind in islice(cycle(HEALTHY), count - half)]
    return healthy + [(fault, fault) for fault in islice(cycle(FAULTS), half)]


def trial(seed: int, count: int, number: int) -> Trial:
    """The world of this number, of so many; one whose rankers should earn the same, and cannot, is drawn anew."""
    kind, fault = kinds(count)[number]
    make = FAULTS[fault][0] if fault else HEALTHY[kind]
    for again in range(50):
        rng = stream("battery", seed, number, again)
        lift = (0.0, float(rng.uniform(0.005, 0.03)), float(rng.uniform(0.04, 0.3)))[rng.integers(3)]
        draw = Draw(number, rng, f"battery {seed} {number} {again}", lift * rng.choice([-1, 1]))
        with suppress(ValueError):
            return replace(make(draw), kind=kind, fault=fault)
    raise ValueError(f"no world {number}")
