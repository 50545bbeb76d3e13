"""A/B tests and interleaved lists of two rankers that sort: how often is what `compare` says of them right?

    python benchmarks/ab_tests.py ab-tests [--logs 200] [--sessions 2000 20000 200000] [--only alike] [--users bored]
                                        [--by-verb] [--workers 2] [--kept FILE] [--write]
    python benchmarks/ab_tests.py interleaving [--logs 200] [--lists 4000] [--workers 2] [--kept FILE] [--write]

The truth is the expected clicks of both rankers, exactly (see `_ab_worlds`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from _ab_counts import Comparer
from _ab_worlds import ITEMS, LIKENESS, QUERIES, SLOTS, USERS, Drawn, World
from _page import markdown_head, markdown_row, measured, run
from numpy.typing import NDArray

import offrank
from offrank.evaluation.ab_test import ArmsCompared
from offrank.language.formatting import percent

LOGGING = "by(arm, {A: top(a_score), B: top(b_score)})"
ASKED = ["snips", "snrips"]
MEANS, COMBINED, ALONE, STEPS = "difference of means", "combined", "if only the lists differ", "steps"
ASKED_FOR = ("PBM", "DBN", "comparing", "best of list", "bottom up", "bored", "clustered", "90 : 10", "revenue")
LEAST_HELD, MOST_ERROR, FEWEST = 0.93, 1.1, 40
"""What is counted in all kinds: of those with that many logs."""


@dataclass(frozen=True)
class Answer:
    """How one answer did in the logs of one kind: how many had it, the share it held in, error and sessions saved.

    error: over that of the means of the same logs. saved: the median.
    """

    logs: int
    held: float
    error: float
    saved: float

    @classmethod
    def of(cls, logs: Sequence[dict[str, Any]], name: str, true: float) -> Answer | None:
        """None where no log has it."""
        some = [(one[name], one[MEANS]) for one in logs if name in one]
        if not some:
            return None
        (value, low, high), (means, least, most) = np.array(some, float).transpose(1, 2, 0)
        error = np.sqrt(np.mean((value - true) ** 2) / np.mean((means - true) ** 2))
        saved = float(np.median(((most - least) / (high - low)) ** 2))
        return cls(len(some), float(np.mean((low <= true) & (true <= high))), float(error), saved)

    @property
    def cells(self) -> str:
        """What stands of it in a table."""
        return f"{percent(self.held, 1)} | {self.error:.2f} | {self.saved:.2f}"


Answers = dict[str, Answer | None]
Kind = tuple[str, str, int]
"""Likeness, users and sessions."""


def said(found: ArmsCompared) -> dict[str, Any]:
    """What each answer says of a log: value and ends; and by how many standard errors steps are contradicted."""
    answers = {MEANS: found.means, COMBINED: found.combined, ALONE: found.lists_alone}
    steps = {step.estimator: step.contrast.value / step.contrast.standard_error for step in found.steps if step.share}
    return {
        STEPS: steps,
        **{name: [each.value, each.low, each.high] for name, each in answers.items() if each is not None},
    }


def by_verb(drawn: Drawn) -> ArmsCompared:
    """What `compare` says of a log."""
    asked = ASKED if drawn.reward is None else ASKED[:1]
    cluster = "user" if drawn.test.sessions > 1 else None
    found = offrank.compare(drawn.table, None, LOGGING, asked, cluster=cluster).metadata.ab_test
    assert found is not None
    return found.compared[0]


def logs_of(task: tuple[str, str, int, int, bool]) -> list[dict[str, Any]]:
    """What the logs of one kind say. The task: likeness, users, sessions, logs, and whether the verb is asked."""
    likeness, users, sessions, logs, verb = task
    world = World.of(likeness)
    compared = by_verb if verb else Comparer(world, USERS[users]).compared
    return [said(compared(Drawn.of(world, users, sessions, 1000 + seed))) for seed in range(logs)]


def of_all_kinds(found: Mapping[Kind, Answers]) -> Iterator[str]:
    """A line for each answer, over all kinds of logs."""
    heads = ("kinds", "logs", "held", "in the worst", "below 93 %", "error, largest", "above 1.1")
    yield from markdown_head("of all kinds", *heads)
    for name in (MEANS, COMBINED, ALONE):
        known = [one for each in found.values() if (one := each[name]) is not None and one.logs >= FEWEST]
        if not known:
            continue
        held, logs, error = np.array([(one.held, one.logs, one.error) for one in known]).T
        shares = (percent(float(one), 1) for one in ((held * logs).sum() / logs.sum(), held.min()))
        counts = (held < LEAST_HELD).sum(), f"{error.max():.2f}", (error > MOST_ERROR).sum()
        yield markdown_row(name, len(known), f"{logs.sum():,.0f}", *shares, *counts)


TEAMS = "interleaved(top(a_score), top(b_score))"
RANKERS = {"A": "top(a_score)", "B": "top(b_score)"}
READERS = ("PBM", "DBN", "comparing")
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
    rng = np.random.default_rng([seed, READERS.index(users)])
    query = rng.integers(0, QUERIES, lists)
    slate = team_draft(world.lists[:, query], rng)
    clicks = USERS[users].clicks(world.relevance[query[:, None], slate], rng)
    rows = {"candidates": np.tile(np.arange(ITEMS), (lists, 1)), "slate": slate, "clicks": clicks.astype(np.int8)}
    rows |= {"a_score": world.scores[0][query], "b_score": world.scores[1][query]}
    columns = {name: pa.FixedSizeListArray.from_arrays(one.ravel(), one.shape[1]) for name, one in rows.items()}
    return pa.table({"query": query, "user": np.arange(lists) // EACH_USER, **columns})


def interleaved(task: tuple[str, str, int, int]) -> list[list[float]]:
    """Of each log of a kind: B - A and its ends, what is decided (1: B), the deviates of credit (above 0: B)."""
    likeness, users, lists, logs = task
    world, every = World.of(likeness), []
    for seed in range(logs):
        log = log_of(world, users, lists, seed)
        found = offrank.compare(log, RANKERS, TEAMS, "snips", cluster="user")
        verdict, credit = found.comparisons[0].verdict, found.metadata.credit
        assert credit is not None
        away, decided = verdict.difference, {"better": 1.0, "worse": -1.0}.get(verdict.decision, 0.0)
        ends = [np.nan] * 3 if away is None else [away.value, away.low, away.high]
        every.append([*ends, decided, -credit.deviates])
    return every


def error_of_tests(world: World, users: str, sessions: int) -> float:
    """The root mean squared error of the difference of means of A/B tests of as many sessions."""
    away = []
    for seed in range(TESTS):
        one = Drawn.of(world, users, sessions, seed)
        earned = one.clicks.sum(axis=1)
        away.append(earned[one.arm == 1].mean() - earned[one.arm == 0].mean() - world.truth(users))
    return float(np.sqrt(np.mean(np.square(away))))


def ab_tests(
    *,
    logs: int = 200,
    sessions: tuple[int, ...] = (2000, 20_000, 200_000),
    only: tuple[str, ...] = tuple(LIKENESS),
    users: tuple[str, ...] = ASKED_FOR,
    by_verb: bool = False,
    workers: int = 1,
    kept: Path | None = None,
) -> Iterator[str]:
    """How many sessions the combination of an A/B test saves, and how often it is right.

    Users of click models, users for whom no step but the means is right, tests that are clustered, uneven, or of
    revenue; rankers from alike to such that share nothing; several sizes. Logs are compared from counts of sessions
    that are alike, which says what `compare` does (tests/verbs/test_ab_counts.py); `by_verb` asks it, and takes 10 to
    100 times as long.
    """
    found: dict[Kind, Answers] = {}
    tasks = [(*kind, logs, by_verb) for kind in product(only, users, sessions)]
    for task, every in measured(logs_of, tasks, workers, kept):
        true, kind = World.of(task[0]).truth(task[1]), task[:3]
        found[kind] = {name: Answer.of(every, name, true) for name in (MEANS, COMBINED, ALONE)}
        refuted = float(np.mean([any(abs(t) > 3 for t in one[STEPS].values()) for one in every]))
        print(*kind, len(every), f"{true:+.4f}, contradicted {percent(refuted)}", file=sys.stderr, flush=True)
    yield "Held: by the printed interval at 95 %. Error: over that of the means. Saved: sessions, the median over logs."
    yield "The second table is of the combined estimate."
    yield ""
    yield from of_all_kinds(found)
    yield ""
    shared = {one: percent(World.of(one).shared) for one in only}
    yield markdown_row(
        "sessions", "users", "logs", *(f"{one} ({shared[one]} shared): held | error | saved" for one in only)
    )
    yield f"|--:|---|--:|{'--:|--:|--:|' * len(only)}"
    for size, who in product(sessions, users):
        some = [found[one, who, size][COMBINED] for one in only]
        if any(some):
            cells = ("| |" if one is None else one.cells for one in some)
            yield markdown_row(f"{size:,}", who, logs, *cells)


def interleaving(*, logs: int = 200, lists: int = 4000, workers: int = 1, kept: Path | None = None) -> Iterator[str]:
    """Team-draft logs: does the decision agree with credit, do intervals hold, and how large are errors?

    Rankers that share 90 % or 86 % of their lists, users of a position-based model, of a dynamic Bayesian network, and
    such that compare an item with the next. Errors are held against the difference of means of A/B tests of as many
    sessions.
    """
    yield f"{lists:,} lists of {SLOTS} of {ITEMS} candidates, {QUERIES} queries, {EACH_USER} lists of a user."
    yield ""
    heads = ("shared", "users", "logs", "true B - A", "bias", "error, over an A/B test's", "interval holds")
    heads += ("decided, rightly", "z of credit", "beyond 4", "decision agrees", "undecided", "disagrees")
    yield markdown_row(*heads)
    yield f"|--:|---|{'--:|' * (len(heads) - 2)}"
    clear = np.zeros(4, int)
    tasks = [(*kind, lists, logs) for kind in product(("alike", "near"), READERS)]
    for (likeness, users, *_), found in measured(interleaved, tasks, workers, kept):
        world = World.of(likeness)
        true, (value, low, high, decided, z) = world.truth(users), np.array(found).T
        error = float(np.sqrt(np.mean((value - true) ** 2))) / error_of_tests(world, users, lists)
        sure = np.abs(z) > CLEAR
        agree, against = ((decided[sure] == sign * np.sign(z[sure])).sum() for sign in (1, -1))
        counts = np.array([sure.sum(), agree, sure.sum() - agree - against, against])
        clear += counts
        held, right = float(np.mean((low <= true) & (true <= high))), (decided == np.sign(true)).sum()
        cells = [percent(world.shared), users, len(found), f"{true:+.4f}", f"{np.mean(value) - true:+.4f}"]
        cells += [f"{error:.2f}", percent(held, 1), f"{(decided != 0).sum()}, {right}", f"{np.median(z):+.1f}"]
        yield markdown_row(*cells, *counts)
    yield markdown_row("all", *[""] * 8, *clear)


COMMANDS = {ab_tests: "ab tests", interleaving: "interleaving"}
if __name__ == "__main__":
    run(__file__, COMMANDS)
