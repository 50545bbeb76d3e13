"""Faults of the outcome that the table alone shows: how often they are found, and how often healthy logs are blamed.

Each log shows four of ten items of a query in a uniform order. Healthy users look at ranks by a curve, stop at a click,
or go on after one; they differ, and rewards are clicks, counts, prices or heavy amounts. A fault changes one thing. The
last rows are healthy logs that nothing tells from faults.

    python benchmarks/outcome_checks.py [--logs 100] [--rows 500 2000 10000] [--write docs/concepts/trust.md]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from _page import generated

import offrank
from offrank.checks.row_inclusion import with_unread
from offrank.checks.score_leakage import KINDS, OwnClicksFold
from offrank.findings import cautions_for
from offrank.findings.log import LogEvidence
from offrank.log.source import Needs
from offrank.running.executors import run
from offrank.sums.base import Tee
from offrank.sums.outcome_shape import OutcomeShapeFold

Floats = np.ndarray[Any, np.dtype[Any]]
ITEMS, SLOTS, QUERIES = 10, 4, 40
CURVE = np.array([1.0, 0.6, 0.4, 0.25])
CODES = ("clicks-on-top", "unclicked-rank", "two-units", "clicked-whole", "unread-rate", "same-log")


class Log:
    """A log of some rows, whose parts may be changed before it becomes a table."""

    def __init__(self, rows: int, seed: int, mean: float = 0.15) -> None:
        self.rng = rng = np.random.default_rng(seed)
        self.relevance = rng.beta(8 * mean, 8 * (1 - mean), (QUERIES, ITEMS))
        self.query = rng.integers(QUERIES, size=rows)
        self.slate = np.argsort(rng.random((rows, ITEMS)), axis=1)[:, :SLOTS]
        self.attraction = self.relevance[self.query[:, None], self.slate]
        self.curve, self.score = CURVE, self.relevance + rng.normal(0, 0.05, self.relevance.shape)
        self.columns: dict[str, Floats] = {}
        self.clicks = self.by_curve()

    def by_curve(self) -> Floats:
        return (self.rng.random(self.attraction.shape) < self.attraction * self.curve).astype(int)

    def take(self, rows: Floats) -> None:
        self.query, self.slate, self.clicks = self.query[rows], self.slate[rows], self.clicks[rows]
        self.columns = {name: one[rows] for name, one in self.columns.items()}

    def table(self) -> pa.Table:
        n, items = len(self.query), self.query[:, None] * 100 + np.arange(ITEMS)
        lists = {
            "candidates": items, "slate": self.query[:, None] * 100 + self.slate, "clicks": self.clicks,
            "score": self.score[self.query],
        }  # fmt: skip
        made = {name: _lists(one) for name, one in lists.items()}
        assert all(len(one) == n for one in made.values())
        return pa.table({**made, "query": self.query, **self.columns})

    def codes(self) -> set[str]:
        """What is said of its outcome, and of its score."""
        source = offrank.read_log(self.table())
        shape = Needs(
            frozenset(["candidates", "clicks", "reward"]), scores=frozenset(["score"]), keys=frozenset(["query"])
        )
        folds = {"shape": OutcomeShapeFold(), **{of: OwnClicksFold(("score",), of) for of in KINDS}}
        found = run(source.select(shape), Tee(folds))
        kept = with_unread(LogEvidence(), source).kept
        said = cautions_for(found["shape"], kept, *(found[of]["score"] for of in KINDS))
        return {one.code for one in said} & set(CODES)


def _lists(values: Floats) -> pa.Array:
    offsets = np.arange(0, values.size + 1, values.shape[1], dtype=np.int32)
    return pa.ListArray.from_arrays(offsets, np.ascontiguousarray(values).ravel())


Change = Callable[[Log], None]


def usual(log: Log) -> None:
    log.clicks = log.by_curve()


def cascade(log: Log) -> None:
    log.clicks = log.clicks * (np.cumsum(log.clicks, axis=1) == 1)


def dbn(log: Log) -> None:
    """Users go on with .9, and are satisfied by half of their clicks."""
    rng, looks = log.rng, np.ones(len(log.query), bool)
    for rank in range(SLOTS):
        log.clicks[:, rank] = looks & (rng.random(len(looks)) < log.attraction[:, rank])
        looks &= (rng.random(len(looks)) < 0.9) & ~((log.clicks[:, rank] > 0) & (rng.random(len(looks)) < 0.5))


def heavy_users(log: Log) -> None:
    """Users who click .1 to 5 times as much as others, with 30 rows each."""
    user = log.rng.integers(max(len(log.query) // 30, 1), size=len(log.query))
    much = log.rng.gamma(1.0, 1.0, user.max() + 1)[user]
    log.attraction = np.minimum(log.attraction * much[:, None], 1.0)
    log.clicks = log.by_curve()


def steep(log: Log) -> None:
    log.curve = np.array([1.0, 0.2, 0.05, 0.02])
    log.clicks = log.by_curve()


def by_relevance(log: Log) -> None:
    """A ranker that knows the truth sorts every list."""
    order = np.argsort(-log.attraction, axis=1)
    log.slate, log.attraction = (np.take_along_axis(one, order, axis=1) for one in (log.slate, log.attraction))
    log.clicks = log.by_curve()


def rewards(amounts: Callable[[np.random.Generator, int], Floats]) -> Change:
    def change(log: Log) -> None:
        log.columns["reward"] = log.clicks.sum(axis=1) * amounts(log.rng, len(log.query))

    return change


def prices(rng: np.random.Generator, n: int) -> Floats:
    return rng.choice(np.round(np.exp(rng.normal(3, 1.5, 12)), 2), n)


def many_prices(rng: np.random.Generator, n: int) -> Floats:
    """Prices that end in .99, the first ones sold most."""
    often = 1 / np.arange(1, 121)
    return rng.choice(np.maximum(np.round(np.exp(rng.normal(3, 1, 120))), 1) - 0.01, n, p=often / often.sum())


def dear_ones(rng: np.random.Generator, n: int) -> Floats:
    """Three of ten goods cost 6 times as much."""
    return np.exp(np.where(rng.random(n) < 0.3, rng.normal(4.8, 0.7, n), rng.normal(3, 0.7, n)))


def in_units(factor: float, share: float, spread: float) -> Change:
    def change(log: Log) -> None:
        rewards(lambda rng, n: np.exp(rng.normal(3, spread, n)))(log)
        other = log.rng.random(len(log.query)) < share
        log.columns["reward"] = np.where(other, factor, 1.0) * log.columns["reward"]

    return change


def sorted_by_clicks(log: Log) -> None:
    order = np.argsort(-log.clicks, axis=1, kind="stable")
    log.slate, log.clicks = (np.take_along_axis(one, order, axis=1) for one in (log.slate, log.clicks))


def late(log: Log) -> None:
    log.clicks = np.hstack([np.zeros((len(log.query), 1), int), log.clicks[:, :-1]])


def robots(share: float) -> Change:
    def change(log: Log) -> None:
        they = log.rng.random((len(log.query), 1)) < share
        log.clicks = np.where(they, log.rng.random(log.clicks.shape) < 0.95, log.clicks).astype(int)

    return change


def thinned(log: Log) -> None:
    rate = np.where(log.clicks.any(axis=1), 1.0, 0.2)
    log.columns["keep_prob"] = rate
    log.take(np.flatnonzero(log.rng.random(len(rate)) < rate))


def leak(noise: float, *, here: bool = True) -> Change:
    """A score that is the click rate of each item of a query, here or on another day, and noise."""

    def change(log: Log) -> None:
        day = log if here else Log(len(log.query), int(log.rng.integers(2**31)))
        if not here:
            day.attraction = log.relevance[day.query[:, None], day.slate]
            day.clicks = day.by_curve()
        cell = (day.query[:, None] * ITEMS + day.slate).ravel()
        shown, came = np.bincount(cell, minlength=400), np.bincount(cell, day.clicks.ravel(), 400)
        rate = (came / np.maximum(shown, 1)).reshape(QUERIES, ITEMS)
        log.score = rate + log.rng.normal(0, noise, rate.shape)

    return change


def stop_when_bored(log: Log) -> None:
    """Songs: a list is heard from the top until the first one that is skipped."""
    heard = log.rng.random(log.clicks.shape) < 0.6
    log.clicks = np.cumprod(heard, axis=1)


def two_lines(rng: np.random.Generator, n: int) -> Floats:
    return np.exp(np.where(rng.random(n) < 0.3, rng.normal(6.5, 0.5, n), rng.normal(2, 0.5, n)))


HEALTHY: dict[str, Change] = {
    "users by a curve": usual,
    "a steep curve": steep,
    "one click (cascade)": cascade,
    "DBN": dbn,
    "users who click unlike much": heavy_users,
    "lists sorted by relevance": by_relevance,
    "log-normal amounts, sd 1": rewards(lambda rng, n: np.exp(rng.normal(3, 1, n))),
    "log-normal amounts, sd 2": rewards(lambda rng, n: np.exp(rng.normal(3, 2, n))),
    "Pareto amounts, index 1.1": rewards(lambda rng, n: rng.pareto(1.1, n) + 1),
    "gamma amounts, shape .3": rewards(lambda rng, n: rng.gamma(0.3, 10, n)),
    "counts": rewards(lambda rng, n: rng.poisson(2, n) + 1.0),
    "12 prices": rewards(prices),
    "120 prices at .99": rewards(many_prices),
    "goods, and some 6 times as dear": rewards(dear_ones),
    "a score counted on another day": leak(0.0, here=False),
    "the same with noise, sd .05": leak(0.05, here=False),
}
FAULTS: dict[str, tuple[str, Change]] = {
    "sorted by clicks": ("clicks-on-top", sorted_by_clicks),
    "clicks a rank late": ("unclicked-rank", late),
    "a tenth in cents, log-normal, sd .5": ("two-units", in_units(100, 0.1, 0.5)),
    "a tenth in cents, log-normal, sd 1": ("two-units", in_units(100, 0.1, 1.0)),
    "a tenth times 7.5, sd .5": ("two-units", in_units(7.5, 0.1, 0.5)),
    "robots, 7 % of the rows": ("clicked-whole", robots(0.07)),
    "robots, 2 % of the rows": ("clicked-whole", robots(0.02)),
    "thinned, the rate not named": ("unread-rate", thinned),
    "a score that counts these clicks": ("same-log", leak(0.0)),
    "the same with noise, sd .02": ("same-log", leak(0.02)),
    "the same with noise, sd .05": ("same-log", leak(0.05)),
    "the same with noise, sd .1": ("same-log", leak(0.1)),
}
ALIKE: dict[str, Change] = {
    "songs, heard until one is skipped": stop_when_bored,
    "two product lines": rewards(two_lines),
}


def shares(change: Change, rows: list[int], logs: int, code: str = "") -> list[str]:
    """In how many per cent of the logs a code, or any, is said, by rows."""
    found = []
    for n in rows:
        count = 0
        for seed in range(logs):
            log = Log(n, seed)
            change(log)
            codes = log.codes()
            count += code in codes if code else bool(codes)
        found.append(f"{100 * count / logs:.0f} %" if code else f"{count}")
    return found


def lines(rows: list[int], logs: int) -> Iterator[str]:
    """Tables of faults and of healthy logs."""
    sizes = " | ".join(f"{n:,} rows" for n in rows)
    yield f"Found, in per cent of {logs} logs:\n"
    yield f"| fault | finding | {sizes} |\n|---|---|" + "--:|" * len(rows)
    for name, (code, change) in FAULTS.items():
        yield f"| {name} | `{code}` | " + " | ".join(shares(change, rows, logs, code)) + " |"
    yield f"\nFalse alarms, of {logs} healthy logs:\n"
    yield f"| healthy | {sizes} |\n|---|" + "--:|" * len(rows)
    total = 0
    for name, change in HEALTHY.items():
        counts = shares(change, rows, logs)
        total += sum(map(int, counts))
        yield f"| {name} | " + " | ".join(counts) + " |"
    yield f"\nTogether {total} of {len(HEALTHY) * len(rows) * logs:,}. Not told from faults:\n"
    yield f"| healthy, and alike | {sizes} |\n|---|" + "--:|" * len(rows)
    for name, change in ALIKE.items():
        yield f"| {name} | " + " | ".join(shares(change, rows, logs)) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logs", type=int, default=100)
    parser.add_argument("--rows", type=int, nargs="+", default=[500, 2_000, 10_000])
    parser.add_argument("--write", type=Path, help="the page that includes the table")
    asked = parser.parse_args()
    told = [line for some in lines(asked.rows, asked.logs) for line in some.split("\n")]
    print(*told, sep="\n")
    if asked.write:
        generated(asked.write, "outcome checks", told, "benchmarks/outcome_checks.py")


if __name__ == "__main__":
    main()
