"""Intervals that hold at every look: their level by a random walk, and what they are made of."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import offrank
from offrank.cli import main
from offrank.errors import UsageError
from offrank.inference.anytime import LONGEST, level_of_each
from tests.estimators.simulated import LOGGING, TARGET, log, source
from tests.verbs.test_ab_test import ARMS
from tests.verbs.test_ab_test import columns as experiment


def band(confidence: float) -> float:
    return NormalDist().inv_cdf(0.5 + level_of_each(confidence) / 2)


@pytest.mark.parametrize(("confidence", "least"), [(0.95, 0.035), (0.9, 0.07)])
def test_all_looks_together_miss_as_often_as_is_said(confidence: float, least: float) -> None:
    """W(t) / sqrt(t) at 3,000 looks between 1 and LONGEST: an Ornstein-Uhlenbeck process of the logarithm of t."""
    rng, looks = np.random.default_rng(1), 3_000
    keeps = LONGEST ** (-1 / looks / 2)
    at = rng.normal(size=5_000)
    outside = np.zeros(len(at), bool)
    for _ in range(looks):
        at = keeps * at + math.sqrt(1 - keeps**2) * rng.normal(size=len(at))
        outside |= np.abs(at) > band(confidence)
    assert least < outside.mean() < 1 - confidence


def test_the_width_is_that_of_the_documentation() -> None:
    assert band(0.95) / NormalDist().inv_cdf(0.975) == pytest.approx(1.63, abs=0.005)


@pytest.mark.parametrize("options", [{}, {"cluster": "user"}, {"by": "situation"}], ids=str)
def test_it_is_the_studentised_interval_at_the_level_of_each_look(options: Mapping[str, Any]) -> None:
    question = {"target": TARGET, "logging": LOGGING, "estimators": ["ips", "snips", "snipm"], **options}
    found = offrank.estimate(source(log(600)), interval="anytime", **question)
    other = offrank.estimate(source(log(600)), confidence=level_of_each(0.95), **question)
    for name in question["estimators"]:
        assert (found[name].low, found[name].high) == (other[name].low, other[name].high)
        assert found[name].difference == other[name].difference


def test_bounds_hold_at_every_look_at_the_level_of_each() -> None:
    rng = np.random.default_rng(3)
    query, score = rng.integers(0, 40, 400), rng.random((40, 3))
    slate = np.argsort(-score[query], axis=1)[:, :2]
    columns = {"query": query, "slate": [*slate], "candidates": [[0, 1, 2]] * 400, "new": [*-score[query]]}
    table = pa.table({**columns, "clicks": [*(rng.random((400, 2)) < 0.3).astype(int)]})
    found, other = (
        offrank.evaluate(table, "top(new)", bounds=True, **how).bounds["top(new)"]
        for how in ({"interval": "anytime"}, {"confidence": level_of_each(0.95)})
    )
    for mine, theirs in zip(found, other, strict=True):
        for end in ("lower", "upper", "difference_lower", "difference_upper"):
            one, two = getattr(mine, end), getattr(theirs, end)
            assert (one.low, one.high) == pytest.approx((two.low, two.high), abs=1e-12), end


def test_an_ab_test_holds_at_every_look_at_the_level_of_each() -> None:
    table = pa.table(experiment(900))
    found, other = (
        offrank.compare(table, None, ARMS, cluster=None, **how)
        for how in ({"interval": "anytime"}, {"confidence": level_of_each(0.95)})
    )
    [mine], [theirs] = (one.metadata.ab_test.compared for one in (found, other))
    for part in ("means", "combined"):
        assert getattr(mine, part) == getattr(theirs, part), part
    assert found.comparisons[0].verdict.difference == other.comparisons[0].verdict.difference


def days(folder: Path, *, time: bool) -> list[Path]:
    """States of three days of a uniform log."""
    rng, states = np.random.default_rng(0), []
    for day in range(3):
        slate = rng.permuted(np.tile(np.arange(4), (500, 1)), axis=1)
        columns = {"slate": [*slate], "clicks": [*(rng.random(slate.shape) < 0.2 / (1 + slate)).astype(float)]}
        columns["new"] = [*-slate.astype(float)]
        if time:
            columns["timestamp"] = np.datetime64(f"2026-03-0{day + 1}", "s") + np.arange(500).astype("timedelta64[s]")
        pq.write_table(pa.table(columns), folder / f"{day}.parquet")
        states.append(folder / f"{day}.state")
        offrank.evaluate(folder / f"{day}.parquet", "epsilon(top(new), 0.5)", "uniform", "snips", state=states[-1])
    return states


def test_merged_days_have_intervals_that_hold_at_every_look(tmp_path: Path) -> None:
    states = days(tmp_path, time=True)
    found, once = offrank.merge(states), offrank.merge(states, interval="studentised")
    assert (found.metadata.interval, once.metadata.interval) == ("anytime", "studentised")
    assert found["snips"].value == once["snips"].value
    assert found["snips"].low < once["snips"].low < once["snips"].high < found["snips"].high
    assert once.at(level_of_each(0.95))["snips"].low == found["snips"].low
    assert "95 % interval at every look" in " ".join(str(found).split())
    assert "one-look" not in {one.code for one in found.verdict.assumptions}
    assert "one-look" in {one.code for one in once.verdict.assumptions}
    assert offrank.merge(states[:1]).metadata.interval == "studentised"
    done = CliRunner().invoke(main, ["merge", *map(str, states), "--interval", "studentised", "--json", "-"])
    assert json.loads(done.output)["interval"] == "studentised"
    with pytest.raises(UsageError, match="bootstrap intervals need replicates of the rows"):
        offrank.merge(states, interval="bootstrap")


def test_parts_of_a_log_without_days_are_merged_as_one_look(tmp_path: Path) -> None:
    assert offrank.merge(days(tmp_path, time=False)).metadata.interval == "studentised"


def test_a_picture_of_days_says_when_it_was_decided(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    slate = rng.permuted(np.tile(np.arange(4), (10_000, 1)), axis=1)
    clicks = rng.random(slate.shape) < 0.5 / (1 + slate) / (1 + np.arange(4))
    day = [f"2026-03-0{1 + row // 2_000}" for row in range(len(slate))]
    rows = pa.table({"slate": [*slate], "clicks": [*clicks.astype(float)], "new": [*-slate.astype(float)], "day": day})
    question = {"target": "epsilon(top(new), 0.5)", "logging": "uniform", "estimators": "snips", "by": "day"}
    found = offrank.evaluate(rows, **question, interval="anytime")
    ends = {day: each["snips"].difference.low for day, each in found.cumulative.items()}
    first = next(day for day, low in ends.items() if low > 0)
    assert f"These intervals hold at every look: decided by {first}." in " ".join(str(found).split())
    once = offrank.evaluate(rows, **question)
    assert (found.at_one_look.keys(), once.at_one_look) == (found.cumulative.keys(), {})
    for name, each in found.at_one_look.items():
        assert each["snips"].difference == once.cumulative[name]["snips"].difference
    [drawn] = [one.forests[1] for one in found.to_document().sections if len(one.forests) == 2]
    assert "thick: at one look alone" in drawn.title
    for row in drawn.rows:
        assert row.span.low < row.inner.low < row.inner.high < row.span.high
    found.save_html(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text().count('class="interval inner"') == len(found.cumulative)
    assert "An interval holds at one look" in str(offrank.evaluate(rows, **question))
