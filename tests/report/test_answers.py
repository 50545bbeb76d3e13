"""The headline is from an estimate that can be trusted, or says that there is none."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

import pytest

from offrank.evaluation.metadata import Status
from offrank.evaluation.pages.document import findings_of, groups
from offrank.evaluation.pages.estimates import grouped_estimator
from offrank.evaluation.pages.headline import TRUST, answers
from offrank.findings.reasons import CLICKS_LOGGED, ONE_LOOK, Reason
from offrank.findings.verdict import Trust, Verdict
from offrank.language.assumptions import ADDITIVE
from offrank.report.document import Answer
from offrank.sums.estimate import Caution, Estimate, Interval, Severity
from tests.report import sample
from tests.report.sample import plain

KEY = ("t", "snips")
FEW = Reason("low-ess", "Few.", "Log more.", ("ips", "snips"))


def warning(severity: Severity, message: str = "Few.", remedy: str = "More.") -> dict[str, tuple[Caution, ...]]:
    return {"warnings": (Caution("low-ess", severity, message, remedy),)}


def only(found: Estimate, estimator: str = "snips", **fields: Any) -> list[Answer]:
    return answers(sample.only({("t", estimator): found}, **fields))


def said(value: float, error: float, difference: tuple[float, float, float], **fields: Any) -> Answer:
    """The answer of a result with one estimate and the verdict that it answers."""
    estimate = plain(value, error, difference=Interval(*difference, float("nan")))
    [found] = only(estimate, verdicts={"t": sample.verdict(estimate, "snips", **fields)})
    return found


def test_the_headline_is_the_verdict_with_all_its_intervals() -> None:
    found = said(0.412, 0.0036, (0.031, 0.024, 0.038))
    # 0.031 / 0.3812 = 8.1322 %, 0.024 / 0.3812 = 6.2959 %, 0.038 / 0.3812 = 9.9685 %
    assert found.text == (
        "**Better: +8.1 %** (+6.3 % to +10.0 %). "
        "As logged, `t` would have earned **0.412** clicks per impression (95 % interval 0.405 to 0.419); "
        "the logged ranking earned 0.3812 (0.3784 to 0.3840): 0.031 more (+0.024 to +0.038)."
    )
    assert (found.aside, found.severity) == ("Sound: by `snips`, which assumes nothing about users.", "ok")
    assert found.decision == "better"


def test_a_loser_is_called_one_before_anything_else() -> None:
    found = said(0.35, 0.0036, (-0.031, -0.038, -0.024))
    assert found.text.startswith("**Worse: -8.1 %** (-10.0 % to -6.3 %). As logged, `t` would have earned **0.35")
    assert found.text.endswith(": 0.031 less (-0.038 to -0.024).")
    assert found.decision == "worse"


def test_without_a_share_the_difference_leads() -> None:
    assert said(0.412, 0.0036, (0.031, 0.024, 0.038), relative=None).text.startswith(
        "**Better: +0.031** (+0.024 to +0.038). As logged, `t` would"
    )


def test_what_is_the_same_in_every_row_is_no_difference() -> None:
    found = said(0.3812, 0.0014, (0.0, 0.0, 0.0))
    assert found.text.startswith("**No difference.** As logged, `t` would")
    assert "**the same**, impression by impression" in found.text


def test_what_no_log_can_tell_is_named_once() -> None:
    estimate = plain(0.412, 0.0036, difference=Interval(0.031, 0.024, 0.038, float("nan")))
    rests = sample.verdict(estimate, "snips", assumptions=(CLICKS_LOGGED, ONE_LOOK))
    each = {("t", "snips"): estimate, ("u", "snips"): estimate}
    *_, last = answers(sample.only(each, verdicts={"t": rests, "u": rests}))
    assert last.text == "Assumptions that this log cannot test, each with the number that rests on it:"
    assert last.assumptions == (CLICKS_LOGGED, ONE_LOOK)
    assert [bool(one.assumptions) for one in answers(sample.only(each, verdicts={"t": rests, "u": rests}))][:2] == [
        False,
        False,
    ]


@pytest.mark.parametrize(
    ("ends", "clear"), [((1e-9, 0.006), True), ((0.0, 0.006), False), ((-0.008, 0.0), False), ((-0.008, -1e-9), True)]
)
def test_a_difference_around_zero_is_not_called_one(ends: tuple[float, float], clear: bool) -> None:
    text = said(0.412, 0.0036, (sum(ends) / 2, *ends)).text
    assert text.startswith("**No clear difference") is not clear


def test_where_nothing_is_clear_it_says_what_would_be_seen() -> None:
    text = said(0.412, 0.0036, (-0.001, -0.008, 0.006), detectable=0.0103).text
    assert text.startswith("**No clear difference: -0.3 %** (-2.1 % to +1.6 %). As logged, `t` would")
    assert ": a difference of -0.001 (-0.008 to +0.006)." in text
    assert text.endswith("The smallest difference that such a log detects with a power of 80 % is 0.0103.")
    assert "with a power" not in said(0.412, 0.0036, (0.031, 0.024, 0.038), detectable=0.0103).text


def test_an_end_that_is_zero_is_called_zero() -> None:
    estimate = plain(0.02, 0.02, low=0.0)
    [found] = only(estimate, verdicts={"t": sample.verdict(estimate, "snips")})
    assert "interval 0 to 0.06)" in found.text


def test_care_says_why_and_what_the_interval_was_held_to() -> None:
    assumed: dict[str, Any] = {"assumes": ADDITIVE, "anchor_name": "ips"}
    found = said(0.412, 0.0036, (0.031, 0.024, 0.038), trust="with care", reasons=[FEW], **assumed)
    assert found.text.startswith("**Better: +8.1 %** (+6.3 % to +10.0 %). As logged, `t` would")
    assert found.aside == (
        "With care: by `snips`, which assumes that a slate's reward is a sum over its items. "
        "The interval was widened to contain the value of `ips`, which assumes less."
    )
    assert found.reasons == ("`low-ess` (`ips` and `snips`): Few. Log more.",)
    assert found.severity == "warning"
    spans = said(0.412, 0.0036, (0.031, 0.024, 0.038), spans=True, **assumed)
    assert spans.aside.endswith("The interval contains that of `ips`, which assumes less.")


def test_a_reason_that_names_its_estimator_does_not_name_it_twice() -> None:
    found = said(0.412, 0.0036, (0.031, 0.024, 0.038), trust="with care", reasons=[sample.UNCHECKED])
    assert found.reasons[0].startswith("`assumed`: `ipm` assumes that")
    assert found.aside == "With care: by `snips`."  # the reason has said what it assumes


def test_without_an_answer_there_is_no_number() -> None:
    refusal = Verdict("unknown", "none", "t", reasons=(FEW,))
    [found] = only(plain(0.4123, 0.001, **warning("serious")), verdicts={"t": refusal})
    assert found.text == "**Unknown.** This log cannot say what `t` would have earned."
    assert found.reasons == ("`low-ess` (`ips` and `snips`): Few. Log more.",)
    assert (found.aside, found.severity) == ("", "serious")


def test_a_known_truth_is_said_to_be_inside_or_outside() -> None:
    estimate = plain(0.412, 0.0035)
    for truth, where in ((0.406, "inside"), (0.404, "outside")):
        [found] = only(estimate, truths={"t": truth}, verdicts={"t": sample.verdict(estimate, "snips")})
        assert found.aside.endswith(f"the truth is known: {truth:.3f}, {where} the interval.")


def test_a_truth_beside_an_end_is_not_written_like_it() -> None:
    estimate = plain(0.412, 0.0035)  # 0.405 to 0.419
    for truth, text in ((0.4049, "0.4049, outside"), (0.4191, "0.4191, outside"), (0.4051, "0.4051, inside")):
        [found] = only(estimate, truths={"t": truth}, verdicts={"t": sample.verdict(estimate, "snips")})
        assert found.aside.endswith(f"the truth is known: {text} the interval.")


def test_groups_are_those_of_the_estimator_that_answers() -> None:
    assert grouped_estimator(sample.result(), "better") == "ipm"
    assert grouped_estimator(replace(sample.result(), verdicts={}), "better") == "ips"


def test_the_logged_mean_alone_is_said_to_be_that_of_the_logged_ranking() -> None:
    [found] = only(plain(0.412, 0.0036), "logged")
    assert found.text == "The logged ranking earned **0.412** clicks per impression (95 % interval 0.405 to 0.419)."
    assert found.severity == "ok"
    assert found.aside == "The value of `t` was not estimated: name an estimator such as `snips`."
    assert not only(plain(0.412, 0.0036), "logged", logging="t")[0].aside
    assert only(plain(0.412, 0.0036, **warning("serious")), "logged")[0].severity == "serious"


def checked(trust: Trust, *checks: tuple[str, Status]) -> str:
    """The first sentence on a log with these checks, all of one title."""
    made = tuple(sample.check(code, "Support", status, "So.") for code, status in checks)
    return answers(
        sample.only({}, kind="check", checks=made, verdicts={"the log": Verdict("unknown", trust, "the log")})
    )[0].text


@pytest.mark.parametrize(
    ("status", "start"),
    [
        ("serious", "**1 check of the log fails** (Support)"),
        ("warning", "**1 check of the log warns** (Support)"),
        ("note", "**No check failed** (1 check). See the notes on Support."),
        ("ok", "**All checks passed** (1 check)."),
    ],
)
def test_a_check_says_what_was_found(status: Status, start: str) -> None:
    assert checked("sound", ("support", status)).startswith(f"**Sound.** {start}")


@pytest.mark.parametrize("trust", get_args(Trust))
def test_a_check_has_the_verdict_on_the_log_before_all_else(trust: Trust) -> None:
    assert checked(trust, ("support", "ok")).startswith(f"**{TRUST[trust]}.** **All checks passed")


def test_a_check_that_fails_twice_by_one_name_is_named_once() -> None:
    text = checked("none", ("a", "serious"), ("b", "serious"))
    assert text.startswith("**Do not use.** **1 check of the log fails** (Support)")


def test_warnings_are_grouped_by_code_the_worst_first() -> None:
    found = findings_of(sample.result())
    assert [finding.code for finding in found] == ["low-ess", "heavy-tail", "no-overlap"]
    assert {finding.severity for finding in found} == {"serious"}
    ((message, places), *_), rest, _ = found[2].told()
    assert message == "No logged slate is one that the target would have shown."
    assert places == "`snips` for `worse`"
    assert rest == "Also 5 estimates of groups with this code."


def test_warnings_of_groups_alone_are_shown() -> None:
    each = {"a": {KEY: plain(0.4, 0.01, **warning("note"))}, "b": {KEY: plain(0.4, 0.01)}}
    (finding,) = findings_of(sample.only({KEY: plain(0.4, 0.01)}, each, by="banner"))
    messages, rest, _ = finding.told()
    assert messages == [("Few.", "`snips` in banner `a`")]
    assert not rest


def test_groups_come_largest_first() -> None:
    found = sample.result()
    reversed_ = replace(found, groups=dict(reversed(found.groups.items())))
    assert list(groups(found, "better")) == list(groups(reversed_, "better")) == list(sample.GROUPS)


def test_each_message_keeps_its_own_severity_the_worst_first() -> None:
    note, worse = warning("note", "A few.", "More."), warning("serious", "Hardly any.", "Much more.")
    estimates = {("t", "ips"): plain(0.4, 0.01, **note), ("t", "ipm"): plain(0.4, 0.01, **worse)}
    (finding,) = findings_of(sample.only(estimates))
    assert finding.severity == "serious"
    messages, _, remedies = finding.told()
    assert messages == [("serious: Hardly any.", "`ipm`"), ("note: A few.", "`ips`")]
    assert remedies == [("`ipm`", "Much more."), ("`ips`", "More.")]
    assert finding.told(1)[2] == [("", "Much more.")]


def test_a_group_that_is_worse_is_shown_with_its_own_message() -> None:
    worse, other = warning("serious", "serious"), warning("note", "note")
    each = {name: {KEY: plain(0.4, 0.01, **one)} for name, one in zip("abc", (worse, worse, other), strict=True)}
    (finding,) = findings_of(sample.only({KEY: plain(0.4, 0.01, **warning("warning", "A few."))}, each, by="banner"))
    messages, rest, _ = finding.told()
    assert messages == [("serious: serious", "`snips` in banner `a`"), ("warning: A few.", "`snips`")]
    assert rest == "Also 2 estimates of groups with this code."
