"""The reasons of a verdict: three at most, causes first, and what an answer assumes."""

from __future__ import annotations

import pytest

from offrank.errors import NoOverlapError
from offrank.findings.row import Row
from offrank.findings.verdict import on_log, verdict
from tests.findings.candidates import (
    IPM,
    NOTE,
    SERIOUS,
    WARNING,
    caution,
    hidden,
    judged,
    one,
)


def test_reasons_are_three_at_most_causes_first_and_each_once() -> None:
    few = [caution("serious", code) for code in ("low-ess", "few-rewards", "heavy-tail")]
    wrong, odd = caution("serious", "mean-weight"), caution("serious", "odd-examination")
    apart = caution("serious", "disagreement")
    found = judged(
        one("ips", 0.5, 0.1, *few, wrong), one("snips", 0.5, 0.1, few[0], wrong), one(IPM, 0.5, 0.1, odd, apart)
    )
    assert [reason.code for reason in found.reasons] == ["mean-weight", "odd-examination", "disagreement"]
    assert found.reasons[0].estimators == ("ips", "snips")
    overlap = judged(one("ips", 0.5, 0.1, *few), one("snips", 0.5, 0.1, few[0]))
    assert [reason.code for reason in overlap.reasons] == ["low-ess"]
    assert overlap.reasons[0].estimators == ("ips", "snips")


def test_the_log_comes_first_and_explains_mean_weights() -> None:
    wrong = caution("serious", "propensity-mismatch")
    found = judged(one("ips", 0.5, 0.1, caution("serious", "mean-weight"), SERIOUS, wrong), about_log=[NOTE, wrong])
    assert [reason.code for reason in found.reasons] == ["propensity-mismatch", "low-ess"]
    assert found.reasons[0].estimators == ()


def test_a_refusal_is_a_reason() -> None:
    refused = Row("ips", "ips", refusal=NoOverlapError("never", "log more"))
    assert [(reason.code, reason.estimators) for reason in judged(refused).reasons] == [("no-overlap", ("ips",))]
    assert judged(refused, one("snips", 0.5, 0.01)).trust == "sound"


def test_care_names_the_assumption_and_what_assumes_less_says() -> None:
    found = judged(one("ips", 0.5, 0.11, WARNING), one(IPM, 0.45, 0.01))
    assert [reason.code for reason in found.reasons] == ["assumed"]
    assert found.reasons[0].message == (
        "`ipm` assumes that a click depends on its own item and rank only. "
        "`ips`, which assumes nothing about users, says 0.50 (0.39 to 0.61)."
    )
    alone = judged(one(IPM, 0.45, 0.01)).reasons[0].message
    assert "No sound estimate that assumes less is available to check this." in alone


def test_only_what_was_logged_was_asked() -> None:
    assert verdict("t", []) is None
    assert verdict("t", [hidden("ips", 0.5, 0.1)]) is None


@pytest.mark.parametrize(
    ("severities", "trust", "codes"),
    [
        ([], "sound", []),
        (["note"], "sound", []),
        (["note", "warning"], "with care", ["c1"]),
        (["warning", "serious", "serious"], "none", ["c1", "c2"]),
        (["serious"] * 5, "none", ["c0", "c1", "c2"]),
    ],
)
def test_a_log_is_as_good_as_the_worst_that_was_found(severities: list[str], trust: str, codes: list[str]) -> None:
    found = on_log([caution(severity, f"c{place}") for place, severity in enumerate(severities)])
    assert found.decision == "unknown"
    assert (found.trust, found.target, [reason.code for reason in found.reasons]) == (trust, "the log", codes)
