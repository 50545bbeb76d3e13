"""What moves along a log, and between the arms of an experiment: said where it does, and not where it does not."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import offrank

ROWS, ITEMS = 8_000, 4
ARMS = "by(arm, {A: top(a), B: top(b)})"
OF_ARMS = {"shares-moved", "unlike-arms", "shared-users"}


def uniform_log(rate: Any, **columns: Any) -> pa.Table:
    """A log of one item of four, drawn by chance, that is clicked at this rate [n]."""
    rng, rows = np.random.default_rng(5), len(rate)
    made = {
        "slate": rng.integers(ITEMS, size=(rows, 1)),
        "candidates": np.broadcast_to(np.arange(ITEMS), (rows, ITEMS)),
    }
    made |= {"clicks": (rng.random((rows, 1)) < np.asarray(rate)[:, None]).astype(float)}
    made |= {"new": rng.normal(size=(rows, ITEMS))}
    return pa.table({name: list(values) for name, values in {**made, **columns}.items()})


def said_of(table: Any, **asked: Any) -> dict[str, Any]:
    """The findings about a log, by code."""
    return {one.code: one for one in offrank.evaluate(table, "top(new)", "uniform", "snips", **asked).about_log}


FLAT = np.full(ROWS, 0.1)
STEP = np.where(np.arange(ROWS) < ROWS / 2, 0.1, 0.2)
LATE = np.where(np.arange(ROWS) < 0.9 * ROWS, 0.1, 0.01)
BROKEN = np.where(np.arange(ROWS) // (ROWS // 10) == 4, 0.0, 0.1)


@pytest.mark.parametrize(
    ("rate", "place"),
    [
        (STEP, r"the last 5\d % of the rows"),
        (LATE, r"the last 10 % of"),
        (BROKEN, r"the rows from 40 % to 50 % of the log"),
    ],
)
def test_an_outcome_that_moves_is_said_with_its_place(rate: np.ndarray, place: str) -> None:
    table = uniform_log(rate)
    found = offrank.evaluate(table, "top(new)", "uniform", "snips")
    [said] = [one for one in found.about_log if one.code == "outcome-moves"]
    assert (found.verdict.trust, said.severity) == ("with care", "warning")
    assert re.search(place, said.message)
    # By hand: parts end where chunks of 64 rows do, since 8,000 rows are 125 of these, and 32 rows would be 250.
    shares = [float(one) / 100 for one in re.findall(r"([\d.]+) %", said.message)]
    ends = (1 - shares[0], 1.0) if "in the last" in said.message else shares
    clicks = np.concatenate(table["clicks"].to_numpy())
    inside = (np.arange(ROWS) >= 64 * round(ends[0] * 125)) & (np.arange(ROWS) < 64 * round(ends[1] * 125))
    told = [float(one) for one in re.findall(r"([\d.]+) (?:per impression|in the rest)", said.message)]
    assert told == [float(f"{one:.2g}") for one in (clicks[inside].mean(), clicks[~inside].mean())]


def test_nothing_is_said_of_logs_without_an_order() -> None:
    rng = np.random.default_rng(1)
    query = np.repeat(np.arange(40), ROWS // 40)
    rates = rng.beta(1, 9, size=40)
    logs = [uniform_log(FLAT), uniform_log(rates[query], query=query), uniform_log(rng.permutation(STEP))]
    assert ["outcome-moves" in said_of(log) for log in logs] == [False] * 3


def test_the_order_and_size_of_parts_change_nothing(tmp_path: Path) -> None:
    table = uniform_log(STEP, user=np.random.default_rng(2).integers(500, size=ROWS))
    for number, ends in enumerate([(0, 100), (100, 4096), (4096, ROWS)]):
        pq.write_table(table.slice(ends[0], ends[1] - ends[0]), tmp_path / f"{number}.parquet", row_group_size=900)
    whole, parts = said_of(table), said_of(str(tmp_path))
    assert parts["outcome-moves"].message == whole["outcome-moves"].message


def test_states_of_days_have_no_order(tmp_path: Path) -> None:
    table, states = uniform_log(STEP), [tmp_path / "0.state", tmp_path / "1.state"]
    for state, part in zip(states, (table.slice(0, ROWS // 2), table.slice(ROWS // 2)), strict=True):
        pq.write_table(part, path := state.with_suffix(".parquet"))
        offrank.evaluate(str(path), "top(new)", "uniform", "snips", state=state)
    assert "outcome-moves" not in {one.code for one in offrank.merge(states).about_log}


def experiment(share: Any, rise: Any = 1.0, lost: float = 1.0, arm: Any = None, **columns: Any) -> pa.Table:
    """An A/B test of two rankers of two of four items. share [n] of B; rise [n] of clicks; lost: what B has left."""
    rng = np.random.default_rng(7)
    query = rng.integers(30, size=ROWS)
    scores = rng.normal(size=(2, 30, ITEMS))
    scores[1, :15] = scores[0, :15]  # both show the same in half of the queries
    b = (rng.random(ROWS) < share) if arm is None else arm
    slate = np.argsort(-scores[b.astype(int), query], axis=1, kind="stable")[:, :2]
    rate = rng.uniform(0.05, 0.3, size=(30, ITEMS))[query[:, None], slate]
    clicks = rng.random(slate.shape) < rate * (np.broadcast_to(rise, ROWS) * np.where(b, lost, 1.0))[:, None]
    made: dict[str, Any] = {
        "slate": slate,
        "clicks": clicks.astype(float),
        "query": query,
        "arm": np.where(b, "B", "A"),
    }
    made |= {
        "candidates": np.broadcast_to(np.arange(ITEMS), (ROWS, ITEMS)),
        "a": scores[0, query],
        "b": scores[1, query],
    }
    return pa.table({name: list(values) for name, values in {**made, **columns}.items()})


def compared(table: pa.Table) -> tuple[Any, dict[str, Any]]:
    """The verdict on B less A, and the findings about the log that concern arms."""
    found = offrank.compare(table, {"A": "top(a)", "B": "top(b)"}, ARMS)
    return found.comparisons[0].verdict, {one.code: one for one in found.about_log}


LATER = np.arange(ROWS) >= ROWS / 2
RAMP = np.where(LATER, 0.5, 0.1)


def test_a_ramped_test_gives_no_number_and_tells_the_difference_within_times() -> None:
    table = experiment(RAMP, np.where(LATER, 2.0, 1.0))
    verdict, found = compared(table)
    assert (verdict.decision, verdict.trust) == ("unknown", "none")
    assert [found[code].severity for code in ("shares-moved", "unlike-arms")] == ["serious", "warning"]
    # By hand: chunks of 64 rows, each weighted by n_a n_b / (n_a + n_b).
    reward = np.stack(table["clicks"].to_numpy()).sum(axis=1)
    b, chunk = table["arm"].to_numpy() == "B", np.arange(ROWS) // 64
    n = np.array([np.bincount(chunk, which) for which in (b, ~b)], float)
    y = np.array([np.bincount(chunk, which * reward) for which in (b, ~b)])
    weight = n.prod(axis=0) / n.sum(axis=0)
    with np.errstate(invalid="ignore"):
        within = np.nansum(weight * (y[0] / n[0] - y[1] / n[1])) / weight.sum()
    pooled = reward[b].mean() - reward[~b].mean()
    told = [float(one) for one in re.findall(r"[+-]\d\.\d+", found["shares-moved"].message)]
    assert told[:2] == [round(pooled, 2), round(within, 2)]
    assert told[2] < within < told[3]


def test_arms_that_draw_their_lists_are_ramped_up_as_well() -> None:
    """Two names of one law: the rows of B are those of the later, better half."""
    rng, law = np.random.default_rng(3), "by(arm, {A: plackett_luce(old), B: plackett_luce(new)})"
    for share, trust in ((RAMP, "none"), (0.3, "sound")):
        b, slate = rng.random(ROWS) < share, np.array([rng.permutation(ITEMS)[:2] for _ in range(ROWS)])
        clicks = rng.random(slate.shape) < np.where(LATER, 0.2, 0.1)[:, None]
        every = np.ones((ROWS, ITEMS))
        made = {
            "slate": slate,
            "clicks": clicks.astype(float),
            "arm": np.where(b, "B", "A"),
            "old": every,
            "new": every,
        }
        made["candidates"] = np.broadcast_to(np.arange(ITEMS), every.shape)
        table = pa.table({name: list(values) for name, values in made.items()})
        found = offrank.compare(table, {"A": "plackett_luce(old)", "B": "plackett_luce(new)"}, law)
        assert found.comparisons[0].verdict.trust == trust
        assert ("shares-moved" in {one.code for one in found.about_log}) == (trust == "none")
        assert "shares-moved" not in {one.code for one in offrank.evaluate(table, "plackett_luce(new)", law).about_log}


@pytest.mark.parametrize(("lost", "found"), [(1.0, False), (0.7, True)])
def test_an_arm_that_draws_and_loses_clicks_is_found(lost: float, found: bool) -> None:
    """Lists weigh by how likely the other arm draws them: only the slower arm earns less with them."""
    rng, laws = np.random.default_rng(4), {"A": "plackett_luce(old)", "B": "plackett_luce(new)"}
    query, b = rng.integers(30, size=ROWS), rng.random(ROWS) < 0.5
    weights = np.exp(rng.normal(size=(2, 30, ITEMS)))[:, query]
    raced = rng.exponential(size=(ROWS, ITEMS)) / np.where(b[:, None], weights[1], weights[0])
    slate = np.argsort(raced, axis=1)[:, :2]
    rate = np.minimum(0.1 * weights[1], 0.5)[np.arange(ROWS)[:, None], slate] * np.where(b, lost, 1.0)[:, None]
    made: dict[str, Any] = {"slate": slate, "clicks": (rng.random(slate.shape) < rate).astype(float)}
    made |= {"old": weights[0], "new": weights[1], "arm": np.where(b, "B", "A")}
    made["candidates"] = np.broadcast_to(np.arange(ITEMS), (ROWS, ITEMS))
    table = pa.table({name: list(values) for name, values in made.items()})
    told = offrank.compare(table, laws, "by(arm, {A: plackett_luce(old), B: plackett_luce(new)})").about_log
    messages = [one.message for one in told if one.code == "unlike-arms"]
    assert [message.startswith("Weighted by how likely both rankers show the same") for message in messages] == (
        [True] if found else []
    )


@pytest.mark.turns(3)
@pytest.mark.parametrize(
    ("share", "rise"), [(0.5, 1.0), (0.1, 1.0), (RAMP, 1.0), (0.5, np.where(LATER, 2.0, 1.0)), (0.2, 1 + LATER / 3)]
)
def test_tests_whose_shares_or_clicks_stay_are_compared_as_before(share: Any, rise: Any) -> None:
    verdict, found = compared(experiment(share, rise))
    assert not OF_ARMS & found.keys()
    assert verdict.trust == "sound"


def test_an_arm_that_loses_clicks_is_found_where_both_show_the_same() -> None:
    table = experiment(0.5, lost=0.6)
    verdict, found = compared(table)
    assert (verdict.decision, verdict.trust, verdict.estimator) == ("worse", "with care", "difference of means")
    orders = [np.argsort(-np.stack(table[name].to_numpy()), axis=1)[:, :2] for name in "ab"]
    same = (orders[0] == orders[1]).all(axis=1)
    reward, b = np.stack(table["clicks"].to_numpy()).sum(axis=1), table["arm"].to_numpy() == "B"
    means = [reward[same & arm].mean() for arm in (~b, b)]
    message = found["unlike-arms"].message
    assert f"In {int(same.sum()):,} impressions" in message
    assert re.findall(r"(0\.\d+) in (?:arm )?`[AB]`", message) == [f"{one:.2f}" for one in means]


USER = np.arange(ROWS) // 10
OWN = (np.random.default_rng(3).random(ROWS // 10) < 0.5)[USER]
CHANGED = OWN ^ ((USER % 20 == 0) & (np.arange(ROWS) % 10 >= 5))


@pytest.mark.parametrize(("arm", "severity"), [(OWN, None), (CHANGED, "warning"), (None, "note")])
def test_users_in_both_arms_are_counted(arm: np.ndarray | None, severity: str | None) -> None:
    verdict, found = compared(experiment(0.5, arm=arm, user=USER))
    said = found.get("shared-users")
    assert (said and said.severity) == severity
    assert verdict.trust == ("with care" if severity == "warning" else "sound")
    if severity == "warning":
        assert "`user` with several rows, 5 % are in more than one arm of `arm`" in said.message
