"""Team-draft logs of two rankers: does the decision agree with credit, do intervals hold, and how large are errors?

The worlds of `ab_tests.py`: rankers that share 90 % or 86 % of their lists, users of a position-based model, of a
dynamic Bayesian network, and such that compare an item with the next. The truth is the expected clicks of both,
exactly; errors are held against the difference of means of A/B tests of as many sessions.

    python benchmarks/interleaving.py [--logs 200] [--lists 4000] [--keep FOLDER]
                                      [--write docs/how-to/is-b-better-than-a.md]

In FOLDER stands what each log said, so that a run goes on where another ended; with `--logs 0` the table is made of
what stands there.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
from _ab_worlds import ITEMS, QUERIES, SLOTS, USERS, Drawn, World
from _page import generated
from numpy.typing import NDArray

import offrank
from offrank.language.formatting import percent

LOGGING = "interleaved(top(a_score), top(b_score))"
RANKERS = {"A": "top(a_score)", "B": "top(b_score)"}
LIKENESS, ASKED = ("alike", "near"), ("PBM", "DBN", "comparing")
CLEAR, TESTS, EACH_USER = 4.0, 400, 5
"""Deviates of the sign test from which credit is clear, simulated A/B tests, and lists of a user."""


def team_draft(lists: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """[n, k] merged lists of [2, n, k] rankings."""
    _, n, slots = lists.shape
    merged, shown, ahead = np.empty((n, slots), np.int64), np.zeros((n, ITEMS), np.bool_), np.zeros(n, np.int64)
    for slot in range(slots):
        team = np.where(ahead == 0, rng.integers(0, 2, n), ahead > 0).astype(int)
        own = lists[team, np.arange(n)]
        merged[:, slot] = own[np.arange(n), np.take_along_axis(shown, own, axis=1).argmin(axis=1)]
        shown[np.arange(n), merged[:, slot]] = True
        ahead += 1 - 2 * team
    return merged


def log_of(world: World, users: str, lists: int, seed: int) -> pa.Table:
    rng = np.random.default_rng([seed, ASKED.index(users)])
    query = rng.integers(0, QUERIES, lists)
    slate = team_draft(world.lists[:, query], rng)
    clicks = USERS[users].clicks(world.relevance[query[:, None], slate], rng)
    rows = {"candidates": np.tile(np.arange(ITEMS), (lists, 1)), "slate": slate, "clicks": clicks.astype(np.int8)}
    rows |= {"a_score": world.scores[0][query], "b_score": world.scores[1][query]}
    columns = {name: pa.FixedSizeListArray.from_arrays(one.ravel(), one.shape[1]) for name, one in rows.items()}
    return pa.table({"query": query, "user": np.arange(lists) // EACH_USER, **columns})


def said(world: World, users: str, lists: int, seed: int) -> list[float]:
    """B - A and its ends, what is decided (1: B), the deviates of credit (above 0: B)."""
    log = log_of(world, users, lists, seed)
    found = offrank.compare(log, RANKERS, LOGGING, "snips", cluster="user")
    verdict, credit = found.comparisons[0].verdict, found.metadata.credit
    assert credit is not None
    away, decided = verdict.difference, {"better": 1.0, "worse": -1.0}.get(verdict.decision, 0.0)
    ends = [np.nan] * 3 if away is None else [away.value, away.low, away.high]
    return [*ends, decided, -credit.deviates]


def every(asked: argparse.Namespace) -> Iterator[tuple[str, str, NDArray[np.float64]]]:
    """What the logs of each kind said."""
    for likeness, users in product(LIKENESS, ASKED):
        place, found = asked.keep and asked.keep / f"{likeness}-{users}-{asked.lists}.json", []
        if place and place.exists():
            found = json.loads(place.read_text(encoding="utf-8"))
        world = World.of(likeness)
        while len(found) < asked.logs:
            found.append(said(world, users, asked.lists, len(found)))
            if place and (len(found) % 10 == 0 or len(found) == asked.logs):
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text(json.dumps(found), encoding="utf-8")
        yield likeness, users, np.array(found)


def error_of_tests(world: World, users: str, sessions: int) -> float:
    """The root mean squared error of the difference of means of A/B tests of as many sessions."""
    away = []
    for seed in range(TESTS):
        one = Drawn.of(world, users, sessions, seed)
        earned = one.clicks.sum(axis=1)
        away.append(earned[one.arm == 1].mean() - earned[one.arm == 0].mean() - world.truth(users))
    return float(np.sqrt(np.mean(np.square(away))))


def lines(asked: argparse.Namespace) -> Iterator[str]:
    yield f"{asked.lists:,} lists of {SLOTS} of {ITEMS} candidates, {QUERIES} queries, {EACH_USER} lists of a user."
    yield ""
    heads = ("shared", "users", "logs", "true B - A", "bias", "error, over an A/B test's", "interval holds")
    heads += ("decided, rightly", "z of credit", "beyond 4", "decision agrees", "undecided", "disagrees")
    yield f"| {' | '.join(heads)} |"
    yield f"|--:|---|{'--:|' * (len(heads) - 2)}"
    clear = np.zeros(3, int)
    for likeness, users, found in every(asked):
        if not len(found):
            continue
        world = World.of(likeness)
        true, (value, low, high, decided, z) = world.truth(users), found.T
        error = float(np.sqrt(np.mean((value - true) ** 2))) / error_of_tests(world, users, asked.lists)
        sure = np.abs(z) > CLEAR
        agree, against = ((decided[sure] == sign * np.sign(z[sure])).sum() for sign in (1, -1))
        clear += [sure.sum(), agree, against]
        held, right = float(np.mean((low <= true) & (true <= high))), (decided == np.sign(true)).sum()
        cells = [percent(world.shared), users, f"{len(found)}", f"{true:+.4f}", f"{np.mean(value) - true:+.4f}"]
        cells += [f"{error:.2f}", percent(held, 1), f"{(decided != 0).sum()}, {right}", f"{np.median(z):+.1f}"]
        cells += [f"{one}" for one in (sure.sum(), agree, sure.sum() - agree - against, against)]
        yield f"| {' | '.join(cells)} |"
    none = " |" * 7
    yield f"| all | |{none} {clear[0]} | {clear[1]} | {clear[0] - clear[1] - clear[2]} | {clear[2]} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logs", type=int, default=200)
    parser.add_argument("--lists", type=int, default=4000)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--write", type=Path, help="the page that includes the table")
    asked = parser.parse_args()
    found = list(lines(asked))
    print(*found, sep="\n")
    if asked.write:
        generated(asked.write, "interleaving", found, "benchmarks/interleaving.py")


if __name__ == "__main__":
    main()
