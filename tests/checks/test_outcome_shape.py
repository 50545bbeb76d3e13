"""Faults of the outcome that the table alone shows, and healthy logs like them, as `evaluate` tells them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

import offrank
from offrank.errors import ColumnError

Numbers = NDArray[Any]
ITEMS, SLOTS, ROWS = 6, 4, 4000
CURVE = np.array([1.0, 0.6, 0.4, 0.25])
ABOUT_OUTCOME = {"clicks-on-top", "unclicked-rank", "two-units", "clicked-whole"}


def shown(rng: np.random.Generator, rows: int = ROWS) -> Numbers:
    """[n, 4] of six items, in a uniform order."""
    return np.argsort(rng.random((rows, ITEMS)), axis=1)[:, :SLOTS]


def clicked(slate: Numbers, rng: np.random.Generator) -> Numbers:
    """[n, 4] clicks of users who look at each rank by the curve, at items of relevance .1 to .6."""
    return (rng.random(slate.shape) < (0.1 + 0.1 * slate) * CURVE[: slate.shape[1]]).astype(np.int64)


def table(slate: Numbers, clicks: Numbers, **columns: Numbers) -> pa.Table:
    """A log of six candidates with a score."""
    rows = len(slate)
    every = {"candidates": np.tile(np.arange(ITEMS), (rows, 1)), "score": np.tile(np.arange(ITEMS) / ITEMS, (rows, 1))}
    lists = {"slate": slate, "clicks": clicks, **every}
    return pa.table({**{name: one.tolist() for name, one in lists.items()}, **columns})


def said(log: pa.Table, *estimators: str, **options: Any) -> dict[str, str]:
    """The findings about the outcome, with their severity."""
    result = offrank.evaluate(log, "top(score)", "uniform", list(estimators or ("snips",)), **options)
    return {one.code: one.severity for one in result.about_log if one.code in ABOUT_OUTCOME}


def position_based(rng: np.random.Generator) -> pa.Table:
    slate = shown(rng)
    return table(slate, clicked(slate, rng))


def one_click(rng: np.random.Generator) -> pa.Table:
    """Cascade users: they stop at their only click."""
    slate = shown(rng)
    clicks = clicked(slate, rng)
    return table(slate, clicks * (np.cumsum(clicks, axis=1) == 1))


def first_only(rng: np.random.Generator) -> pa.Table:
    """Lists of one item."""
    slate = shown(rng)[:, :1]
    return table(slate, clicked(slate, rng))


def heavy_users(rng: np.random.Generator) -> pa.Table:
    """Users of unlike much patience: chances are multiplied by 0 to 2."""
    slate = shown(rng)
    chance = (0.1 + 0.1 * slate) * CURVE * 2 * rng.random((ROWS, 1))
    return table(slate, (rng.random(slate.shape) < chance).astype(np.int64))


def priced(rng: np.random.Generator) -> pa.Table:
    """Amounts with a heavy tail."""
    slate = shown(rng)
    clicks = clicked(slate, rng)
    return table(slate, clicks, reward=clicks.sum(axis=1) * np.exp(rng.normal(3, 2, ROWS)))


def few_prices(rng: np.random.Generator) -> pa.Table:
    """Three products, of 5, 8 and 900."""
    slate = shown(rng)
    clicks = clicked(slate, rng)
    return table(slate, clicks, reward=clicks.max(axis=1) * rng.choice([5.0, 8.0, 900.0], ROWS))


HEALTHY = (position_based, one_click, first_only, heavy_users, priced, few_prices)


@pytest.mark.parametrize("made", HEALTHY, ids=lambda made: made.__name__)
def test_nothing_is_said_of_healthy_logs(made: Callable[[np.random.Generator], pa.Table]) -> None:
    assert said(made(np.random.default_rng(1))) == {}


def sorted_by_clicks() -> pa.Table:
    rng = np.random.default_rng(2)
    slate = shown(rng)
    clicks = clicked(slate, rng)
    order = np.argsort(-clicks, axis=1, kind="stable")
    return table(*(np.take_along_axis(one, order, axis=1) for one in (slate, clicks)))


def test_lists_sorted_by_their_clicks_are_told() -> None:
    assert said(sorted_by_clicks()) == {"clicks-on-top": "warning"}


def test_what_rests_on_a_curve_is_not_used_where_lists_are_sorted_by_clicks() -> None:
    result = offrank.evaluate(
        sorted_by_clicks(), "top(score)", "uniform", ["ipm", "interpol(window=1)"], examination=CURVE.tolist()
    )
    severities = {
        name: {one.severity for one in result[name].about_log if one.code == "clicks-on-top"}
        for name in ("ipm", "interpol(window=1)")
    }
    assert severities == {"ipm": {"warning"}, "interpol(window=1)": {"serious"}}


@pytest.mark.parametrize("asked", [offrank.harvest_clicks, offrank.clicks.PBM().fit], ids=["harvest", "fit"])
def test_no_examination_is_learnt_from_lists_sorted_by_clicks(asked: Callable[[Any], Any]) -> None:
    with pytest.raises(offrank.OffrankError, match="sorted by their clicks"):
        asked(sorted_by_clicks())


def test_no_model_of_examination_is_selected_on_lists_sorted_by_clicks() -> None:
    """Models of examination are not, click rates are; and in the lists' own order all are."""
    rng = np.random.default_rng(2)
    slate = shown(rng)
    ten, grades = np.arange(ROWS) % 10, [[0.0] * 3 + [1.0] * 3] * ROWS
    healthy, ordered = (
        one.append_column("query", [ten]).append_column("grade", [grades])
        for one in (table(slate, clicked(slate, rng)), sorted_by_clicks())
    )
    pbm, rate = offrank.clicks.PBM().fit(healthy), offrank.clicks.GCTR().fit(healthy)
    with pytest.raises(offrank.OffrankError, match="sorted by their clicks") as refused:
        offrank.select_clicks(ordered, {"rate": rate, "pbm": pbm}, "grade", "uniform")
    assert "Use the lists in the order in which they were shown" in str(refused.value)
    assert [*offrank.select_clicks(ordered, {"rate": rate}, "grade", "uniform").cmip] == ["rate"]
    assert [*offrank.select_clicks(healthy, {"rate": rate, "pbm": pbm}, "grade", "uniform").cmip] == ["rate", "pbm"]


def test_click_rates_are_still_counted_in_lists_sorted_by_clicks() -> None:
    log = sorted_by_clicks()
    rate = offrank.clicks.GCTR().fit(log).learnt.parameters["rate"][0]
    clicks = np.concatenate(log["clicks"].to_pylist())
    assert rate == pytest.approx((clicks.sum() + 1) / (clicks.size + 2))


@pytest.mark.parametrize(("rows", "severity"), [(100, None), (4000, "serious")])
def test_clicks_a_rank_late_are_told_where_they_are_many(rows: int, severity: str | None) -> None:
    rng = np.random.default_rng(3)
    slate = shown(rng, rows)
    late = np.roll(clicked(slate, rng), 1, axis=1)
    late[:, 0] = 0
    assert said(table(slate, late), "ipm").get("unclicked-rank") == severity


def test_a_log_with_clicks_at_the_first_rank_alone_is_told() -> None:
    rng = np.random.default_rng(4)
    slate = shown(rng)
    clicks = clicked(slate, rng)
    clicks[:, 1:] = 0
    assert said(table(slate, clicks)) == {"unclicked-rank": "warning"}


@pytest.mark.parametrize(("share", "severity"), [(0.0, None), (0.1, "warning")])
def test_amounts_in_cents_are_told(share: float, severity: str | None) -> None:
    rng = np.random.default_rng(5)
    slate = shown(rng)
    clicks = clicked(slate, rng)
    amounts = clicks.sum(axis=1) * np.exp(rng.normal(3, 0.5, ROWS))
    cents = rng.random(ROWS) < share
    assert said(table(slate, clicks, reward=np.where(cents, 100 * amounts, amounts))).get("two-units") == severity


@pytest.mark.parametrize(("share", "severity"), [(0.0, None), (0.07, "warning")])
def test_robots_are_told(share: float, severity: str | None) -> None:
    rng = np.random.default_rng(6)
    slate = shown(rng)
    robots = rng.random((ROWS, 1)) < share
    clicks = np.where(robots, rng.random(slate.shape) < 0.97, clicked(slate, rng) * (rng.random(slate.shape) < 0.5))
    assert said(table(slate, clicks.astype(np.int64))).get("clicked-whole") == severity


@pytest.mark.parametrize(("rows", "severity"), [(999, None), (1000, "serious")])
def test_a_log_without_a_click_is_no_answer_of_nothing(rows: int, severity: str | None) -> None:
    log = table(shown(np.random.default_rng(8), rows), np.zeros((rows, SLOTS)))
    told = {found.code: found.severity for found in offrank.evaluate(log, "top(score)", "uniform", "ipm").about_log}
    assert told.get("no-clicks") == severity
    null = log.set_column(1, "clicks", pa.array([[None] * SLOTS] * rows, pa.list_(pa.int64())))
    with pytest.raises(ColumnError, match="null in all rows"):
        offrank.evaluate(null, "top(score)", "uniform", "ipm")


def test_what_is_said_of_the_outcome_does_not_depend_on_the_order_of_the_rows() -> None:
    log = sorted_by_clicks()
    shuffled = log.take(np.random.default_rng(7).permutation(log.num_rows))
    [one], [other] = (
        [
            caution.message
            for caution in offrank.check(rows, logging="uniform").about_log
            if caution.code == "clicks-on-top"
        ]
        for rows in (log, shuffled)
    )
    assert one == other
