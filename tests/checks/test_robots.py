"""Users who click everything: how many lists each took whole, and whether they are a group apart."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

import offrank
from offrank.checks.arms import UNITS
from offrank.checks.robots import RobotsFold
from offrank.findings.rows import RobotsEvidence
from offrank.log.source import Needs

Numbers = NDArray[Any]
ROWS, ITEMS = 6000, 5


def table(clicks: Numbers, user: Numbers, **columns: Any) -> pa.Table:
    """A log of lists of some of five candidates in a uniform order."""
    slate = np.argsort(np.random.default_rng(0).random((len(clicks), ITEMS)), axis=1)[:, : clicks.shape[1]]
    lists = {"candidates": np.tile(np.arange(ITEMS), (len(clicks), 1)), "slate": slate, "clicks": clicks}
    return pa.table({**{name: list(one) for name, one in lists.items()}, "user": user, **columns})


def found(log: pa.Table, outcome: str = "clicks") -> tuple[Any, RobotsEvidence]:
    """State and result of the fold."""
    fold = RobotsFold("user")
    source = offrank.read_log(log).select(
        fold.needs() | Needs(frozenset([outcome, *({"inclusion"} & {*log.column_names})]))
    )
    state = None
    for batch in source.batches(0):
        state = fold.add(state, batch)
    return state, fold.result(state)


def said(log: pa.Table) -> bool:
    """Whether users who click everything are told of, as `evaluate` does."""
    result = offrank.evaluate(log, "uniform", "uniform", "snips")
    return any(one.code == "clicked-whole" and "values of `user`" in one.message for one in result.about_log)


def drawn(rates: Callable[[np.random.Generator, int], Numbers], slots: int = 1, robots: float = 0.0) -> pa.Table:
    """Users of some ten rows each, who click at their own rate; some are robots, who click .95 of everything."""
    rng = np.random.default_rng(1)
    users = ROWS // 10
    user = rng.integers(users, size=ROWS)
    rate = np.where(rng.random(users) < robots, 0.95, rates(rng, users))
    return table((rng.random((ROWS, slots)) < rate[user, None]).astype(np.int64), user)


@pytest.mark.parametrize("slots", [1, 3, 5])
@pytest.mark.parametrize("rate", [0.03, 0.2])
def test_robots_among_users_who_click_alike_are_told(slots: int, rate: float) -> None:
    assert said(drawn(lambda _, n: np.full(n, rate), slots, 0.07))
    assert not said(drawn(lambda _, n: np.full(n, rate), slots))


@pytest.mark.parametrize(
    "rates",
    [
        lambda _, n: np.full(n, 0.85),
        lambda rng, n: rng.beta(0.3, 1.5, n),
        lambda rng, n: rng.beta(1, 1, n),
        lambda rng, n: rng.beta(6, 2, n),
        lambda rng, n: 0.45 * (1 + 0.95 * rng.choice([-1.0, 1.0], n)),
    ],
    ids=["all click", "few click much", "any rate", "most click", "two kinds"],
)
@pytest.mark.parametrize("slots", [1, 3])
def test_users_who_differ_are_no_robots(rates: Any, slots: int) -> None:
    assert not said(drawn(rates, slots))


def test_songs_that_are_heard_to_the_end_by_all_are_no_robots() -> None:
    rng = np.random.default_rng(3)
    user = rng.integers(ROWS // 10, size=ROWS)
    to_the_end = rng.random(ROWS) < rng.beta(1, 2, ROWS // 10)[user]
    clicks = (rng.random((ROWS, 4)) < 0.2) | to_the_end[:, None]
    assert not said(table(clicks.astype(np.int64), user))


def test_rows_are_counted_by_user() -> None:
    rng = np.random.default_rng(4)
    user, slots = rng.integers(300, size=ROWS), 4
    clicks = (rng.random((ROWS, slots)) < 0.6).astype(np.int64)
    state, evidence = found(table(clicks, user))
    whole = clicks.sum(axis=1) >= 3  # all, or all but one
    expected = [(np.sum(user == one), whole[user == one].sum(), clicks[user == one].sum()) for one in np.unique(user)]
    assert sorted(map(tuple, state.sums.tolist())) == sorted(expected)
    assert evidence.users == sum(rows >= 5 for rows, _, _ in expected)
    like = [clicked for rows, all_of, clicked in expected if rows >= 5 and all_of >= 0.7125 * rows]
    assert evidence.carried == pytest.approx(sum(like) / clicks.sum())


def test_the_group_is_held_against_rates_that_fall_off() -> None:
    """Of users of five rows, 90 clicked none and 10 all: a share of .1 of a rate near 1 is most likely."""
    user, clicks = np.repeat(np.arange(100), 5), np.repeat(np.arange(100) < 10, 5).astype(np.int64)
    _, evidence = found(table(clicks[:, None], user))
    assert evidence.robots == pytest.approx(0.1, abs=2e-3)
    assert evidence.fewer < 1e-3
    # Alone the highest rate is worth .9875^5; with rates that fall from .4 on, the mean of those up to it.
    rates = (np.arange(40) + 0.5) / 40
    falling = np.mean(rates[16:] ** 5)
    apart = 90 * math.log(0.9 * 0.9875**5) + 10 * math.log(0.1 * 0.9875**5)
    best = max(
        90 * math.log((1 - one) * 0.9875**5 + one * np.mean((1 - rates[16:]) ** 5)) + 10 * math.log(one * falling)
        for one in np.linspace(0.05, 0.5, 2000)
    )
    assert evidence.clearer == pytest.approx(apart - best, abs=0.15)


def test_a_user_who_is_looked_at_is_counted_in_full() -> None:
    """All come once, and then once more: who is looked at is known after the first time."""
    fold, user = RobotsFold("user"), np.random.default_rng(5).permutation(3 * UNITS)
    log = table(np.ones((len(user), 1), np.int64), user)
    [batch] = offrank.read_log(log).select(fold.needs() | Needs(frozenset(["clicks"]))).batches(0)
    once = fold.of(batch)
    twice = fold.add(once, batch)
    assert len(once.key) == UNITS
    assert (once.sums == 1).all()
    assert (twice.key == once.key).all()
    assert (twice.sums == 2).all()


def test_without_clicks_a_row_with_a_reward_is_one() -> None:
    log = drawn(lambda _, n: np.full(n, 0.1), 1, 0.07)
    clicks = np.concatenate(log["clicks"].to_numpy())
    paid = log.drop_columns(["clicks"]).append_column("reward", pa.array(3.5 * clicks))
    assert found(paid, "reward")[1] == found(log)[1]
    assert found(log)[1].clearer > 5


def test_users_whose_rows_were_kept_by_their_clicks_are_not_looked_at() -> None:
    log = drawn(lambda _, n: np.full(n, 0.1), 1, 0.07)
    thinned = log.append_column("inclusion", pa.array(np.where(np.arange(ROWS) % 2, 1.0, 0.5)))
    assert found(thinned)[1] == RobotsEvidence("user")
    alike = log.append_column("inclusion", pa.array(np.full(ROWS, 0.5)))
    assert found(alike)[1] == found(log)[1]


def test_very_many_rows_of_a_user_are_no_matter() -> None:
    user, clicks = np.repeat(np.arange(20), 3000), np.repeat(np.arange(20) < 2, 3000).astype(np.int64)
    _, evidence = found(table(clicks[:, None], user))
    assert evidence.robots == pytest.approx(0.1)
    assert replace(evidence, clearer=0.0, fewer=0.0).users == 20
