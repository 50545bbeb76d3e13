"""Plots are data first: positions from 0 to 1, labels, and what is cut or refused."""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from offrank.checks.rows import RankRow
from offrank.errors import UsageError
from offrank.evaluation.metadata import WeightsOf
from offrank.evaluation.pages import evaluation
from offrank.evaluation.pages.diagnostics import weights_chart, weights_forest, weights_table
from offrank.evaluation.pages.evaluation import Plots
from offrank.findings.verdict import Verdict
from offrank.language.formatting import Span
from offrank.report import plots
from offrank.report.plots import Axis
from offrank.report.svg import forest_html, standalone
from offrank.sums.estimate import Estimate, Interval
from offrank.sums.histogram import Histogram
from tests.report import sample


def test_positions_follow_the_axis() -> None:
    axis = Axis(0.2, 0.6)
    assert axis.position(0.2) == 0
    assert axis.position(0.3) == pytest.approx(0.25)
    assert Axis(0.01, 100, log=True).position(1) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("axis", "labels"),
    [
        (Axis(0.0, 1.0), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        (Axis(-0.012, 0.011), ["-0.010", "-0.005", "0.000", "0.005", "0.010"]),
        (Axis(1200, 4100), ["2,000", "3,000", "4,000"]),
        (Axis(0.02, 2000, log=True), ["0.1", "1", "10", "100", "1,000"]),
        (Axis(1e-4, 1e6, log=True), ["0.001", "1", "1,000", "10\u2076"]),
    ],
)
def test_ticks_are_round(axis: Axis, labels: list[str]) -> None:
    ticks = axis.ticks(5)
    assert [tick.label for tick in ticks] == labels
    assert all(0 <= tick.position <= 1 for tick in ticks)


def test_forest_has_a_row_per_estimator() -> None:
    plot = evaluation.estimates_forest(sample.result(), "better")
    assert [row.label for row in plot.rows] == list(sample.ESTIMATORS)
    assert plot.label == "logged 0.3812"
    assert plot.band.ends == [plot.reference, *plot.band.ends[1:]]
    for row in plot.rows:
        assert row.span.value is not None
        assert all(0 < plot.axis.position(end) < 1 for end in row.span.ends)


def test_the_first_screen_has_the_log_and_every_answer_with_its_difference() -> None:
    plot = evaluation.forest(sample.result())
    assert [row.label for row in plot.rows] == ["what was logged", *sample.TARGETS]
    logged, better, _ = plot.rows
    assert (logged.summary, logged.aside, logged.light) == ("0.3812 (0.3784 to 0.3840)", "", "")
    assert (better.summary, better.light) == ("0.411 (0.399 to 0.423)", "better")
    # 0.4118 * 0.998 - 0.3812 = 0.02978, 1.9 errors of 0.0061 to either side; as shares of 0.3812
    assert better.aside == "+0.030 (+0.018 to +0.041), +8 % (+5 % to +11 %)"
    refused = replace(sample.result(), verdicts={"worse": Verdict("unknown", "none", "worse")})
    row = evaluation.forest(refused).rows[-1]
    assert (row.summary, row.light, row.span.value) == ("unknown", "unknown", None)
    drawn = standalone(plot)
    assert plot.decided == ("better", "worse")
    assert drawn.count(">\u25b2<title>better</title>") == drawn.count(">\u25bc<title>worse</title>") == 1
    assert drawn.count("point doubtful") == 2  # both are to be used with care
    assert plot.careful


def test_an_axis_without_zero_says_on_which_side_it_is() -> None:
    rows = (plots.ForestRow("a", Span(2.0, 1.9, 2.1)),)
    assert plots.Forest("far", rows).zero == "left"
    assert plots.Forest("below", (plots.ForestRow("a", Span(-2.0, -2.1, -1.9)),)).zero == "right"
    assert plots.Forest("from zero", rows, bars=True).zero == ""
    assert "\u2190 0 is not shown<" in forest_html(plots.Forest("far", rows))
    assert "0 is not shown, further left<" in forest_html(plots.Forest("far", rows, better="left"))
    change = plots.Forest("both", (plots.ForestRow("a", Span(0.1, -1.0, 1.0)),))
    assert change.zero == ""
    for drawn in (forest_html(change), standalone(change)):
        assert "not shown" not in drawn
        assert 'class="zero"' in drawn


@pytest.mark.parametrize("one", ["a", "the ranker that was trained last month"])
def test_of_two_names_with_minus_between_neither_is_lost(one: str) -> None:
    label = f"{one} minus production"
    rows = (plots.ForestRow(label, Span(0.1, 0.0, 0.2)),)
    drawn = forest_html(plots.Forest("d", rows))
    assert f'<bdi class="name">{one}</bdi> <span>minus</span> <bdi class="name">production</bdi>' in drawn
    lines = re.findall(r'class="label"[^>]*>([^<]*)<', standalone(plots.Forest("d", rows)))
    assert lines == ([label] if one == "a" else ["the ranker that \u2026onth", "minus production"])
    assert all(len(line) <= 22 for line in lines)


def test_a_long_label_has_two_lines() -> None:
    rows = (plots.ForestRow("clip(interpol(window=1, form=windowed), 100)", Span(0.1, 0.0, 0.2)),)
    lines = re.findall(r'class="label"[^>]*>([^<]*)<', standalone(plots.Forest("d", rows)))
    assert len(lines) == 2
    assert lines[0] == "clip(interpol(window="


def test_all_targets_share_one_axis() -> None:
    better, worse = (evaluation.estimates_forest(sample.result(), target) for target in sample.TARGETS)
    assert better.axis == worse.axis
    assert better.reference == worse.reference


def test_a_refusal_is_a_row_without_numbers() -> None:
    row = evaluation.estimates_forest(sample.result(), "worse").rows[1]
    assert (row.label, row.summary) == ("snips", "no overlap")
    assert row.span.ends == []


def test_an_enormous_interval_is_cut_and_says_so() -> None:
    plot = evaluation.estimates_forest(sample.result(), "worse")
    row = plot.rows[0]
    assert plot.cut
    assert not evaluation.estimates_forest(sample.result(), "better").cut
    assert row.summary == "0.3 (\N{HYPHEN-MINUS}0.9 to 1.5)"
    assert row.severity == "serious"
    assert plot.doubtful
    assert standalone(plot).count('<path class="interval"') == 2  # an arrow at either end


def test_a_value_beyond_the_axis_is_an_arrow() -> None:
    spans = [Span(0.4, 0.39, 0.41), Span(0.41, 0.40, 0.42), Span(50.0, -10.0, 110.0)]
    axis = plots.shared_axis(spans, [0.38])
    assert axis.low < 0.38
    assert 0.42 < axis.high < 0.5


@pytest.mark.parametrize("spans", [[], [Span(0.0, 0.0, 0.0)], [Span(3.0, None, None)], [Span(None, None, None)]])
def test_an_axis_is_never_empty(spans: list[Span]) -> None:
    axis = plots.shared_axis(spans)
    assert axis.low < axis.high
    assert axis.ticks()


def test_an_axis_of_the_smallest_numbers_has_the_tick_of_zero() -> None:
    assert plots.Axis(0.0, 5e-324).ticks() == (plots.Tick(0.0, "0", zero=True),)
    assert plots.Axis(5e-324, 1e-323).ticks() == ()
    assert [tick.label for tick in plots.Axis(0.0, 1e-12).ticks()] == [
        "0",
        "2e-13",
        "4e-13",
        "6e-13",
        "8e-13",
        "1.0e-12",
    ]


def test_groups_show_their_differences_to_what_was_logged_there() -> None:
    plot = evaluation.groups_forest(sample.result(), "better")
    assert [row.label for row in plot.rows] == list(sample.GROUPS)
    assert plot.reference == 0
    assert plot.title == "better against what was logged, by category (ipm)"
    first = sample.estimate("better", "ipm", "electronics")
    assert isinstance(first, Estimate)
    assert first.difference is not None
    assert plot.rows[0].span.value == first.difference.value


def test_mean_weights_surround_one_and_skip_estimators_without() -> None:
    plot = weights_forest(sample.result(), "better")
    assert [row.label for row in plot.rows] == ["ips", "snips", "ipm", "interpol(window=2)", "rips"]
    assert plot.reference == 1
    assert not plot.cut


def test_ranks_start_at_zero() -> None:
    plot = evaluation.ranks_forest(sample.result().metadata)
    assert plot.bars
    assert plot.axis.low == 0
    assert [row.label for row in plot.rows] == [f"rank {rank}" for rank in range(1, 6)]
    values = [row.span.value for row in plot.rows if row.span.value is not None]
    assert values == sorted(values, reverse=True)


def test_tiny_click_rates_keep_their_digits() -> None:
    rank = RankRow(1, 9e4, 380.0, Interval(0.0042, 0.0038, 0.0047, 0.0002))
    plot = evaluation.ranks_forest(replace(sample.BACKGROUND, ranks=(rank,)))
    assert plot.rows[0].summary == "0.0042 (0.0038 to 0.0047)"


@pytest.mark.parametrize("draw", ["forest", "groups", "weights", "ranks", "clips", "windows"])
def test_a_picture_can_be_had_as_a_whole_svg(draw: str) -> None:
    picture = getattr(Plots(sample.result()), draw)()
    drawn = picture._repr_svg_()
    assert drawn == str(picture)
    assert picture.data.rows
    root = ET.fromstring(drawn)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert root.get("width") == "800"
    assert 'role="img" aria-label="' in drawn


def test_what_cannot_be_drawn_is_an_error() -> None:
    with pytest.raises(UsageError, match="no target 'best'"):
        Plots(sample.result()).forest("best")
    with pytest.raises(UsageError, match="nothing to draw"):
        Plots(sample.only({("t", "ips"): sample.plain(0.4, 0.01)})).ranks()


def test_weights_are_drawn_as_shares_and_those_of_zero_are_told() -> None:
    edges, none = np.array([0.1, 1.0, 10.0]), np.empty(0)
    weights = Histogram(1, edges, np.array([4, 2]), edges[:2], np.array([3]))
    found = [WeightsOf("t", "pi", weights)]
    [line] = weights_chart("t", found).series
    assert (line.name, line.y) == ("pi", [40, 20])
    assert line.x == pytest.approx([0.1**0.5, 10**0.5])
    assert weights_table("t", found).rows == (("pi", "10 %", "30 %", "10"),)
    zeros = [WeightsOf("t", "pi", Histogram(1, none, none, none, none))]
    assert weights_chart("t", zeros).series == ()
    assert weights_table("t", zeros).rows[0][1] == "100 %"


def test_drawings_name_themselves_and_mark_by_shape() -> None:
    drawn = standalone(evaluation.estimates_forest(sample.result(), "worse"))
    assert 'role="img" aria-label="Estimates for worse with their intervals"' in drawn
    assert drawn.count('class="point doubtful"') == 1
    assert drawn.count('class="truth"') == 5
    assert "\N{MINUS SIGN}0.9 to 1.5" in drawn
    assert "better \N{RIGHTWARDS ARROW}" in drawn
