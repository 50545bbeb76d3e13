"""An A/B test of two rankers that sort: how many sessions the combination saves, and how often it is right.

Users of click models, users for whom no step but the means is right, tests that are clustered, uneven, or of revenue;
rankers from alike to such that share nothing; several sizes. Every log is compared as anyone would; the truth is
counted on many sessions of both rankers.

    python benchmarks/ab_tests.py [--logs 200] [--sessions 2000,20000,200000] [--seed 1] [--keep FOLDER]
                                  [--only alike,near] [--users comparing,bored] [--write docs/tables/ab-tests.md]

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
LIKENESS = {"alike": (0.99, 1.1), "near": (0.95, 1.35), "unlike": (0.2, 1.35), "apart": (0.2, 1.35)}
"""Correlation of what both rankers add to the relevance of an item, and how much more of that the second knows."""
APART = "apart"
"""The second of these rankers shows nothing that the first one does."""
CURVE = 1 / np.arange(1, SLOTS + 1) ** 0.8
TRUTH = 1_000_000
"""Sessions of each ranker from which the truth is counted, in parts."""
PARTS = 5
LOGGING = "by(arm, {A: top(a_score), B: top(b_score)})"
ASKED = ["snips", "snrips"]
MEANS, COMBINED, ALONE, STEPS = "difference of means", "combined", "if only the lists differ", "steps"
TOGETHER = 5
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
        scores = np.array([1.0, more])[:, None, None] * known + noise
        if likeness == APART:
            np.put_along_axis(scores[1], np.argsort(-scores[0], axis=1)[:, :SLOTS], -100.0, axis=1)
        return cls(relevance, scores)

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
    return np.where(rng.random((len(shown), 1)) < 0.5, position(shown, rng), USERS["DBN"].clicks(shown, rng))


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


def best_of_list(shown: Floats, rng: np.random.Generator) -> Clicks:
    """Users who see the whole list, and click the best item or none."""
    best = np.arange(SLOTS) == np.argmax(shown, axis=1)[:, None]
    return best & (rng.random(shown.shape) < 0.9 * shown)


def bottom_up(shown: Floats, rng: np.random.Generator) -> Clicks:
    """Users who read upwards, until they are satisfied."""
    return USERS["DBN"].clicks(shown[:, ::-1], rng)[:, ::-1]


@dataclass(frozen=True)
class Test:
    """Who clicks how, and how the test is made.

    share: of the second arm. sessions: of a user, who always meets one arm. spread: of the logarithm of a price.
    """

    clicks: Callable[[Floats, np.random.Generator], Clicks]
    share: float = 0.5
    sessions: int = 1
    spread: float = 0.0


def of_users(shown: Floats, rng: np.random.Generator) -> Clicks:
    """Position-based users of whom some click twice as much as the mean, some never: see `table`."""
    return rng.random(shown.shape) < CURVE * shown


USERS: dict[str, Test] = {
    "PBM": Test(position),
    "DBN": Test(partial(cascade, after_click=lambda _, shown: 0.65 - 0.6 * shown, goes_on=0.88)),
    "DCM": Test(partial(cascade, after_click=lambda rank, _: np.asarray(0.65 - 0.08 * rank), goes_on=0.95)),
    "UBM": Test(browsing),
    "trust-biased": Test(trust),
    "mixture": Test(mixture),
    "comparing": Test(comparing),
    "bored": Test(bored),
    "best of list": Test(best_of_list),
    "bottom up": Test(bottom_up),
    "clustered": Test(of_users, sessions=40),
    "90 : 10": Test(comparing, share=0.1),
    "revenue": Test(position, spread=1.5),
}


def shown_to(test: Test, shown: Floats, user: Shown, rng: np.random.Generator) -> Floats:
    """What the items of a list are to this user: where users have several sessions, some like more of all of them."""
    return shown if test.sessions == 1 else np.minimum(shown * 2 * rng.random(user.max() + 1)[user][:, None], 1.0)


def truth(world: World, users: str) -> float:
    """What the second ranker earns more than the first."""
    found, test = 0.0, USERS[users]
    for part in range(PARTS):
        query = np.random.default_rng([9, part]).integers(0, QUERIES, TRUTH // PARTS)
        for sign, lists in ((-1, world.lists[0]), (1, world.lists[1])):
            rng = np.random.default_rng([9, part, 1])
            shown = shown_to(test, world.relevance[query[:, None], lists[query]], np.arange(len(query)), rng)
            found += sign * test.clicks(shown, rng).sum() / len(query) / PARTS
    return found * float(np.exp(test.spread**2 / 2))


def table(world: World, users: str, sessions: int, seed: int) -> pa.Table:
    """The log of one A/B test."""
    rng, test = np.random.default_rng([seed, list(USERS).index(users)]), USERS[users]
    query, user = rng.integers(0, QUERIES, sessions), np.arange(sessions) // test.sessions
    arm = (rng.random(user.max() + 1) < test.share)[user].astype(int)
    lists = world.lists[arm, query]
    shown = shown_to(test, world.relevance[query[:, None], lists], user, rng)
    clicks = test.clicks(shown, rng)
    made = {
        name: pa.FixedSizeListArray.from_arrays(values.ravel(), values.shape[1])
        for name, values in (
            ("candidates", np.tile(np.arange(ITEMS), (sessions, 1))),
            ("slate", lists),
            ("clicks", clicks.astype(np.int8)),
            ("a_score", world.scores[0][query]),
            ("b_score", world.scores[1][query]),
        )
    }
    if test.spread:
        made["reward"] = pa.array((clicks * np.exp(test.spread * rng.normal(size=clicks.shape))).sum(axis=1))
    return pa.table({"query": query, "user": user, "arm": np.where(arm, "B", "A"), **made})


@dataclass(frozen=True)
class Found:
    """Values less the truth, whether the interval held the truth, and its length [n], of one answer."""

    away: Floats
    held: NDArray[np.bool_]
    length: Floats

    @classmethod
    def of(cls, logs: Sequence[dict[str, Any]], name: str, true: float) -> Found:
        """Of the logs that have it."""
        value, low, high = np.array([one[name] for one in logs if name in one], float).reshape(-1, 3).T
        return cls(value - true, (low <= true) & (true <= high), high - low)

    def beside(self, logs: Sequence[dict[str, Any]], name: str, means: Found) -> str:
        """Its error over that of the means of the same logs, how often it held, and the sessions saved."""
        some = np.array([name in one for one in logs])
        if not some.any():
            return "| | |"
        error = np.sqrt(np.mean(self.away**2) / np.mean(means.away[some] ** 2))
        saved = np.median((means.length[some] / self.length) ** 2)
        return f"{error:.2f} | {percent(float(np.mean(self.held)), 1)} | {saved:.2f} |"


def said(made: pa.Table, test: Test) -> dict[str, Any]:
    """What each answer says of a log: value and ends; and by how many standard errors steps are contradicted."""
    asked = ASKED if not test.spread else ASKED[:1]
    cluster = "user" if test.sessions > 1 else None
    found = offrank.compare(made, None, LOGGING, asked, cluster=cluster).metadata.ab_test
    assert found is not None
    [one] = found.compared
    answers = {MEANS: one.means, COMBINED: one.combined, ALONE: one.lists_alone}
    steps = {step.estimator: step.contrast.value / step.contrast.standard_error for step in one.steps if step.share}
    return {
        STEPS: steps,
        **{name: [each.value, each.low, each.high] for name, each in answers.items() if each is not None},
    }


def cell(world: World, kind: tuple[str, str], logs: int, sessions: int, seed: int, keep: Path | None) -> dict[str, Any]:
    """The truth of one kind, and what its logs said, so many or more if these are kept. kind: likeness and users."""
    likeness, users = kind
    place = None if keep is None else keep / f"{likeness}-{users}-{sessions}-{seed}.json".replace(" ", "")
    known: dict[str, Any] = {"logs": []}
    if place is not None and place.exists():
        known = json.loads(place.read_text(encoding="utf-8"))
    if "truth" not in known:
        known["truth"] = truth(world, users)
    while len(known["logs"]) < logs:
        known["logs"].append(said(table(world, users, sessions, 1000 * seed + len(known["logs"])), USERS[users]))
        if place is not None and (len(known["logs"]) % TOGETHER == 0 or len(known["logs"]) == logs):
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(json.dumps(known), encoding="utf-8")
    return known


def rows(asked: argparse.Namespace) -> Iterator[str]:
    """The table, a line at a time."""
    yield "Held: by the printed interval at 95 %. Error: over that of the means. Saved: the median over logs."
    yield ""
    yield (
        "| sessions | rankers | both show | users | logs | truth | error of means | held | combined: error | held "
        "| sessions saved | if only the lists differ: error | held | sessions saved | a step contradicted |"
    )
    yield "|--:|---|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
    for sessions in asked.sessions:
        for likeness in asked.only:
            world = World.of(likeness)
            for users in asked.users:
                known = cell(world, (likeness, users), asked.logs, sessions, asked.seed, asked.keep)
                true, logs = known["truth"], known["logs"]
                means, both, alone = (Found.of(logs, one, true) for one in (MEANS, COMBINED, ALONE))
                error, held = float(np.sqrt(np.mean(means.away**2))), percent(float(np.mean(means.held)), 1)
                against = np.mean([any(abs(t) > 3 for t in one[STEPS].values()) for one in logs])
                yield (
                    f"| {sessions:,} | {likeness} | {percent(world.shared, 0)} | {users} | {len(logs)} | {true:+.4f} "
                    f"| {error:.4f} | {held} | {both.beside(logs, COMBINED, means)} {alone.beside(logs, ALONE, means)} "
                    f"{percent(float(against), 0)} |"
                )


def main() -> None:
    """Print the table, or write it into a page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logs", type=int, default=200)
    parser.add_argument("--sessions", type=lambda text: [*map(int, text.split(","))], default=[2000, 20_000, 200_000])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(LIKENESS))
    parser.add_argument("--users", type=lambda text: text.split(","), default=list(USERS))
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
