"""An A/B test of two rankers that sort: how many sessions the combination saves, and how often it is right.

Six kinds of users, and two that no step but the means is right for; three likenesses of the rankers. Every log is
compared as anyone would, each row its own cluster; the truth is counted on many sessions of both rankers.
`interpol(window=5)` has the curve of the position-based users, whoever clicks.

    python benchmarks/ab_tests.py [--logs 200] [--sessions 2000] [--seed 1] [--keep FOLDER] [--only alike,near]
                                  [--write docs/how-to/you-have-an-ab-test.md]

In FOLDER stands what each log said, so that a run goes on where another ended, and several can share the kinds.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from _page import generated
from numpy.typing import NDArray

import offrank
from offrank.formatting import percent

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
ASKED = ["snips", "snrips", "interpol(window=5)"]
MEANS, COMBINED, CURVED, HISTORY = "difference of means", "combined", "interpol(window=5)", "history"
TOGETHER = 10
"""Logs of a kind after which what they said is kept."""


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


def comparing(shown: Floats, rng: np.random.Generator) -> Clicks:
    """Users who look at the next item before they click: they do not read from the top."""
    below = np.concatenate([shown[:, 1:], np.zeros((len(shown), 1))], axis=1)
    return rng.random(shown.shape) < CURVE * shown * (1 - 0.7 * below)


def bored(shown: Floats, rng: np.random.Generator) -> Clicks:
    """Users who leave at a poor item."""
    clicked, reads = np.zeros(shown.shape, np.bool_), np.ones(len(shown), np.bool_)
    for rank in range(SLOTS):
        clicked[:, rank] = reads & (rng.random(len(shown)) < shown[:, rank])
        reads &= rng.random(len(shown)) < np.where(clicked[:, rank], 0.95, 0.45 + 0.5 * shown[:, rank])
    return clicked


USERS: dict[str, Callable[[Floats, np.random.Generator], Clicks]] = {
    "PBM": position,
    "DBN": partial(cascade, after_click=lambda _, shown: 0.65 - 0.6 * shown, goes_on=0.88),
    "DCM": partial(cascade, after_click=lambda rank, _: np.asarray(0.65 - 0.08 * rank), goes_on=0.95),
    "UBM": browsing,
    "trust-biased": trust,
    "mixture": mixture,
    "comparing": comparing,
    "bored": bored,
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
    return pa.table({"query": query, "arm": np.where(arm, "B", "A"), **made})


@dataclass(frozen=True)
class Found:
    """Values less the truth, standard errors, whether the interval held the truth [n], and shares, of one answer."""

    away: Floats
    errors: Floats
    held: NDArray[np.bool_]
    taken: NDArray[np.bool_]

    @classmethod
    def of(cls, logs: Sequence[dict[str, Any]], name: str, true: float) -> Found:
        """Of the logs in which it was sound."""
        kept = np.array([one[name] for one in logs if name in one], float).reshape(-1, 5)
        value, low, high, error, taken = kept.T
        return cls(value - true, error, (low <= true) & (true <= high), taken > 0)

    @property
    def error(self) -> float:
        """The root mean squared error."""
        return float(np.sqrt(np.mean(np.square(self.away))))


def said(made: pa.Table) -> dict[str, list[float]]:
    """What each answer says of a log: value, ends, standard error, and whether it is taken."""
    test = offrank.compare(made, None, LOGGING, ASKED, examination=CURVE, cluster=None).metadata.ab_test
    assert test is not None
    [one] = test.compared

    def numbers(found: offrank.Interval, taken: bool) -> list[float]:
        return [found.value, found.low, found.high, found.standard_error, float(taken)]

    steps = {step.estimator: numbers(step.difference, bool(step.share)) for step in one.steps}
    return {MEANS: numbers(one.means, taken=True), COMBINED: numbers(one.combined, taken=True), **steps}


def cell(world: World, kind: tuple[str, str], logs: int, sessions: int, seed: int, keep: Path | None) -> dict[str, Any]:
    """The truth of one kind, and what all its logs said. kind: likeness and users. keep: see above."""
    likeness, users = kind
    place = None if keep is None else keep / f"{likeness}-{users}-{sessions}-{seed}.json"
    known: dict[str, Any] = {"logs": []}
    if place is not None and place.exists():
        known = json.loads(place.read_text(encoding="utf-8"))
    if "truth" not in known:
        known["truth"] = truth(world, users)
    while len(known["logs"]) < logs:
        known["logs"].append(said(table(world, users, sessions, 1000 * seed + len(known["logs"]))))
        if place is not None and (len(known["logs"]) % TOGETHER == 0 or len(known["logs"]) == logs):
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(json.dumps(known), encoding="utf-8")
    return {**known, "logs": known["logs"][:logs]}


def rows(asked: argparse.Namespace) -> Iterator[str]:
    """The table, a line at a time."""
    yield f"{asked.logs} logs of {asked.sessions:,} sessions of each kind. Held: by the printed interval at 95 %."
    yield ""
    yield (
        "| rankers | both show | users | truth | error of means | held | combined | held | error / means "
        "| sessions saved | `history` taken | by `interpol` |"
    )
    yield "|---|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
    for likeness in asked.only:
        for users in USERS:
            world = World.of(likeness)
            known = cell(world, (likeness, users), asked.logs, asked.sessions, asked.seed, asked.keep)
            true = known["truth"]
            means, both, curve, by = (Found.of(known["logs"], one, true) for one in (MEANS, COMBINED, CURVED, HISTORY))
            saved, more = ((np.median(means.errors) / np.median(one.errors)) ** 2 for one in (both, curve))
            yield (
                f"| {likeness} | {percent(world.shared, 0)} | {users} | {true:+.4f} "
                f"| {means.error:.4f} | {percent(np.mean(means.held), 1)} | {both.error:.4f} | "
                f"{percent(np.mean(both.held), 1)} "
                f"| {both.error / means.error:.2f} | {saved:.1f} | {percent(np.mean(by.taken), 0)} "
                f"| {more:.1f}, held {percent(np.mean(curve.held), 1)} |"
            )


def main() -> None:
    """Print the table, or write it into a page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logs", type=int, default=200)
    parser.add_argument("--sessions", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(LIKENESS))
    parser.add_argument("--write", type=Path)
    asked = parser.parse_args()
    found = []
    for line in rows(asked):
        print(line, flush=True)
        found.append(line)
    if asked.write is not None:
        generated(asked.write, "ab tests", found, "benchmarks/ab_tests.py")


if __name__ == "__main__":
    main()
