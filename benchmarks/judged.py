"""Clicks and judgements: what `judged` makes of both, and how well judgements from clicks put documents in order.

python benchmarks/judged.py judged [--logs 200] [--workers 1] [--write]
python benchmarks/judged.py coec [--logs 3] [--sessions 40000] [--write]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
from _page import markdown_head, markdown_row, measured, run
from scipy.stats import kendalltau, norm, rankdata

import offrank
from offrank.clicks import Sessions, click_model
from offrank.estimators import JudgedClicks

ROWS, QUERIES, ITEMS, OLD, SLOTS = 4000, 400, 12, 8, 3
LONGER = 40_000
"""Impressions of the longer logs, of which there are a fifth as many."""
MANY = 100_000
"""Queries of which the truth is the mean."""
LEVELS, RANKS = np.array([0.05, 0.1, 0.25, 0.4]), np.array([1, 0.6, 0.4])
LOGGING = "plackett_luce(old)"
HEADER = (
    *("never logged items of a grade earn", "truth", "bias", "error / that of `ipm`", "95 % held"),
    *("more than was logged", "decided", "rightly", "said to hold if so", "rightly"),
)
TARGET = "top(new)"
NEVER = (0.0, 0.1, -0.1, 0.2, -0.2, 0.4, -0.4, 0.6)
RARELY = (0.0, 0.2, 0.4)


@dataclass(frozen=True)
class World:
    """never, rarely: the share by which items never, or rarely, logged earn less; all: whether all are logged.

    rows: impressions of a log.
    """

    never: float = 0.0
    rarely: float = 0.0
    all: bool = False
    rows: int = ROWS

    def drawn(self, rng: np.random.Generator, queries: int) -> dict[str, Any]:
        """Return grades, what items attract, and both scores, [queries, items] each."""
        shape = queries, ITEMS
        grade, old = rng.integers(0, 4, shape), np.exp(0.5 * rng.normal(size=shape))
        new = np.arange(ITEMS) >= (ITEMS if self.all else OLD)
        rare = old < np.quantile(old, 1 / 3, axis=1, keepdims=True)
        attracts = LEVELS[grade] * rng.uniform(0.5, 1.5, shape)
        score = attracts + rng.normal(0, 1.0, shape)  # of what the new ranker knew, whatever the new items are worth
        attracts = attracts * np.where(new, 1 - self.never, np.where(rare, 1 - self.rarely, 1.0))
        return {"grade": grade, "attracts": attracts, "old": np.where(new, 0.0, old), "new": score}

    def truth(self) -> tuple[float, float]:
        """Return what the target and the old ranker earn per impression."""
        rng = np.random.default_rng(0)
        found = self.drawn(rng, MANY)
        slates = np.argsort(-found["new"], axis=1)[:, :SLOTS], drawn(found["old"], rng)
        one, other = ((np.take_along_axis(found["attracts"], each, axis=1) @ RANKS).mean() for each in slates)
        return float(one), float(other)

    def log(self, seed: int) -> tuple[pa.Table, pa.Table]:
        """Return a log, and its judgements."""
        rng = np.random.default_rng([int(100 * self.never) + 100, int(100 * self.rarely), self.all, self.rows, seed])
        found = self.drawn(rng, QUERIES)
        query = rng.integers(QUERIES, size=self.rows)
        slate = drawn(found["old"][query], rng)
        clicks = rng.random(slate.shape) < np.take_along_axis(found["attracts"][query], slate, axis=1) * RANKS
        lists = {"slate": slate, "clicks": clicks.astype(int), "candidates": np.tile(np.arange(ITEMS), (self.rows, 1))}
        lists |= {name: found[name][query] for name in ("old", "new")}
        pairs = np.indices(found["grade"].shape).reshape(2, -1)
        judged = pa.table({"query": pairs[0], "item": pairs[1], "grade": found["grade"].ravel()})
        return pa.table({"query": query} | {name: values.tolist() for name, values in lists.items()}), judged


def drawn(weights: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return slates by Plackett-Luce."""
    with np.errstate(divide="ignore"):
        return np.argsort(-np.log(weights) - rng.gumbel(size=weights.shape), axis=1)[:, :SLOTS]


def asked(task: tuple[World, int]) -> dict[str, Any]:
    """Return the numbers of one log, of a world and a seed: value and ends by estimator, and what `judged` says."""
    world, seed = task
    log, judgements = world.log(seed)
    beside = ["ipm", "snips", "snipm"] if world.all else ["ipm"]
    found = offrank.evaluate(log, TARGET, LOGGING, [*beside, JudgedClicks(judgements)])
    *_, judged = found.estimates.found
    [told] = found.to_dict()["judged"]
    every = {name.partition("(")[0]: one for (_, name), one in found.estimates.given.items()}
    numbers = {name: (one.value, one.low, one.high) for name, one in every.items()}
    away = found[judged].difference
    codes = [one.code for one in found[judged].warnings]
    return {"numbers": numbers, "away": (away.low, away.high), "told": told, "alarm": "grades-not-alike" in codes}


def cells_of(world: World, every: list[dict[str, Any]]) -> list[str]:
    """Return the cells of a world."""
    truth, logged = world.truth()
    value, low, high = np.array([one["numbers"]["judged"] for one in every]).T
    plain = np.array([one["numbers"]["ipm"][0] for one in every])
    error, other = (float(np.sqrt(np.mean((one - truth) ** 2))) for one in (value, plain))
    decided = np.array([one["told"]["differs"] for one in every])
    right = decided == np.sign(truth - logged)
    less = np.array([np.nan if (one := each["told"].get("less")) is None else one for each in every])
    shift = world.never
    # The decision is said to hold in this world: unless items earn less than they do here.
    holds = (decided != 0) & (np.isnan(less) | (np.sign(less) * shift <= np.abs(less)))
    names = {0.0: "as much", **{one: f"{abs(one):.0%} {'less' if one > 0 else 'more'}" for one in NEVER[1:]}}
    return [
        names[shift],
        f"{truth:.3f}",
        f"{value.mean() - truth:+.3f}",
        f"{error / other:.2f}",
        f"{((low <= truth) & (truth <= high)).mean():.3f}",
        f"{truth / logged - 1:+.0%}",
        f"{(decided != 0).mean():.0%}",
        _share(right, decided != 0),
        f"{holds.mean():.0%}",
        _share(right, holds),
    ]


def _share(some: np.ndarray, among: np.ndarray) -> str:
    return f"{some[among].mean():.0%}" if among.any() else "-"


def width(every: list[dict[str, Any]], name: str) -> float:
    """Return the median of the width of `judged` over that of another estimator."""
    ratios = []
    for one in every:
        (_, low, high), other = one["numbers"]["judged"], one["numbers"].get(name)
        if other is not None and 0 < other[2] - other[1] < np.inf:
            ratios.append((high - low) / (other[2] - other[1]))
    return float(np.median(ratios))


def logs_of(world: World, logs: int, workers: int) -> list[dict[str, Any]]:
    """What is said of so many logs; of longer ones, a fifth as many."""
    seeds = range(logs if world.rows == ROWS else logs // 5)
    return [found for _, found in measured(asked, ((world, seed) for seed in seeds), workers)]


def judged(*, logs: int = 200, workers: int = 1) -> Iterator[str]:
    """Coverage and error of `judged`, and what its sensitivity and its audit are worth.

    Queries and items are drawn anew for each log. The old ranker draws 3 of the first 8 of 12 candidates, the target
    sorts all 12 by a score, so that a third of what it shows was never logged. Items of a grade earn alike on average,
    but for a share by which those never logged earn more or less, or by which the rarely logged ones do.
    """
    yield f"By `python benchmarks/judged.py`: {logs} logs a row, of {ROWS:,} impressions of {QUERIES} queries."
    yield ""
    yield from markdown_head(*HEADER)
    for world in [*map(World, NEVER), World(rows=LONGER)]:
        name, *cells = cells_of(world, logs_of(world, logs, workers))
        yield markdown_row(name + f", {world.rows:,} impressions" * (world.rows != ROWS), *cells)
    yield ""
    world = World(all=True)
    every = logs_of(world, logs, workers)
    truth, _ = world.truth()
    value, low, high = np.array([one["numbers"]["judged"] for one in every]).T
    held = ((low <= truth) & (truth <= high)).mean()
    widths = ", ".join(f"`{name}` {width(every, name):.2f}" for name in ("snipm", "ipm", "snips"))
    yield f"Where all is logged: bias {value.mean() - truth:+.3f}, 95 % held {held:.3f}."
    yield f"Median width over that of {widths}."
    yield ""
    yield from markdown_head("the rarest third of logged items earns", "the audit alarms", "in logs ten times as long")
    for rarely in RARELY:
        some = (logs_of(World(rarely=rarely, rows=rows), logs, workers) for rows in (ROWS, LONGER))
        alarms = (f"{np.mean([one['alarm'] for one in every]):.0%}" for every in some)
        yield markdown_row(f"{rarely:.0%} less" if rarely else "as much", *alarms)


PER_QUERY, SEARCHES = 10, 200
JUDGES = ("raw rates", "coec", "pbm", "ubm", "dbn")
RANKERS = {"good": 1.0, "fair": 0.3, "random": 0.0}


def sessions_of(users: str, ranker: str, sessions: int, rng: np.random.Generator) -> tuple[Sessions, np.ndarray]:
    """Sessions, and the attraction of each document [queries * 10]."""
    attraction = 0.05 + 0.9 * rng.beta(1, 3, (SEARCHES, PER_QUERY))
    quality = norm.ppf(rankdata(attraction).reshape(attraction.shape) / (attraction.size + 1))
    score = RANKERS[ranker] * quality + 0.5 * rng.standard_normal(quality.shape)
    query = rng.integers(0, SEARCHES, sessions)
    noise = 0.3 * rng.gumbel(size=(sessions, PER_QUERY))
    order = np.argsort(-(noise if ranker == "random" else score[query] + noise), axis=1)
    document = query[:, None] * PER_QUERY + order
    attracted = rng.random(document.shape) < attraction.ravel()[document]
    if users == "pbm":
        click = attracted & (rng.random(document.shape) < 1 / np.arange(1, PER_QUERY + 1))
    else:
        satisfied = rng.random(document.shape) < attraction.ravel()[document] / 2
        leaves = (attracted & satisfied) | (rng.random(document.shape) > 0.9)
        click = attracted & (np.cumsum(leaves, axis=1) - leaves == 0)
    rows = document.astype(np.int32), click.astype(np.uint8), np.ones(sessions)
    return Sessions(*rows, SEARCHES * PER_QUERY), attraction.ravel()


def judgement(name: str, sessions: Sessions) -> np.ndarray:
    """What a judge makes of each document."""
    documents = np.arange(SEARCHES * PER_QUERY)
    if name == "raw rates":
        shown = np.bincount(sessions.document.ravel(), minlength=len(documents))
        clicked = np.bincount(sessions.document.ravel(), sessions.click.ravel(), len(documents))
        return np.asarray(clicked / np.maximum(shown, 1))
    model = click_model(name)
    return model.relevance(model.learn(model.from_sessions(sessions)).parameters, documents)


def tau(found: np.ndarray, truth: np.ndarray) -> float:
    """Mean over queries."""
    each = zip(found.reshape(-1, PER_QUERY), truth.reshape(-1, PER_QUERY), strict=True)
    return float(np.nanmean([kendalltau(*one).statistic for one in each]))


def coec(*, logs: int = 3, sessions: int = 40_000) -> Iterator[str]:
    """How well judgements from clicks put documents in order: Kendall's tau with the truth of simulated users.

    Queries of 10 documents, attraction .05 + .9 Beta(1, 3), which has no ties. Users look at rank k with probability
    1/k (`pbm`), or read down, are satisfied by a click with half of its attraction, and go on with .9 (`dbn`). The
    ranker sorts by w z + N(0, 1/4) + .3 Gumbel, z the attraction's normal score: `good` with w = 1, `fair` with .3; or
    at `random`. Judges: raw click rates, clicks over expected clicks (`coec`, what search engines compute), and click
    models. Each number is the mean over queries of tau-b with the true attraction, over logs, with twice its error.
    """
    yield from markdown_head("Users, ranker", *JUDGES)
    for world, (users, ranker) in enumerate(product(("pbm", "dbn"), RANKERS)):
        found = np.empty((logs, len(JUDGES)))
        for seed in range(logs):
            data, truth = sessions_of(users, ranker, sessions, np.random.default_rng([seed, world]))
            found[seed] = [tau(judgement(name, data), truth) for name in JUDGES]
        ends = 2 * found.std(axis=0, ddof=1) / np.sqrt(logs)
        told = (f"{mean:.3f} ± {end:.3f}" for mean, end in zip(found.mean(axis=0), ends, strict=True))
        yield markdown_row(f"`{users}`, {ranker}", *told)


COMMANDS = {judged: "judged", coec: "coec"}
if __name__ == "__main__":
    run(__file__, COMMANDS)
