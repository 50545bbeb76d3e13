"""The headline is from an estimate that can be trusted, or says that there is none."""

from __future__ import annotations

from typing import Any

import pytest

from offrank.report import facts
from offrank.report.answers import answers
from tests.report import sample


def plain(value: float, error: float, estimator: str = "snips", **fields: Any) -> dict[str, Any]:
    """An estimate without warnings."""
    ends = {"low": value - 2 * error, "high": value + 2 * error, "standard_error": error}
    return {"target": "t", "estimator": estimator, "group": None, "value": value, "n": 100, **ends, **fields}


def warning(severity: str, code: str = "low-ess") -> list[dict[str, str]]:
    return [{"code": code, "severity": severity, "message": "Few.", "remedy": "More."}]


def test_the_headline_says_value_interval_and_difference() -> None:
    estimate = plain(0.412, 0.0036, difference={"value": 0.031, "low": 0.024, "high": 0.038})
    document = sample.only(estimate) | {"confidence": 0.95, "logged": {"value": 0.381}}
    assert answers(document)[0].text == (
        "`t` would have earned **0.412** clicks per impression (95 % interval 0.405 to 0.419): "
        "**0.0310 (8.1 %) more** than the logged ranking."
    )


def test_a_difference_around_zero_is_not_called_one() -> None:
    estimate = plain(0.412, 0.0036, difference={"value": -0.001, "low": -0.008, "high": 0.006})
    text = answers(sample.only(estimate) | {"logged": {"value": 0.413}})[0].text
    assert "**not clearly different** from the logged ranking (-0.0010, -0.24 %)" in text


def test_the_tightest_without_warning_is_first() -> None:
    estimates = [
        plain(0.40, 0.001, "pbm", warnings=warning("warning")),
        plain(0.41, 0.003, "ipm"),
        plain(0.42, 0.002, "logged"),
        plain(0.43, 0.0001, "ips", warnings=warning("serious")),
        plain(0.44, 0.02, "snips", warnings=warning("note")),
    ]
    best = facts.most_trustworthy(estimates)
    assert best is not None
    assert best["estimator"] == "ipm"
    assert "1 of 2 other usable estimates agree with it" in answers(sample.only(*estimates))[0].aside


def test_the_logged_mean_alone_is_said_to_be_that_of_the_logged_ranking() -> None:
    found = answers(sample.only(plain(0.412, 0.0036, "logged")))[0]
    assert found.text == "The logged ranking earned **0.412** clicks per impression (95 % interval 0.405 to 0.419)."
    assert found.severity == "ok"
    assert found.aside == "What `t` would have earned was not asked: name an estimator such as `snips`."
    assert not answers(sample.only(plain(0.412, 0.0036, "logged")) | {"logging": "t"})[0].aside
    doubtful = plain(0.412, 0.0036, "logged", warnings=warning("serious"))
    assert answers(sample.only(doubtful))[0].severity == "serious"


def test_a_warned_estimate_is_better_than_none_and_says_so() -> None:
    estimates = [plain(0.4, 0.001, warnings=warning("warning")), sample.refused("t", "ips")]
    assert "Even it carries a warning." in answers(sample.only(*estimates))[0].aside


def test_without_a_trustworthy_estimate_there_is_no_number() -> None:
    serious = plain(0.4123, 0.001, warnings=warning("serious"))
    text = answers(sample.only(serious, sample.refused("t", "ips")))[0].text
    assert text.startswith("**This log cannot say** what `t` would have earned")
    assert "0.41" not in text


def test_refusals_only() -> None:
    assert "every estimator refused" in answers(sample.only(sample.refused("t", "ips")))[0].text


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


def test_an_empty_document_says_so() -> None:
    assert "nothing to report" in answers({})[0].text


def test_warnings_are_grouped_by_code_the_worst_first() -> None:
    found = facts.findings(sample.document())
    assert [finding.code for finding in found] == ["low-ess", "heavy-tail", "no-overlap"]
    assert {finding.severity for finding in found} == {"serious"}
    message, places = found[2].shown()[0]
    assert message == "No logged slate is one that the target would have shown."
    assert places == "`snips` for `worse`"
    assert found[2].rest() == "Also 5 estimates of groups with this code."


def test_warnings_of_groups_alone_are_shown() -> None:
    estimates = [plain(0.4, 0.01, group="a", warnings=warning("note")), plain(0.4, 0.01, group="b")]
    (finding,) = facts.findings(sample.only(*estimates) | {"by": "banner"})
    assert finding.shown() == [("Few.", "`snips` in banner `a`")]
    assert not finding.rest()


def test_groups_come_largest_first() -> None:
    assert facts.groups(sample.document()) == list(sample.GROUPS)


def test_each_message_keeps_its_own_severity_the_worst_first() -> None:
    said = {"code": "low-ess", "severity": "note", "message": "A few.", "remedy": "More."}
    worse = {**said, "severity": "serious", "message": "Hardly any.", "remedy": "Much more."}
    estimates = [plain(0.4, 0.01, "ips", warnings=[said]), plain(0.4, 0.01, "ipm", warnings=[worse])]
    (finding,) = facts.findings(sample.only(*estimates))
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
    (finding,) = facts.findings(sample.only(*estimates) | {"by": "banner"})
    assert finding.shown() == [("serious: serious", "`snips` in banner `a`"), ("warning: A few.", "`snips`")]
    assert finding.rest() == "Also 2 estimates of groups with this code."
