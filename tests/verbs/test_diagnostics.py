"""What stands behind an estimate: every clip is the library's own, and the rest is what the log shows by hand."""

from __future__ import annotations

import re
from statistics import NormalDist
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import offrank
from tests.metamorphic.logs import log
from tests.verbs.schema import assert_document

OLD, NEW = "plackett_luce(old)", "plackett_luce(new, temperature=0.15)"


def path(found: Any, name: str) -> dict[str, Any]:
    (one,) = found.facts[name]
    return dict(one)


@pytest.mark.turns(3)
@pytest.mark.parametrize("interval", ["normal", "studentised"])
@pytest.mark.parametrize("spelling", ["ips", "snips", "ipm", "controlled(rips)", "snipm(normaliser=pooled)"])
def test_a_clip_path_holds_what_clipping_gives(spelling: str, interval: Any) -> None:
    table = log("partial").table
    found = path(offrank.evaluate(table, NEW, OLD, spelling, interval=interval, cluster=None), "clip_path")
    *clipped, free = found["rows"]
    assert (found["estimator"], free["clip"], free["clipped"]) == (spelling, None, 0.0)
    assert clipped
    base = offrank.estimators.estimator(spelling)
    limits = [one["clip"] for one in clipped]
    asked = [offrank.estimators.clip(base, limit) for limit in limits]
    other = offrank.evaluate(table, NEW, OLD, asked, interval=interval, cluster=None)
    for one, estimator in zip(clipped, asked, strict=True):
        # Of what the log shows: the estimate's own error and interval also count what it hides (`rare-rewards` add a
        # quarter of the variance at least, `hidden-mass`).
        expected, error = (other[estimator].value, one["standard_error"]), other[estimator].standard_error
        assert one["value"] == pytest.approx(expected[0], rel=1e-9)
        assert error == pytest.approx(expected[1], rel=1e-9) or error**2 > 1.25 * expected[1] ** 2
        assert other[estimator].low <= one["low"] + 1e-9
        assert other[estimator].high >= one["high"] - 1e-9
        if interval == "normal":
            half = NormalDist().inv_cdf(0.975) * expected[1]
            ends = max(expected[0] - half, 0.0), expected[0] + half
            assert (one["low"], one["high"]) == pytest.approx(ends, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("interval", ["bernstein", "bootstrap"])
def test_a_clip_path_has_normal_intervals_where_others_need_more_than_moments(interval: Any) -> None:
    table = log("partial").table
    found, normal = (
        offrank.evaluate(table, NEW, OLD, "snips", interval=one, cluster=None) for one in (interval, "normal")
    )
    rows, expected = (path(one, "clip_path")["rows"][:-1] for one in (found, normal))
    for one, other in zip(rows, expected, strict=True):
        assert (one["low"], one["high"]) == pytest.approx((other["low"], other["high"]))
    assert f"the unclipped estimate has a {interval} interval" in found.to_document().render()
    assert "These intervals are normal;" not in normal.to_document().render()


def test_the_last_clip_is_the_first_that_cuts_hardly_anything() -> None:
    found = path(offrank.evaluate(log("partial").table, NEW, OLD, "snips"), "clip_path")
    shares = [one["clipped"] for one in found["rows"]]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] < 1
    assert shares[-2] > 0


def test_dependent_rows_widen_a_clip_path_as_they_widen_the_estimate() -> None:
    table = log("partial").table
    alone, together = (offrank.evaluate(table, NEW, OLD, "snips", cluster=one) for one in (None, "query"))
    stretch = (together["snips"].design_effect or 0.0) ** 0.5
    for one, other in zip(path(alone, "clip_path")["rows"][:-1], path(together, "clip_path")["rows"], strict=False):
        assert other["standard_error"] == pytest.approx(stretch * one["standard_error"])


def test_where_each_slot_is_divided_by_its_own_weight_there_is_no_path() -> None:
    assert offrank.evaluate(log("partial").table, NEW, OLD, "snipm").facts["clip_path"] == []


def test_a_window_path_has_every_window() -> None:
    curve, table = [1.0, 0.6, 0.4, 0.3], log("partial").table
    slots = max(len(one) for one in table["slate"].to_pylist())
    curve = curve[:slots] + [0.2] * (slots - 4)
    found = path(offrank.evaluate(table, NEW, OLD, "interpol(window=slope)", examination=curve), "window_path")
    assert [one["window"] for one in found["rows"]] == list(range(len(curve)))
    assert sum(one["chosen"] for one in found["rows"]) == 1
    other = offrank.evaluate(table, NEW, OLD, [one["estimator"] for one in found["rows"]], examination=curve)
    for one in found["rows"]:
        expected = other[one["estimator"]]
        assert (one["value"], one["low"], one["high"]) == (expected.value, expected.low, expected.high)


def small() -> pa.Table:
    """Two of three items at random; the target shows 0, then 1. Rows 0, 3, 6, ... show that."""
    shown = [[0, 1], [0, 2], [2, 1]] * 8
    return pa.table(
        {
            "candidates": [[0, 1, 2]] * 24,
            "slate": shown,
            "new": [[3.0, 2.0, 1.0]] * 24,
            "clicks": [[1.0, 0.0] if row % 2 else [0.0, 1.0] for row in range(24)],
            "reward": [float(row) for row in range(24)],
            "inclusion": [0.5 if row == 12 else 1.0 for row in range(24)],
        }
    )


def test_the_heaviest_rows_overlap_and_rankings_of_a_small_log() -> None:
    found = offrank.evaluate(small(), {"new": "top(new)"}, "uniform", "ips", cluster=None)
    assert_document(found.to_dict())
    rows = path(found, "heaviest")["rows"]
    assert [one["row"] for one in rows] == [12, 21, 18, 15, 9, 6, 3, 0, 23, 22]
    assert [one["weight"] for one in rows] == pytest.approx([12.0] + [6.0] * 7 + [0.0] * 2)
    assert [one["reward"] for one in rows] == [12, 21, 18, 15, 9, 6, 3, 0, 23, 22]
    total = 12 * 12 + 6 * (0 + 3 + 6 + 9 + 15 + 18 + 21)
    assert [one["share"] for one in rows[:3]] == pytest.approx([144 / total, 126 / total, 108 / total])
    one, two = found.facts["overlap"]
    # each third of the rows shows (0, 1), (0, 2), (2, 1); row 12, of the first kind, counts twice
    assert (one["rank"], two["rank"]) == (1, 2)
    assert (one["target_probability"], two["target_probability"]) == pytest.approx((17 / 25, 17 / 25))
    assert (one["logging_probability"], two["logging_probability"]) == pytest.approx((1 / 3, 1 / 3))
    ranking = path(found, "rankings")
    assert (ranking["target"], ranking["rows"]) == ("new", 24)
    assert ranking["changed"] == pytest.approx(16 / 25)
    assert [one["depth"] for one in ranking["overlap"]] == [1, 2]
    assert [one["share"] for one in ranking["overlap"]] == pytest.approx([17 / 25, (9 + 16 * 0.5) / 25])


def test_what_was_written_for_the_shown_slate_alone_has_no_overlap() -> None:
    table = small().append_column("propensity", pa.array(np.full(24, 1 / 6)))
    found = offrank.evaluate(table, "top(new)", estimators="snips", cluster=None).facts
    assert [one["logging_probability"] for one in found["overlap"]] == [None, None]
    assert found["rankings"][0]["changed"] == pytest.approx(16 / 25)


def test_another_level_has_paths_of_its_own() -> None:
    found = offrank.evaluate(log("partial").table, NEW, OLD, "snips")
    wide, narrow = (path(one, "clip_path")["rows"][0] for one in (found, found.at(0.5)))
    assert wide["low"] < narrow["low"] < narrow["value"] == wide["value"] < narrow["high"] < wide["high"]


def test_the_page_folds_it_away_and_the_terminal_leaves_it_out() -> None:
    found = offrank.evaluate(log("partial").table, NEW, OLD, ["snips"])
    page = re.sub(r"</?abbr[^>]*>", "", found.to_document().render())
    for heading in ("Effect of clipping", "The heaviest impressions", "Overlap of target and log by rank"):
        assert f"<summary><h2>{heading}</h2></summary>" in page
        assert heading not in str(found)


def test_a_target_that_is_the_logging_policy_is_called_the_same() -> None:
    drawn: list[dict[str, Any]] = [
        {"slate": ["a", "b"] if i % 2 else ["b", "a"], "clicks": [i % 3 // 2, 0], "candidates": ["a", "b"]}
        for i in range(900)
    ]
    found = offrank.evaluate(drawn, "uniform", "uniform", "snips")
    assert found.verdict.difference is not None
    assert found.verdict.difference.high == 0
    text = " ".join(str(found).split())
    assert "the same, impression by impression" in text
    assert "with a power" not in text


def test_a_remedy_names_the_estimator_as_it_was_asked_for() -> None:
    context = {"candidates": ["a", "b", "c"], "old": [300.0, 300.0, 1.0], "new": [1.0, 2.0, 3.0]}
    rows: list[dict[str, Any]] = [{"slate": ["a", "b"], "clicks": [i % 2, 0], **context} for i in range(1000)]
    rows += 3 * [{"slate": ["c", "a"], "clicks": [1, 0], **context}]
    found = offrank.evaluate(rows, "top(new)", OLD, "interpol(window=1)", examination=[1.0, 0.612345678])
    remedies = [one.remedy for one in found["interpol(window=1)"].warnings if "clip(" in one.remedy]
    assert remedies
    assert all("clip(interpol(window=1), 100)" in remedy for remedy in remedies)
