"""A battery of worlds that no one picked: shapes, users and laws are drawn, half of them with a fault.

`trial(seed, count, number)` is one of them, with one log: first come those in which nothing is wrong, then as many
with a fault, the kinds in turn. What the target earns more than the log is drawn too, and users like its items as much
as that takes: in a third of the worlds both earn exactly the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import cycle, islice
from typing import Any

from . import log, outcome
from .drawing import LEAK, Draw, Trial
from .engine import Law, Shuffled, Users, stream
from .log import Step

FLAT = (1.0,) * 5
SORTED = (Law("old_score", top=True), Law("near_score", top=True))
RANDOM = (Law("old_score"), Law("other_score"))


def uniform(draw: Draw) -> Trial:
    draw.shaped(1, 2, 3)
    return draw.trial(Law("flat"), draw.target(), draw.readers())


def plackett_luce(draw: Draw) -> Trial:
    draw.shaped(1, 2, 3, 4)
    return draw.trial(Law(temperature=draw.one_of(0.7, 1.0, 1.5)), draw.target(), draw.readers())


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
    arms = outcome.Arms(RANDOM, draw.one_of(0.5, 0.3))
    return draw.trial(Law(), draw.target(), draw.readers(), arms=arms, said=by(RANDOM))


def by(laws: tuple[Law, Law]) -> str:
    """As offrank reads an experiment."""
    return f"by(arm, {{A: {laws[0].spelling}, B: {laws[1].spelling}}})"


def clusters(draw: Draw) -> Trial:
    draw.shaped(1, 2, 3, ceiling=0.5)
    of_users = outcome.OfUsers(draw.between(2, 25), round(draw.uniform(0.3, 0.95), 2))
    return draw.trial(draw.law(), draw.target(), draw.readers(), of_users)


def sorted_rows(draw: Draw) -> Trial:
    draw.shaped(1, 2, 3)
    steps = [outcome.sorted_by_query, *([log.tell_query] if draw.rng.random() < 0.5 else [])]
    return draw.trial(draw.law(), draw.target(), draw.readers(), *steps)


def revenue(draw: Draw, kind: str, more: tuple[Step, ...] = ()) -> Trial:
    draw.shaped(1, 2, 3)
    draw.shape["priced"] = kind == "item"
    amount = 1.0 if kind == "item" else round(draw.between(1.5, 40), 1)
    step = outcome.Revenue(kind, amount)
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
    arms, steps, unit, readers = outcome.Arms(laws, share), [], 1.0, draw.readers()
    if kind == "users":
        arms = replace(arms, visits=draw.between(3, 20), more=0.9)
    elif kind == "revenue":
        unit = round(draw.between(2, 30), 1)
        steps = [outcome.Revenue("log-normal", unit)]
    elif kind == "comparing":
        readers = draw.one_of(replace(readers, distraction=0.7), Users(FLAT, best=True))
    return draw.trial(laws[0], laws[1], readers, *steps, arms=arms, said=by(laws), unit=unit,
                      compares=True)  # fmt: skip


HEALTHY: dict[str, Callable[[Draw], Trial]] = {
    "uniform": uniform,
    "Plackett-Luce": plackett_luce,
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


def clicks_wrong(draw: Draw, slots: tuple[int, ...], *steps: Step, rows: float = 1.0, **more: Any) -> Trial:
    """A log of some law, and what happens to its clicks; `rows` times more, where rows are lost."""
    draw.shaped(*slots)
    return draw.trial(draw.law(), draw.target(), draw.readers(), *steps, rows=int(rows * draw.rows()), **more)


def thinned(draw: Draw, column: str) -> Trial:
    keep = round(draw.between(0.05, 0.5), 2)
    return clicks_wrong(draw, (1, 2, 3), outcome.kept_by_outcome(keep, column), rows=2.0)


def late(draw: Draw) -> Trial:
    return clicks_wrong(draw, (1, 2, 3), outcome.not_there_yet(draw.uniform(0.1, 0.35)))


def currency(draw: Draw) -> Trial:
    return revenue(draw, "log-normal", (outcome.other_currency(draw.one_of(1 / 110, 1 / 18, 7.5, 18.0, 110.0)),))


def drifting(draw: Draw) -> Trial:
    """In the second half users like other items, and less or more of them."""
    draw.shaped(1, 2, 3)
    made = draw.trial(draw.law(), draw.target(), draw.readers())
    one, other, factor = made.world.engine.preferred or ("", "", 1.0)
    changed = (one, other, factor * draw.one_of(0.5, 0.7, 1.4))
    later = replace(made.world.engine, rate=made.world.engine.rate * draw.one_of(0.6, 0.8, 1.3), preferred=changed)
    written = (outcome.drift(later), *made.world.written)
    return replace(made, world=replace(made.world, written=written), later=later)


def sold_out(draw: Draw) -> Trial:
    return clicks_wrong(draw, (1, 2, 3), outcome.SoldOut(draw.uniform(0.2, 0.6)), counted=True)


def leak(draw: Draw) -> Trial:
    draw.shaped(1, 2)
    steps = (log.tell_query, outcome.leaking("near_score"))
    return draw.trial(draw.one_of(Law("flat"), Law()), SORTED[1], draw.readers(), *steps)


def experiment(draw: Draw, kind: type[outcome.Arms]) -> Trial:
    draw.shaped(1, 2, 3, 4, ceiling=0.5)
    laws = draw.one_of(SORTED, (Law(), Law("near_score")))
    visits = draw.between(4, 12) if kind is outcome.BothArms else 0.0
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


FAULTS: dict[str, Callable[[Draw], Trial]] = {
    "low clicks lost": lambda draw: clicks_wrong(draw, (2, 3, 4), outcome.low_clicks_lost),
    "rows kept by outcome": partial(thinned, column=""),
    "rows kept by outcome, the rate in a column": partial(thinned, column="keep_prob"),
    "robots": lambda draw: clicks_wrong(draw, (1, 2, 3), outcome.robots(0.07)),
    "clicks not there yet": late,
    "another currency": currency,
    "drift between halves": drifting,
    "clicks a rank late": lambda draw: clicks_wrong(draw, (2, 3, 4), log.one_rank_late),
    "stock that runs out": sold_out,
    "lists cut to the top": lambda draw: clicks_wrong(draw, (2, 3, 4), outcome.top_alone),
    "clicked items on top": lambda draw: clicks_wrong(draw, (2, 3, 4), outcome.clicked_on_top),
    LEAK: leak,
    "ramped A/B test": partial(experiment, kind=outcome.Ramped),
    "a slower arm": partial(experiment, kind=outcome.SlowerArm),
    "users in both arms": partial(experiment, kind=outcome.BothArms),
    "the law": law_wrong,
}
FITTING: dict[str, frozenset[str]] = {
    "low clicks lost": frozenset({"every-click-logged"}),
    "rows kept by outcome": frozenset({"rows-kept-blindly"}),
    "rows kept by outcome, the rate in a column": frozenset({"rows-kept-blindly", "right-rates"}),
    "robots": frozenset({"same-users", "every-click-logged"}),
    "clicks not there yet": frozenset({"every-click-logged", "every-reward-logged"}),
    "another currency": frozenset({"every-reward-logged"}),
    "drift between halves": frozenset({"same-users"}),
    "clicks a rank late": frozenset({"every-click-logged"}),
    "stock that runs out": frozenset({"no-interference"}),
    "lists cut to the top": frozenset({"every-click-logged"}),
    "clicked items on top": frozenset(),
    LEAK: frozenset({"target-from-elsewhere"}),
    "ramped A/B test": frozenset({"same-users"}),
    "a slower arm": frozenset(),
    "users in both arms": frozenset({"no-interference"}),
    "the law": frozenset({"propensities-as-drawn"}),
}
"""Codes of assumptions that a reader needs to hear where this is wrong."""
NO_LOG_SHOWS = ("low clicks lost", "lists cut to the top", "rows kept by outcome")


def kinds(count: int) -> list[tuple[str, str]]:
    """Kind and fault of so many worlds, half of them with a fault."""
    half = count // 2
    healthy = [(kind, "") for kind in islice(cycle(HEALTHY), count - half)]
    return healthy + [(fault, fault) for fault in islice(cycle(FAULTS), half)]


def trial(seed: int, count: int, number: int) -> Trial:
    """The world of this number, of so many."""
    kind, fault = kinds(count)[number]
    return replace(_drawn(FAULTS[fault] if fault else HEALTHY[kind], seed, number), kind=kind, fault=fault)


def _drawn(make: Callable[[Draw], Trial], seed: int, number: int) -> Trial:
    """A world by its number; one whose rankers should earn the same, and cannot, is drawn anew."""
    for again in range(50):
        rng = stream("battery", seed, number, again)
        lift = (0.0, float(rng.uniform(0.005, 0.03)), float(rng.uniform(0.04, 0.3)))[rng.integers(3)]
        try:
            return make(Draw(number, rng, f"battery {seed} {number} {again}", lift * rng.choice([-1, 1])))
        except ValueError:
            continue
    raise ValueError(f"no world {number}")
