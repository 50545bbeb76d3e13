"""What verbs put on their pages: groups and whether they differ, amounts in money, comparisons, which model is best."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import ttest_ind_from_stats

from offrank import Result
from offrank.evaluation.differences import Difference
from offrank.evaluation.pages import evaluation
from offrank.evaluation.pages.document import in_worth
from offrank.evaluation.pages.estimates import welch
from offrank.findings.verdict import Trust, Verdict
from offrank.language.formatting import Span
from offrank.metrics import page as metrics_page
from offrank.metrics.measured import Measured, Measurements
from offrank.report.document import Codes, Document, Figures, Section
from offrank.report.plots import Forest, ForestRow
from offrank.report.svg import forest_html, standalone
from offrank.report.terminal import render_text
from offrank.sums.estimate import Interval
from tests.report import sample
from tests.verbs.schema import assert_document


def test_samples_keep_the_contract_of_the_jobs() -> None:
    assert_document(sample.result().to_dict())
    assert_document(sample.only({("worse", "ips"): sample.refused()}).to_dict())


def test_two_groups_are_compared_as_by_the_t_test_of_welch() -> None:
    expected = ttest_ind_from_stats(0.30, 0.02 * 9, 81, 0.36, 0.05 * 4, 16, equal_var=False).pvalue
    assert welch([0.30, 0.36], [0.02, 0.05], [81, 16]) == pytest.approx(expected, rel=1e-12)
    assert welch([0.30, 0.36, np.nan, 9.0], [0.02, 0.05, 0.1, 0.0], [81, 16, 30, 50]) == pytest.approx(expected)
    assert welch([0.30, 9.0], [0.02, 0.0], [81, 50]) is None


def test_equal_groups_are_called_different_as_often_as_promised() -> None:
    rng, sizes, spreads = np.random.default_rng(5), [8, 20, 60, 200], [3.0, 1.0, 2.0, 0.5]
    found = []
    for _ in range(800):
        drawn = [spread * rng.standard_normal(size) for size, spread in zip(sizes, spreads, strict=True)]
        errors = [one.std(ddof=1) / np.sqrt(len(one)) for one in drawn]
        found.append(welch([one.mean() for one in drawn], errors, sizes))
    assert np.mean(np.array(found) < 0.05) == pytest.approx(0.05, abs=4 * np.sqrt(0.05 * 0.95 / 800))


def grouped(changes: list[float]) -> Result:
    """Groups whose differences to the log have the same error, .01."""
    key, one = ("better", "ipm"), replace(sample.answer("better"), tail_index=0.1, warnings=(), ess=500.0)
    each = {
        f"g{k}": {key: replace(one, difference=sample.spread(change, 0.02, 0.01), n=1000 - k)}
        for k, change in enumerate(changes)
    }
    return sample.only({key: one}, each, by="device")


@pytest.mark.parametrize(("changes", "same"), [([0.01, 0.012, 0.014], True), ([0.01, 0.05, 0.09], False)])
def test_a_test_says_whether_groups_differ(changes: list[float], same: bool) -> None:
    text = " ".join(render_text(grouped(changes).to_document(), 80).split())
    assert ("No evidence that devices differ (p = 0." in text) is same
    assert (" Devices differ (p < 0.0001)." in text) is not same
    assert "Welch's test of their differences from the log, over the 3 with a sound interval." in text


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (("10", "2", "1"), ["1", "2", "10"]),
        (("week 10", "week 9", "week 2"), ["week 2", "week 9", "week 10"]),
        (("phone", "desktop", "tablet"), ["phone", "desktop", "tablet"]),
    ],
)
def test_numbered_groups_are_in_natural_order_and_others_by_size(names: tuple[str, ...], shown: list[str]) -> None:
    found = grouped([0.01] * 3)
    each = dict(zip(names, found.groups.values(), strict=True))
    assert [row.label for row in evaluation.groups_forest(replace(found, groups=each), "better").rows] == shown


@pytest.mark.parametrize(
    ("by", "words"),
    [
        ("device", "devices"),
        ("category", "categories"),
        ("day", "days"),
        ("class", "classes"),
        ("is_new", "groups by `is_new`"),
    ],
)
def test_groups_are_named_in_the_plural(by: str, words: str) -> None:
    found = grouped([0.01] * 3).with_facts(by=by)
    assert f"No evidence that {words} differ (p" in found.to_document().sections[2].prose[0]


def test_hundreds_of_groups_do_not_bury_the_answer() -> None:
    found = grouped([0.01] * 380).to_document()
    assert [len(plot.rows) for section in found.sections for plot in section.forests if "device" in plot.title] == [10]
    text = render_text(found, 80)
    assert "The 10 largest are shown; 370 smaller ones are not." in text
    assert len(text.splitlines()) < 40
    assert found.render().count("<tr>") < 240


def test_amounts_are_told_in_what_a_unit_is_worth_and_kept_as_they_were() -> None:
    one = sample.result()
    found = one.with_facts(unit="EUR per impression", worth=2.0)
    text = " ".join(render_text(found.to_document(), 100).split())
    # 0.41098 and 0.3812 twice; the share stays
    assert "better would have earned 0.822 EUR per impression" in text
    assert "the logged ranking earned 0.762" in text
    assert "+8 %" in text
    assert "clicks per impression" not in text
    assert in_worth(one) is one
    before, after = one["better", "ips"], in_worth(found).estimates["better", "ips"]
    assert before.difference is not None
    assert after.difference is not None
    assert (after.value, after.difference.low) == (2 * before.value, 2 * before.difference.low)
    assert (after.ess, after.mean_weight_interval) == (before.ess, before.mean_weight_interval)
    assert found["better", "ips"] is before
    assert evaluation.forest(found).title == "Reward, in EUR per impression"
    assert evaluation.forest(one.with_facts(unit="per impression")).title == "Reward per impression"


def compared(target: str, trust: Trust, change: Interval | None, relative: Interval | None = None) -> Difference:
    estimator = None if change is None else "snips"
    found = Verdict(sample.decided(change), trust, target, estimator, difference=change, relative=relative)
    return Difference(target, "old", found, 1000)


def test_comparisons_come_first_as_a_picture_and_as_a_table() -> None:
    clear, close = Interval(0.0312, 0.0291, 0.0333, math.nan), Interval(0.0312, -0.001, 0.0333, math.nan)
    rows = (
        compared("new", "sound", clear, Interval(0.08, 0.07, 0.09, math.nan)),
        compared("mid", "with care", close),
        compared("bad", "none", None),
    )
    found = replace(sample.result(), comparisons=rows).with_facts(kind="compare").to_document()
    plot = found.forests[0]
    assert [(one.label, one.light) for one in plot.rows] == [
        ("new minus old", "better"),
        ("mid minus old", "no clear difference"),
        ("bad minus old", "unknown"),
    ]
    assert plot.rows[0].summary == "+0.0312 (+0.0291 to +0.0333)"
    assert plot.rows[0].aside == "+8.0 % (+7.0 % to +9.0 %)"
    lines = render_text(found, 80).splitlines()
    line = next(line for line in lines if line.startswith("new minus old"))
    assert " ".join(line.split()[3:]) == "+0.0312 +0.0291 to +0.0333 better sound"
    assert next(line for line in lines if line.startswith("mid minus old")).endswith("no clear difference  with care")


FACTS = {
    "kind": "metrics",
    "title": "Metrics",
    "logging": "uniform",
    "confidence": 0.95,
    "by": None,
    "created": "",
    "versions": {},
}


def measured(value: float, change: tuple[float, float] | None = None) -> Measured:
    difference = change and Interval(sum(change) / 2, *change, math.nan)
    return Measured(value, value - 0.01, value + 0.01, 0.005, 1000, 500.0, 0.25, 900.0, difference)


@pytest.mark.parametrize(
    ("metric", "change", "best", "end"),
    [
        ("pairwise_loss", (0.01, 0.03), "a", "lower is better, clearly better than every other model."),
        ("pairwise_loss", (0.0, 0.03), "a", "lower is better, but not clearly better than b."),
        ("pairwise_loss", (-0.03, -0.01), "b", "its difference to a is -0.020 (-0.030 to -0.010)."),
        ("pairwise_loss", (-0.03, 0.0), "b", "**no clear difference**."),
        ("banner_ndcg", (0.01, 0.03), "b", "its difference to a is +0.020 (+0.010 to +0.030)."),
        (
            "banner_ndcg(several=single)",
            (-0.03, -0.01),
            "a",
            "higher is better, clearly better than every other model.",
        ),
    ],
)
def test_the_best_model_is_named_and_whether_it_clearly_is(
    metric: str, change: tuple[float, float], best: str, end: str
) -> None:
    both = {("a", metric): measured(0.5), ("b", metric): measured(0.5 + sum(change) / 2, change)}
    found = metrics_page.measurement_document(Measurements(both, facts=FACTS))
    [answer] = found.answers
    assert answer.text.startswith(f"`{best}` **agrees best with the clicks**")
    assert answer.text.replace("`", "").endswith(end)
    assert found.forests[0].better == ("right" if "ndcg" in metric else "left")


def test_what_cannot_be_measured_is_no_answer() -> None:
    found = metrics_page.measurement_document(Measurements({("a", "pairwise_loss"): sample.refused()}, facts=FACTS))
    assert (found.answers[0].severity, found.forests[0].rows[0].summary) == ("serious", "no overlap")


@pytest.mark.parametrize("width", [60, 80, 100])
def test_no_line_ends_inside_a_number_or_an_interval(width: int) -> None:
    lines = render_text(sample.result().to_document(), width).splitlines()
    assert not [line for line in lines if re.search(r"(\bto|\d to|\u00b1|\d \u00b1)$|^(%|to \d|\u00b1)", line)]
    assert max(map(len, lines)) <= width


def test_a_table_that_is_too_wide_is_shown_in_pieces() -> None:
    header = ("model", *(f"quantity {number}" for number in range(9)), "see")
    rows = tuple((f"model {name}", *["-0.00061 \u00b1 0.00026"] * 9, Codes("warning", ("code",))) for name in "ab")
    text = render_text(Document("Wide", "", (Section("", tables=(Figures("All", header, rows),)),)), 80)
    assert max(map(len, text.splitlines())) <= 80
    assert text.count("-0.00061 \u00b1 0.00026") == 18  # whole
    assert text.count("model a") == 3  # beside each piece
    narrow = Figures("All", header, rows, extra=tuple((place,) for place in range(2, 10)))
    shown = render_text(Document("", "", (Section("", tables=(narrow,)),)), 80)
    assert shown.count("\u00b1") == 6  # as many as fit, the first of those that need not be there
    assert "quantity 2" in shown
    assert "quantity 3" not in shown


def test_nothing_is_drawn_beyond_the_axis() -> None:
    rows = (
        ForestRow("near", Span(-0.6, -0.9, -0.3)),
        ForestRow("close", Span(-0.5, -0.7, -0.3)),
        ForestRow("far", Span(860, 790, 920)),
    )
    plot = Forest("Differences", rows, 0.0)
    assert plot.cut
    drawn = standalone(plot)
    places = [float(place) for place in re.findall(r'x[12]?="(-?[\d.]+)%"', forest_html(plot))]
    assert 0 <= min(places) <= max(places) <= 100
    assert drawn.count('<path class="interval"') == 1  # one arrow, to the right
