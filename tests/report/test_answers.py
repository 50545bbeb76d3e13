"""The headline is from an estimate that can be trusted, or says that there is none."""

from __future__ import annotations

from typing import Any

import pytest

from offrank.report.document import Answer, Finding, findings
from offrank.verbs.pages.answers import answers
from offrank.verbs.pages.document import Record, groups, told
from offrank.verbs.pages.estimates import grouped_estimator
from tests.report import sample


def plain(value: float, error: float, estimator: str = "snips", **fields: Any) -> dict[str, Any]:
    """An estimate without warnings."""
    ends = {"low": value - 2 * error, "high": value + 2 * error, "standard_error": error}
    about = {"target": "t", "estimator": estimator, "value": value, "n": 100, "truth": None, "warnings": []}
    return {**sample.estimate("better", "ipm"), **about, "difference": None, **ends, **fields}


def listed(document: Record) -> tuple[Finding, ...]:
    """What the document says of its estimates, by code."""
    return findings(told(document))


def warning(severity: str, code: str = "low-ess") -> list[dict[str, str]]:
    return [{"code": code, "severity": severity, "message": "Few.", "remedy": "More."}]


FEW = {"code": "low-ess", "message": "Few.", "remedy": "Log more.", "estimators": ["ips", "snips"]}


def said(value: float, error: float, difference: tuple[float, float, float], **fields: Any) -> Answer:
    """The answer of a document with one estimate and the verdict that it answers."""
    change = dict(zip(("value", "low", "high"), difference, strict=True))
    estimate = plain(value, error, difference=change)
    [found] = answers(sample.only(estimate, t=sample.verdict(estimate, **fields)) | {"confidence": 0.95})
    return found


def test_the_headline_is_the_verdict_with_all_its_intervals() -> None:
    found = said(0.412, 0.0036, (0.031, 0.024, 0.038))
    # 0.031 / 0.3812 = 8.13 %, 0.024 / 0.3812 = 6.30 %, 0.038 / 0.3812 = 9.97 %
    assert found.text == (
        "**Use.** `t` would have earned **0.412** clicks per impression (95 % interval 0.405 to 0.419); "
        "the logged ranking earned 0.3812 (0.3784 to 0.3840): "
        "**0.0310 more** (+0.0240 to +0.0380), +8.1 % (+6.3 % to +10 %)."
    )
    assert (found.aside, found.severity) == ("This is `snips`, which assumes nothing of users.", "ok")
    assert said(0.35, 0.0036, (-0.031, -0.038, -0.024)).text.count("**0.0310 less** (-0.0380 to -0.0240)") == 1


@pytest.mark.parametrize(
    ("ends", "clear"), [((1e-9, 0.006), True), ((0.0, 0.006), False), ((-0.008, 0.0), False), ((-0.008, -1e-9), True)]
)
def test_a_difference_around_zero_is_not_called_one(ends: tuple[float, float], clear: bool) -> None:
    text = said(0.412, 0.0036, (sum(ends) / 2, *ends)).text
    assert ("**not clearly different**" in text) is not clear


def test_where_nothing_is_clear_it_says_what_would_be_seen() -> None:
    text = said(0.412, 0.0036, (-0.001, -0.008, 0.006), detectable=0.0103).text
    assert "**not clearly different**, -0.0010 (-0.0080 to +0.0060), -0.26 % (-2.1 % to +1.6 %)." in text
    assert text.endswith("A difference of 0.0103 would be seen in four of five such logs.")
    assert "four of five" not in said(0.412, 0.0036, (0.031, 0.024, 0.038), detectable=0.0103).text


def test_an_end_that_is_zero_is_called_zero() -> None:
    estimate = plain(0.02, 0.02) | {"low": 0.0}
    assert "interval 0 to 0.060)" in answers(sample.only(estimate, t=sample.verdict(estimate)))[0].text


def test_care_says_why_and_what_the_interval_was_held_to() -> None:
    anchor = {"estimator": "ips", "spans": False}
    assumed = {"assumes": ["additive"], "assumes_in_words": "a slate's reward is a sum over its items"}
    found = said(0.412, 0.0036, (0.031, 0.024, 0.038), word="use with care", reasons=[FEW], anchor=anchor, **assumed)
    assert found.text.startswith("**Use with care.** `t` would")
    assert found.aside == (
        "This is `snips`, which assumes that a slate's reward is a sum over its items. "
        "The interval was widened to hold the value of `ips`, which assumes less."
    )
    assert found.reasons == ("`low-ess` (`ips` and `snips`): Few. Log more.",)
    assert found.severity == "warning"
    spans = said(0.412, 0.0036, (0.031, 0.024, 0.038), anchor={"estimator": "ips", "spans": True}, **assumed)
    assert spans.aside.endswith("The interval holds the interval of `ips`, which assumes less.")


def test_a_reason_that_names_its_estimator_does_not_name_it_twice() -> None:
    found = said(0.412, 0.0036, (0.031, 0.024, 0.038), word="use with care", reasons=[sample.UNCHECKED])
    assert found.reasons[0].startswith("`assumed`: `ipm` assumes that")
    assert found.aside == "This is `snips`."  # the reason has said what it assumes


def test_without_an_answer_there_is_no_number() -> None:
    document = sample.only(plain(0.4123, 0.001, warnings=warning("serious")), t=sample.refusal(FEW))
    [found] = answers(document)
    assert found.text == "**Do not use.** This log cannot say what `t` would have earned."
    assert found.reasons == ("`low-ess` (`ips` and `snips`): Few. Log more.",)
    assert (found.aside, found.severity) == ("", "serious")


def test_a_known_truth_is_said_to_be_inside_or_outside() -> None:
    for truth, where in ((0.406, "inside"), (0.404, "outside")):
        estimate = plain(0.412, 0.0035, truth=truth)
        found = answers(sample.only(estimate, t=sample.verdict(estimate)))[0]
        assert found.aside.endswith(f"the truth is known: {truth:.4f}, {where} the interval.")


def test_groups_are_those_of_the_estimator_that_answers() -> None:
    assert grouped_estimator(sample.document(), "better") == "ipm"
    refused = sample.document() | {"verdicts": {}}
    assert grouped_estimator(refused, "better") == "ips"


def test_the_logged_mean_alone_is_said_to_be_that_of_the_logged_ranking() -> None:
    found = answers(sample.only(plain(0.412, 0.0036, "logged")))[0]
    assert found.text == "The logged ranking earned **0.412** clicks per impression (95 % interval 0.405 to 0.419)."
    assert found.severity == "ok"
    assert found.aside == "What `t` would have earned was not asked: name an estimator such as `snips`."
    assert not answers(sample.only(plain(0.412, 0.0036, "logged")) | {"logging": "t"})[0].aside
    doubtful = plain(0.412, 0.0036, "logged", warnings=warning("serious"))
    assert answers(sample.only(doubtful))[0].severity == "serious"


@pytest.mark.parametrize(
    ("status", "start"),
    [
        ("serious", "**1 check of the log fails** (Support)"),
        ("warning", "**1 check of the log warns** (Support)"),
        ("note", "**No check of the log fails**: 1 check made. But note what they say of Support."),
        ("ok", "**Nothing speaks against this log**: 1 check made."),
    ],
)
def test_a_document_of_checks_alone(status: str, start: str) -> None:
    check = sample.check("support", "Support", status, None, None, None, None, "So.")
    assert answers({"kind": "check", "checks": [check]})[0].text.startswith(start)


@pytest.mark.parametrize(("word", "start"), [("use", "**Use.** **Not"), ("do not use", "**Do not use.** **Not")])
def test_a_check_has_the_verdict_on_the_log_before_all_else(word: str, start: str) -> None:
    check = sample.check("support", "Support", "ok", None, None, None, None, "So.")
    document = {"kind": "check", "checks": [check], "verdicts": {"the log": {"word": word}}}
    assert answers(document)[0].text.startswith(start)


def test_a_check_that_fails_twice_by_one_name_is_named_once() -> None:
    twice = [sample.check(code, "Support", "serious", None, None, None, None, "So.") for code in ("a", "b")]
    text = answers({"kind": "check", "checks": twice})[0].text
    assert text.startswith("**1 check of the log fails** (Support)")


def test_an_empty_document_says_so() -> None:
    assert "nothing to report" in answers({})[0].text


def test_warnings_are_grouped_by_code_the_worst_first() -> None:
    found = listed(sample.document())
    assert [finding.code for finding in found] == ["low-ess", "heavy-tail", "no-overlap"]
    assert {finding.severity for finding in found} == {"serious"}
    message, places = found[2].shown()[0]
    assert message == "No logged slate is one that the target would have shown."
    assert places == "`snips` for `worse`"
    assert found[2].rest() == "Also 5 estimates of groups with this code."


def test_warnings_of_groups_alone_are_shown() -> None:
    estimates = [plain(0.4, 0.01, group="a", warnings=warning("note")), plain(0.4, 0.01, group="b")]
    (finding,) = listed(sample.only(*estimates) | {"by": "banner"})
    assert finding.shown() == [("Few.", "`snips` in banner `a`")]
    assert not finding.rest()


def test_groups_come_largest_first() -> None:
    assert list(groups(sample.document(), "better")) == list(sample.GROUPS)


def test_each_message_keeps_its_own_severity_the_worst_first() -> None:
    said = {"code": "low-ess", "severity": "note", "message": "A few.", "remedy": "More."}
    worse = {**said, "severity": "serious", "message": "Hardly any.", "remedy": "Much more."}
    estimates = [plain(0.4, 0.01, "ips", warnings=[said]), plain(0.4, 0.01, "ipm", warnings=[worse])]
    (finding,) = listed(sample.only(*estimates))
    assert finding.severity == "serious"
    assert finding.shown() == [("serious: Hardly any.", "`ipm`"), ("note: A few.", "`ips`")]
    assert finding.remedies() == [("`ipm`", "Much more."), ("`ips`", "More.")]
    assert finding.remedies(1) == [("", "Much more.")]


def test_a_group_that_is_worse_is_shown_with_its_own_message() -> None:
    said = {"code": "low-ess", "severity": "warning", "message": "A few.", "remedy": "More."}
    worse, other = ({**said, "severity": severity, "message": severity} for severity in ("serious", "note"))
    groups = zip("abc", (worse, worse, other), strict=True)
    estimates = [plain(0.4, 0.01, warnings=[said])]
    estimates += [plain(0.4, 0.01, group=name, warnings=[one]) for name, one in groups]
    (finding,) = listed(sample.only(*estimates) | {"by": "banner"})
    assert finding.shown() == [("serious: serious", "`snips` in banner `a`"), ("warning: A few.", "`snips`")]
    assert finding.rest() == "Also 2 estimates of groups with this code."
