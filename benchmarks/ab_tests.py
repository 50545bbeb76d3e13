"""An A/B test of two rankers that sort: how many sessions the combination saves, and how often it is right.

Six kinds of users, three likenesses of the rankers. Every log is compared as anyone would, each row its own cluster;
the truth is counted on many sessions of both rankers. `interpol(window=5)` has the curve of the position-based users,
whoever clicks.

    python benchmarks/ab_tests.py [--logs 200] [--sessions 2000] [--seed 1] [--write docs/how-to/you-have-an-ab-test.md]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
from _page import generated
from numpy.typing import NDArray

import offrank

Floats = NDArray[np.float64]
Shown = NDArray[np.int64]
Clicks = NDArray[np.bool_]
QUERIES, ITEMS, SLOTS = 60, 14, 6
LIKENESS = {"alike": (0.99, 1.1), "near": (0.95, 1.35), "unlike": (0.2, 1.35)}
"""Correlation of what both rankers add to the relevance of an item, and how much more of that the second knows."""
CURVE = 1 / np.arange(1, SLOTS + 1) ** 0.8
TRUTH = 1_000_000
"""Sessions of each ranker from which the truth is counted, in parts."""
PARTS = 5
LOGGING = "by(arm, {A: top(a_score), B: top(b_score)})"
ASKED = ["snips", "snrips", "snipm", "interpol(window=5)"]
NAMES = ("difference of means", *ASKED, "combined")


@dataclass(frozen=True)
class World:
    """relevance [q, i], and the scores of both rankers [2, q, i]."""

    relevance: Floats
    scores: Floats

    @classmethod
    def of(cls, likeness: str) -> World:
        """A world: the second ranker knows more of the relevance than the first."""
        rng, (rho, more) = np.random.default_rng([5, list(LIKENESS).index(likeness)]), LIKENESS[likeness]
        relevance, common = rng.beta(1.2, 3.5, (QUERIES, ITEMS)), rng.normal(size=(QUERIES, ITEMS))
        known = (relevance - relevance.mean()) / relevance.std()
        own = rng.normal(size=(2, QUERIES, ITEMS))
        noise = 2 * (rho * common + np.sqrt(1 - rho**2) * own)
        return cls(relevance, np.array([1.0, more])[:, None, None] * known + noise)

    @property
    def lists(self) -> Shown:
        """[2, q, k] what each ranker shows."""
        return np.argsort(-self.scores, axis=2)[:, :, :SLOTS]

    @property
    def shared(self) -> float:
        """The share of the items that both rankers show."""
        one, other = self.lists
        return float(np.mean([len(set(a) & set(b)) / SLOTS for a, b in zip(one, other, strict=True)]))


def position(shown: Floats, rng: np.random.Generator) -> Clicks:
    """Users who look at a rank with a fixed probability."""
    return rng.random(shown.shape) < CURVE * shown


def trust(shown: Floats, rng: np.random.Generator) -> Clicks:
    """Users who click more on what stands high, whatever it is (Agarwal and others 2019)."""
    good, bad = np.linspace(0.98, 0.8, SLOTS), np.linspace(0.35, 0.08, SLOTS)
    return rng.random(shown.shape) < 0.8 * CURVE * (good * shown + bad * (1 - shown))


def cascade(
    shown: Floats, rng: np.random.Generator, after_click: Callable[[int, Floats], Floats], goes_on: float
) -> Clicks:
    """Users who read on until they stop, more likely so after a click."""
    clicked, reads = np.zeros(shown.shape, np.bool_), np.ones(len(shown), np.bool_)
    for rank in range(SLOTS):
        clicked[:, rank] = reads & (rng.random(len(shown)) < shown[:, rank])
        stays = np.where(clicked[:, rank], after_click(rank, shown[:, rank]), 1.0) * goes_on
        reads &= rng.random(len(shown)) < stays
    return clicked


def browsing(shown: Floats, rng: np.random.Generator) -> Clicks:
    """Users whose attention falls with the rank and with the distance to their last click."""
    clicked, last = np.zeros(shown.shape, np.bool_), np.full(len(shown), -1)
    for rank in range(SLOTS):
        after = 0.9 / np.maximum(rank - last, 1) ** 0.6 / (1 + 0.1 * rank)
        looks = np.where(last < 0, 1 / (1 + 0.45 * rank), after)
        clicked[:, rank] = rng.random(len(shown)) < looks * shown[:, rank]
        last[clicked[:, rank]] = rank
    return clicked


def mixture(shown: Floats, rng: np.random.Generator) -> Clicks:
    """Half of the users are position-based, half satisfied by what they click."""
    return np.where(rng.random((len(shown), 1)) < 0.5, position(shown, rng), USERS["DBN"](shown, rng))


USERS: dict[str, Callable[[Floats, np.random.Generator], Clicks]] = {
    "PBM": position,
    "DBN": partial(cascade, after_click=lambda _, shown: 0.65 - 0.6 * shown, goes_on=0.88),
    "DCM": partial(cascade, after_click=lambda rank, _: np.asarray(0.65 - 0.08 * rank), goes_on=0.95),
    "UBM": browsing,
    "trust-biased": trust,
    "mixture": mixture,
}


def truth(world: World, users: str) -> float:
    """What the second ranker earns more than the first."""
    found = 0.0
    for part in range(PARTS):
        query = np.random.default_rng([9, part]).integers(0, QUERIES, TRUTH // PARTS)
        for sign, lists in ((-1, world.lists[0]), (1, world.lists[1])):
            shown = world.relevance[query[:, None], lists[query]]
            found += sign * USERS[users](shown, np.random.default_rng([9, part, 1])).sum() / len(query) / PARTS
    return found


def table(world: World, users: str, sessions: int, seed: int) -> pa.Table:
    """The log of one A/B test."""
    rng = np.random.default_rng([seed, list(USERS).index(users)])
    query, arm = rng.integers(0, QUERIES, sessions), rng.integers(0, 2, sessions)
    lists = world.lists[arm, query]
    clicks = USERS[users](world.relevance[query[:, None], lists], rng).astype(np.int8)
    made = {
        name: pa.FixedSizeListArray.from_arrays(values.ravel(), values.shape[1])
        for name, values in (
            ("candidates", np.tile(np.arange(ITEMS), (sessions, 1))),
            ("slate", lists),
            ("clicks", clicks),
            ("a_score", world.scores[0][query]),
            ("b_score", world.scores[1][query]),
        )
    }
    return pa.table({"arm": np.where(arm, "B", "A"), **made})


@dataclass
class Found:
    """Values and standard errors of one estimator, and whether its interval held the truth."""

    values: list[float] = field(default_factory=list)
    held: list[bool] = field(default_factory=list)
    widths: list[float] = field(default_factory=list)

    def add(self, one: offrank.Interval, true: float) -> None:
        """Add what one log says."""
        self.values.append(one.value - true)
        self.held.append(one.low <= true <= one.high)
        self.widths.append(one.standard_error)

    @property
    def error(self) -> float:
        """The root mean squared error."""
        return float(np.sqrt(np.mean(np.square(self.values))))


def cell(world: World, users: str, true: float, logs: int, sessions: int, seed: int) -> dict[str, Found]:
    """All logs of one kind."""
    found = {name: Found() for name in NAMES}
    for log in range(logs):
        made = table(world, users, sessions, 1000 * seed + log)
        test = offrank.compare(made, None, LOGGING, ASKED, examination=CURVE, cluster=None).metadata.ab_test
        assert test is not None
        [one] = test.compared
        found["difference of means"].add(one.means, true)
        found["combined"].add(one.combined, true)
        for step in one.steps:
            found[step.estimator].add(step.difference, true)
    return found


def rows(logs: int, sessions: int, seed: int) -> Iterator[str]:
    """The table, a line at a time."""
    yield f"{logs} logs of {sessions:,} sessions of each kind. Held: by the printed interval at 95 %."
    yield ""
    yield (
        "| rankers | both show | users | truth | error of means | held | combined | held | error / means "
        "| sessions saved | by `interpol` |"
    )
    yield "|---|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|"
    for likeness in LIKENESS:
        for users in USERS:
            world = World.of(likeness)
            true = truth(world, users)
            found = cell(world, users, true, logs, sessions, seed)
            means, both, curve = (found[name] for name in ("difference of means", "combined", "interpol(window=5)"))
            saved, more = ((np.median(means.widths) / np.median(one.widths)) ** 2 for one in (both, curve))
            words = (
                f"| {likeness} | {world.shared:.0%} | {users} | {true:+.4f} "
                f"| {means.error:.4f} | {np.mean(means.held):.1%} | {both.error:.4f} | {np.mean(both.held):.1%} "
                f"| {both.error / means.error:.2f} | {saved:.1f} | {more:.1f}, held {np.mean(curve.held):.1%} |"
            )
            yield words


def tabulate(rows: Callable[[int, int, int], Iterator[str]], name: str, script: str, says: str | None) -> None:
    """Print a table of logs, sessions and a seed, line by line, or write it into a page. says: of the script."""
    parser = argparse.ArgumentParser(description=says)
    parser.add_argument("--logs", type=int, default=200)
    parser.add_argument("--sessions", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", type=Path)
    asked = parser.parse_args()
    found = []
    for line in rows(asked.logs, asked.sessions, asked.seed):
        print(line, flush=True)
        found.append(line)
    if asked.write is not None:
        generated(asked.write, name, found, script)


def main() -> None:
    """Print the table, or write it into a page."""
    tabulate(rows, "ab tests", "benchmarks/ab_tests.py", __doc__)


if __name__ == "__main__":
    main()
