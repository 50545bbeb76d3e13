"""How often faults that show along a log, or between the arms of an experiment, are found where they are, or are not.

Every log has a fault or none, by construction; it is given to the folds of `offrank.checks.drift` and their findings
as `evaluate` and `compare` give it.

    python benchmarks/along_the_log.py [--healthy 400] [--faulty 100] [--rows 20000] [--write]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from _page import markdown_head, markdown_row, run

import offrank
from offrank.checks.drift import along_folds
from offrank.checks.log_problems import BY_ROW
from offrank.checks.propensities import UniformWeightsFold
from offrank.findings import cautions_for
from offrank.language.formatting import percent
from offrank.policies.registry import policy
from offrank.running.executors import run as folded

Rng = np.random.Generator
Drawn = dict[str, Any]
CURVE = np.array([1.0, 0.6, 0.4])
ARMS = policy("by(arm, {A: top(a), B: top(b)})")
DRAWN = policy("by(arm, {A: plackett_luce(a), B: plackett_luce(b)})")
LOGGED = policy("logged")


def clicked(rng: Rng, rate: Any) -> Drawn:
    """Rows whose outcome is 1 at these rates."""
    return {"reward": (rng.random(len(rate)) < rate).astype(float)}


def plain(rng: Rng, rows: int, rate: float = 0.05) -> Drawn:
    """Rows in random order."""
    return clicked(rng, np.full(rows, rate))


def clustered(rng: Rng, rows: int, column: str, clusters: int, spread: float, *, in_order: bool = True) -> Drawn:
    """Clusters of unlike sizes and rates, sorted or in random order. spread: standard deviation of the log of rates."""
    code = np.repeat(np.arange(clusters), rng.multinomial(rows, rng.dirichlet(np.ones(clusters))))
    code = code if in_order else rng.permutation(code)
    rate = np.minimum(0.05 * np.exp(spread * rng.normal(size=clusters)), 1.0)
    return {**clicked(rng, rate[code]), column: code}


def together(rng: Rng, column: str, code: Any) -> Drawn:
    """Users or visits, one after another, whose clicks come together."""
    return {**clicked(rng, rng.beta(0.1, 1.9, size=code[-1] + 1)[code]), column: code}


def users(rng: Rng, rows: int) -> Drawn:
    """Users of 30 rows each: a design effect of about 10."""
    return together(rng, "user", np.arange(rows) // 30)


def sessions(rng: Rng, rows: int) -> Drawn:
    """Visits of some five rows each."""
    return together(rng, "session", np.cumsum(rng.random(rows) < 0.2))


def revenue(rng: Rng, rows: int) -> Drawn:
    """Orders in 5 % of the rows, whose amounts are lognormal with sigma 1.5."""
    return {"reward": plain(rng, rows)["reward"] * np.exp(1.5 * rng.normal(size=rows))}


def moving(rate: Callable[[int], Any]) -> Callable[[Rng, int], Drawn]:
    """Rows whose rate moves along the log, as is said for so many."""
    return lambda rng, rows: clicked(rng, rate(rows))


daily = moving(lambda rows: 0.05 * (1 + 0.5 * np.sin(28 * np.pi * np.arange(rows) / rows)))
"""Fourteen days, with half as many clicks again at noon, and half at night."""
drift = moving(lambda rows: np.where(np.arange(rows) < rows / 2, 0.05, 0.075))
sold_out = moving(lambda rows: np.linspace(0.05, 0.025, rows))


def late(rng: Rng, rows: int) -> Drawn:
    """Of the last twentieth, 80 % of the clicks have not arrived yet."""
    found = plain(rng, rows)
    found["reward"][-(rows // 20) :] *= rng.random(rows // 20) < 0.2
    return found


def broken(rng: Rng, rows: int) -> Drawn:
    """For a tenth of the log, somewhere, no click was recorded."""
    found, first = plain(rng, rows), rng.integers(rows - rows // 10)
    found["reward"][first : first + rows // 10] = 0.0
    return found


def drift_of_users(rng: Rng, rows: int) -> Drawn:
    """The same drift, of users in random order with a design effect of about 3."""
    found = clustered(rng, rows, "user", rows // 30, 0.8, in_order=False)
    found["reward"][: rows // 2] *= rng.random(rows // 2) < 2 / 3
    return found


def dated(make: Callable[[Rng, int], Drawn], days: int, column: str = "day") -> Callable[[Rng, int], Drawn]:
    """The rows of a log in random order, with the day of each, or its time."""

    def shuffled(rng: Rng, rows: int) -> Drawn:
        found = make(rng, rows)
        second = np.sort(rng.random(len(found["reward"]))) * days * 86_400
        order = rng.permutation(len(second))
        unit = "datetime64[D]" if column == "day" else "datetime64[s]"
        when = (np.datetime64("2026-09-01", "s") + second.astype(np.int64)).astype(unit)
        return {name: values[order] for name, values in {**found, column: when}.items()}

    return shuffled


def drawn_lists(rng: Rng, rows: int, *, wrong: str = "", sharp: float = 1.0, chance: float = 0.0) -> pa.Table:
    """Two of ten items, drawn by a score of 40 queries; chance: or one of twenty, the best unless chance draws it.

    wrong: what is wrong with the propensities of the last fifth, if anything. sharp: standard deviation of the score.
    """
    query, last = rng.integers(40, size=rows), np.arange(rows) >= 0.8 * rows
    score = sharp * rng.normal(size=(40, 20 if chance else 10))[query]
    if chance:
        best = score.argmax(axis=1)
        slate = np.where(rng.random(rows) < chance, rng.integers(20, size=rows), best)[:, None]
        law = np.where(slate[:, 0] == best, 1 - chance, 0.0) + chance / 20
    else:
        flat = np.where(last & (wrong == "flat"), 0.3, 1.0)[:, None]
        slate = np.argsort(-score * flat - rng.gumbel(size=score.shape), axis=1)[:, :2]
        first, second = (np.exp(score[np.arange(rows), slate[:, slot]]) for slot in range(2))
        every = np.exp(score).sum(axis=1)
        law = first / every * second / (every - first)
    law = np.where(last & (wrong == "half"), law / 2, law)
    made = {"slate": slate, "candidates": np.broadcast_to(np.arange(score.shape[1]), score.shape)}
    made["clicks"] = (rng.random(slate.shape) < 0.05).astype(float)
    return pa.table({**{name: list(values) for name, values in made.items()}, "propensity": law, "query": query})


HEALTHY: dict[str, Callable[[Rng, int], Drawn]] = {
    "random order, 5 % clicks": plain,
    "300 rows": lambda rng, _: plain(rng, 300),
    "2,000 rows, 1 % clicks": lambda rng, _: plain(rng, 2000, 0.01),
    "sorted by 400 queries": lambda rng, rows: clustered(rng, rows, "query", 400, 0.7),
    "sorted by 20 queries": lambda rng, rows: clustered(rng, rows, "query", 20, 0.7),
    "20 queries in random order": lambda rng, rows: clustered(rng, rows, "query", 20, 0.7, in_order=False),
    "sorted by users, design effect 10": users,
    "sessions one after another": sessions,
    "revenue": revenue,
    "day and night": daily,
    "2 days, shuffled": dated(plain, 2),
    "7 days, sorted by 20 queries, shuffled": dated(lambda rng, rows: clustered(rng, rows, "query", 20, 0.7), 7),
    "7 days of sessions, shuffled": dated(sessions, 7),
    "14 days of users, design effect 10, shuffled": dated(users, 14),
    "60 days of revenue, shuffled": dated(revenue, 60),
    "times of 14 days and nights, shuffled": dated(daily, 14, "time"),
}
FAULTY: dict[str, Callable[[Rng, int], Drawn]] = {
    "last clicks missing": late,
    "tracking off for a tenth": broken,
    "drift of 50 % between halves": drift,
    "the same, dependent users": drift_of_users,
    "stock runs out": sold_out,
    "last clicks missing, 20 days, shuffled": dated(late, 20),
    "the same, times of 7 days, shuffled": dated(late, 7, "time"),
    "tracking off for a tenth, 10 days, shuffled": dated(broken, 10),
    "drift of 50 % between halves, 2 days, shuffled": dated(drift, 2),
    "the same, dependent users, 14 days, shuffled": dated(drift_of_users, 14),
}
LISTS: dict[str, dict[str, Any]] = {
    "lists drawn by a score": {},
    "by a sharp score": {"sharp": 2.0},
    "10 % of one item by chance": {"chance": 0.1},
    "2 % of one item by chance": {"chance": 0.02},
    "propensities halved in the last fifth": {"wrong": "half"},
    "10 % by chance, propensities halved in the last fifth": {"wrong": "half", "chance": 0.1},
    "drawn flatter in the last fifth, propensities as before": {"wrong": "flat"},
}


def log_of(drawn: Drawn) -> pa.Table:
    """A log of one slot with these rewards."""
    rows = len(drawn["reward"])
    return pa.table({**drawn, "slate": pa.array(np.zeros(rows, np.int64)[:, None].tolist())})


def experiment(
    rng: Rng,
    rows: int,
    *,
    shares: tuple[float, float] = (0.5, 0.5),
    rise: float = 1.0,
    by: str = "row",
    slow: float = 1.0,
    compared: float = 0.0,
    draws: bool = False,
    days: int = 0,
) -> pa.Table:
    """An A/B test of two rankers that sort by unlike scores, or draw by them.

    shares: of B in both halves. rise: of clicks in the second.

    by: whether chance draws the arm of each row, or of each user of ten rows, whose clicks then come together; with
    `leak`, one user in twenty of these has the other arm for half of the rows. slow: what is left of B's clicks.
    compared: share of the clicks that an item loses to the best of the others in the list. days: that are in the log,
    whose rows are shuffled then.
    """
    queries, items, slots = 80, 6, 3
    query, user = rng.integers(queries, size=rows), np.arange(rows) // 10
    a = rng.normal(size=(queries, items))
    b = a + 0.5 * rng.normal(size=(queries, items))
    second = np.arange(rows) >= rows / 2
    share = np.where(second, *shares[::-1])
    arm = rng.random(rows) < share
    if by != "row":
        arm = (rng.random(rows) < share)[user * 10]
    if by == "leak":
        arm ^= (rng.random(rows) < 0.05)[user * 10] & (np.arange(rows) % 10 >= 5)
    eager = np.ones(rows) if by == "row" else rng.gamma(1.0, 1.0, size=rows)[user * 10]
    rate = 0.3 / (1 + np.exp(-rng.normal(-0.5, 1.0, size=(queries, items))))
    score = np.where(arm[:, None], b[query], a[query])
    slate = np.argsort(-score - (rng.gumbel(size=score.shape) if draws else 0), axis=1, kind="stable")[:, :slots]
    relevant = rate[query[:, None], slate]
    if compared:
        others = np.stack([np.delete(relevant, slot, axis=1).max(axis=1) for slot in range(slots)], axis=1)
        relevant = relevant * (1 - compared * others / 0.3)
    chance = relevant * CURVE * (eager * np.where(second, rise, 1) * np.where(arm, slow, 1))[:, None]
    columns: dict[str, Any] = {"slate": slate, "clicks": (rng.random(slate.shape) < chance).astype(float)}
    columns |= {"candidates": np.broadcast_to(np.arange(items), (rows, items)), "a": np.exp(a[query])}
    columns["b"] = np.exp(b[query])
    found = {name: list(values) for name, values in columns.items()}
    table = pa.table({**found, "query": query, "user": user, "arm": np.where(arm, "B", "A")})
    if not days:
        return table
    day = np.datetime64("2026-09-01") + np.arange(rows) * days // rows
    return table.append_column("day", pa.array(day)).take(pa.array(rng.permutation(rows)))


EXPERIMENTS: dict[str, dict[str, Any]] = {
    "A/B test, half and half": {},
    "A/B test, 10 % in B": {"shares": (0.1, 0.1)},
    "A/B test by user, clicks of a user together": {"by": "user"},
    "A/B test, clicks double, shares stay": {"rise": 2.0},
    "A/B test, ramped, clicks stay": {"shares": (0.1, 0.5)},
    "A/B test, ramped, clicks double": {"shares": (0.1, 0.5), "rise": 2.0},
    "the same, 14 days, shuffled": {"shares": (0.1, 0.5), "rise": 2.0, "days": 14},
    "A/B test, 14 days, shuffled": {"days": 14},
    "A/B test, ramped, 30 % more clicks": {"shares": (0.1, 0.5), "rise": 1.3},
    "A/B test, B loses 20 % of its clicks": {"slow": 0.8},
    "A/B test by user, a twentieth changes the arm": {"by": "leak"},
    "A/B test, users compare items": {"compared": 0.7},
    "random rankers, half and half": {"draws": True},
    "random rankers, 10 % in B": {"draws": True, "shares": (0.1, 0.1)},
    "random rankers by user, clicks of a user together": {"draws": True, "by": "user"},
    "random rankers, users compare items": {"draws": True, "compared": 0.7},
    "random rankers, ramped, clicks double": {"draws": True, "shares": (0.1, 0.5), "rise": 2.0},
    "random rankers, B loses 20 % of its clicks": {"draws": True, "slow": 0.8},
}


def said(table: pa.Table, arms: Any) -> set[str]:
    """The codes of what is said of a log, notes left out."""
    source = offrank.read_log(table)
    found: dict[str, set[str]] = {}
    fine = False
    weights = UniformWeightsFold(arms) if arms is LOGGED else None
    for name, fold in along_folds(source, arms, (), compared=True, weights=weights):
        needs = fold.needs() | offrank.log.Needs(frozenset(["clicks" if "clicks" in table.column_names else "reward"]))
        known = folded(source.select(needs), fold)
        fine |= name == "along time" and known.fine
        every = cautions_for(*(known if isinstance(known, tuple) else (known,)))
        found[name] = {one.code for one in every if one.severity != "note"}
    return {code for name, codes in found.items() if not (fine and name in BY_ROW) for code in codes}


Make = Callable[[Rng, int], tuple[pa.Table, Any]]
"""A log of so many rows, or of half as many, and its arms."""


def worlds() -> Iterator[tuple[str, bool, Make]]:
    """Name, whether it is healthy (of which there are more logs), and what makes a log."""
    for some, healthy in ((HEALTHY, True), (FAULTY, False)):
        for name, make in some.items():
            yield name, healthy, lambda rng, rows, make=make: (log_of(make(rng, rows)), None)
    for name, known in EXPERIMENTS.items():
        arms, healthy = (DRAWN, not {"rise", "slow"} & set(known)) if "draws" in known else (ARMS, False)
        yield name, healthy, lambda rng, rows, known=known, arms=arms: (experiment(rng, rows // 2, **known), arms)
    for name, known in LISTS.items():
        yield name, "wrong" not in known, lambda rng, rows, known=known: (drawn_lists(rng, rows // 2, **known), LOGGED)


def along_the_log(*, healthy: int = 400, faulty: int = 100, rows: int = 20_000) -> Iterator[str]:
    """In what share of the logs of each kind each fault is said."""
    codes = ("outcome-moves", "shares-moved", "unlike-arms", "shared-users", "weights-move")
    yield from markdown_head("log", "logs", *(f"`{code}`" for code in codes))
    for place, (name, well, make) in enumerate(worlds()):
        counts, logs = Counter[str](), healthy if well else faulty
        for seed in range(logs):
            counts.update(said(*make(np.random.default_rng([seed, place, 20]), rows)))
        yield markdown_row(name, logs, *(percent(counts[code] / logs) if counts[code] else "0" for code in codes))


COMMANDS = {along_the_log: "along the log"}
if __name__ == "__main__":
    run(__file__, COMMANDS)
