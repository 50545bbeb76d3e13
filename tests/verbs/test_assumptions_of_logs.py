"""Which assumptions are named follows from what the log and the question are: one log for each fact."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import offrank

ROWS, ITEMS = 400, 3


def log(rate: float = 0.4, rows: int = ROWS, **more: Any) -> pa.Table:
    """One slot, drawn uniformly of three items, with columns of scores; more: further columns."""
    rng = np.random.default_rng(1)
    slate = rng.integers(ITEMS, size=rows)
    clicks = (rng.random(rows) < rate * (1 + slate) / 2).astype(float)
    scores = {name: rng.normal(size=(rows, ITEMS)).tolist() for name in ("old_score", "new_score")}
    columns = {"slate": slate[:, None].tolist(), "clicks": clicks[:, None].tolist()}
    return pa.table({**columns, "candidates": [list(range(ITEMS))] * rows, **scores, **more})


def codes(table: pa.Table, target: str = "uniform", logging: str = "uniform", **how: Any) -> list[str]:
    return [one.code for one in offrank.evaluate(table, target, logging, "snips", **how).verdict.assumptions]


USUAL = ["every-click-logged", "rows-kept-blindly", "same-users"]


def test_what_reads_nothing_of_its_own_was_not_made_from_this_log() -> None:
    assert codes(log()) == USUAL
    assert codes(log(), "epsilon(top(old_score), 0.5)") == ["target-from-elsewhere", *USUAL[:2]]
    by_scores = codes(log(), "epsilon(top(old_score), 0.5)", "epsilon(top(old_score), 0.9)")
    assert by_scores == USUAL  # the scores that drew the log are older than its clicks


@pytest.mark.parametrize(("rate", "first"), [(0.015, "every-click-logged"), (0.03, "target-from-elsewhere")])
def test_rare_clicks_come_before_the_target(rate: float, first: str) -> None:
    """Items are clicked at .5, 1 and 1.5 times the rate: 1.5 % of those shown, or 3 %; rare is below 2 %."""
    assert codes(log(rate, rows=8000), "epsilon(top(old_score), 0.9)")[0] == first


@pytest.mark.parametrize(("name", "recurs"), [("user", True), ("query", False)])
def test_users_who_return_may_remember(name: str, recurs: bool) -> None:
    found = codes(log(**{name: np.arange(ROWS) // 4}))
    assert (found[0] == "no-interference") is recurs


@pytest.mark.parametrize(("days", "named"), [(1, False), (2, True)])
def test_rows_of_several_days_may_have_been_looked_at_daily(days: int, named: bool) -> None:
    dates = np.datetime64("2026-09-01") + np.arange(ROWS) % days
    assert ("one-look" in codes(log(day=dates.astype("datetime64[s]")))) is named


def test_given_rates_are_the_first_assumption() -> None:
    assert codes(log(inclusion=np.full(ROWS, 0.5)))[0] == "right-rates"
    assert codes(log(inclusion=np.ones(ROWS)))[0] == "every-click-logged"


def test_rewards_that_are_no_clicks_may_be_of_two_units() -> None:
    assert codes(log(reward=np.random.default_rng(2).exponential(size=ROWS)))[0] == "every-reward-logged"
