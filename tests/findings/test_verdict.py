"""The narrowest estimate answers, in an interval that what assumes less allows."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from offrank import Caution
from offrank.estimators.named import estimator
from offrank.findings.reasons import AS_DRAWN, Facts
from offrank.findings.row import Row
from offrank.findings.verdict import Verdict
from offrank.sums.estimate import Interval
from tests.findings.candidates import (
    CLICKS,
    INTERPOL,
    IPM,
    ITEMS,
    LOG,
    NOTE,
    SERIOUS,
    SNIPS,
    WARNING,
    caution,
    hidden,
    judged,
    one,
)

BETTER, WORSE, OPEN, UNKNOWN = "better", "worse", "no clear difference", "unknown"
SOUND, CARE, NONE = "sound", "with care", "none"

CASES: dict[str, tuple[list[Row], str, str, str | None, tuple[float, float] | None]] = {
    # the narrowest answers, in an interval that is stretched to hold what assumes nothing: 0.45 + 0.01 + (0.5 - 0.45)
    "better": ([one("ips", 0.5, 0.09), one(IPM, 0.45, 0.01)], BETTER, SOUND, IPM, (0.44, 0.51)),
    "worse": ([one("ips", 0.3, 0.09), one(IPM, 0.35, 0.01)], WORSE, SOUND, IPM, (0.29, 0.36)),
    "stretched downwards": ([one("ips", 0.42, 0.09), one(IPM, 0.45, 0.01)], BETTER, SOUND, IPM, (0.41, 0.46)),
    "stretched too far": ([one("ips", 0.4, 0.11), one(IPM, 0.45, 0.01)], OPEN, SOUND, IPM, (0.39, 0.46)),
    "however wide the other is": ([one("ips", 0.5, 0.3), one(IPM, 0.45, 0.01)], BETTER, SOUND, IPM, (0.44, 0.51)),
    "the narrowest of three": (
        [one("ips", 0.42, 0.2), one(IPM, 0.45, 0.03), one(INTERPOL, 0.46, 0.01)],
        BETTER,
        SOUND,
        INTERPOL,
        (0.41, 0.47),
    ),
    "nothing narrower": ([one("ips", 0.5, 0.2), one(IPM, 0.45, 0.25)], OPEN, SOUND, "ips", (0.3, 0.7)),
    "as wide is not narrower": ([one("ips", 0.5, 0.2), one(IPM, 0.45, 0.2)], OPEN, SOUND, "ips", (0.3, 0.7)),
    "a warned one never answers beside another": (
        [one("ips", 0.5, 0.09), one(IPM, 0.45, 0.01, WARNING)],
        BETTER,
        SOUND,
        "ips",
        (0.41, 0.59),
    ),
    "nor one that is off by design": (
        [one("ips", 0.5, 0.09), one("clip(ips, 10)", 0.42, 0.01)],
        BETTER,
        SOUND,
        "ips",
        (0.41, 0.59),
    ),
    "unless all are warned": (
        [one("ips", 0.5, 0.09, WARNING), one(IPM, 0.45, 0.01, WARNING)],
        BETTER,
        CARE,
        IPM,
        (0.44, 0.51),
    ),
    "a warned one that assumes nothing vouches for nothing": (
        [one("ips", 0.5, 0.09, WARNING), one(IPM, 0.45, 0.01)],
        BETTER,
        CARE,
        IPM,
        (0.44, 0.51),
    ),
    # of one weighting the self-normalised form, whatever the errors are; the one without a warning before it
    "never the smaller error": ([one("ips", 0.5, 0.05), SNIPS], BETTER, SOUND, "snips", (0.42, 0.58)),
    "divided, not corrected": (
        [one("controlled(ips)", 0.5, 0.05, base="ips", normalisation="control"), SNIPS],
        BETTER,
        SOUND,
        "snips",
        (0.42, 0.58),
    ),
    "of a narrower weighting too": (
        [SNIPS, one(IPM, 0.45, 0.01, base=IPM), one("snipm", 0.46, 0.02, base=IPM, normalisation="slot")],
        BETTER,
        SOUND,
        "snipm",
        (0.44, 0.52),
    ),
    "a form that nobody asked for": (
        [one("ips", 0.5, 0.05, base="ips"), replace(SNIPS, asked=False)],
        BETTER,
        SOUND,
        "ips",
        (0.42, 0.58),
    ),
    "the unwarned one": ([one("ips", 0.5, 0.09), one("snips", 0.5, 0.08, WARNING)], BETTER, SOUND, "ips", (0.41, 0.59)),
    "a note is no warning": ([one("ips", 0.5, 0.09, NOTE)], BETTER, SOUND, "ips", (0.41, 0.59)),
    "a warning is care": ([one("ips", 0.5, 0.09, WARNING)], BETTER, CARE, "ips", (0.41, 0.59)),
    "a serious one is left out": ([one("ips", 0.5, 0.09, SERIOUS), one(IPM, 0.5, 0.05)], BETTER, CARE, IPM, None),
    "nothing sound": ([one("ips", 0.5, 0.09, SERIOUS)], UNKNOWN, NONE, None, None),
    # assumptions that nothing checks
    "unchecked": ([one(IPM, 0.45, 0.01)], BETTER, CARE, IPM, (0.44, 0.46)),
    "checked by a reference": ([one(IPM, 0.45, 0.01), hidden("snips", 0.46, 0.05)], BETTER, SOUND, IPM, (0.44, 0.47)),
    "a reference that is narrower": (
        [one(IPM, 0.45, 0.06), hidden("snips", 0.46, 0.02)],
        OPEN,
        SOUND,
        IPM,
        (0.39, 0.51),
    ),
    "a warned reference checks nothing": (
        [one(IPM, 0.45, 0.01), hidden("snips", 0.46, 0.05, WARNING)],
        BETTER,
        CARE,
        IPM,
        (0.44, 0.46),
    ),
    "a reference that assumes something": (
        [one(IPM, 0.45, 0.01), hidden("rips", 0.46, 0.05)],
        BETTER,
        CARE,
        IPM,
        (0.44, 0.47),
    ),
    "of two references the one that assumes less": (
        [one(IPM, 0.45, 0.01), hidden("rips", 0.46, 0.02), hidden("snips", 0.47, 0.05)],
        BETTER,
        SOUND,
        IPM,
        (0.44, 0.48),
    ),
    "a reference that assumes something else": (
        [one("pi", 0.45, 0.01), hidden("rips", 0.46, 0.05)],
        BETTER,
        CARE,
        "pi",
        (0.44, 0.46),
    ),
    "a reference never answers": (
        [one(IPM, 0.45, 0.01, SERIOUS), hidden("snips", 0.5, 0.05)],
        UNKNOWN,
        NONE,
        None,
        None,
    ),
    "of another outcome nothing is checked": (
        [one(IPM, 0.45, 0.01, outcome="clicks"), hidden("snips", 0.46, 0.05)],
        BETTER,
        CARE,
        IPM,
        (0.44, 0.46),
    ),
    "clipped": ([one("clip(ips, 10)", 0.45, 0.01)], BETTER, CARE, "clip(ips, 10)", (0.44, 0.46)),
    "clipped and checked": (
        [one("clip(ips, 10)", 0.45, 0.01), hidden("snips", 0.46, 0.05)],
        BETTER,
        SOUND,
        "clip(ips, 10)",
        (0.41, 0.51),
    ),
    "the reward is asked before clicks": (
        [one(IPM, 0.45, 0.01, outcome="clicks"), one("pi", 0.5, 0.05)],
        BETTER,
        CARE,
        "pi",
        (0.45, 0.55),
    ),
    # chosen by the data, in an interval that holds that of an estimator which assumes less
    "it holds what assumes nothing": (
        [one("auto", 0.45, 0.03, assumes=ITEMS, anchor=Row("snips", "snips", estimator("snips").kind))],
        BETTER,
        SOUND,
        "auto",
        (0.42, 0.48),
    ),
    "it holds what assumes something": (
        [one("auto", 0.45, 0.03, assumes=ITEMS, anchor=Row("rips", "rips", estimator("rips").kind))],
        BETTER,
        CARE,
        "auto",
        (0.42, 0.48),
    ),
}


CASES["clicks for a reward"] = ([one("pi", 0.5, 0.05, SERIOUS), CLICKS], BETTER, CARE, "ips", (0.41, 0.59))


@pytest.mark.parametrize("case", CASES)
def test_the_rule(case: str) -> None:
    candidates, decision, trust, name, ends = CASES[case]
    for order in (candidates, candidates[::-1]):
        found = judged(*order)
        assert (found.decision, found.trust, found.estimator) == (decision, trust, name)
        assert found.usable is (trust != NONE)
        assert (found.trust == SOUND) is not bool(found.reasons)
        if ends is not None:
            assert found.value is not None
            assert (found.value.low, found.value.high) == pytest.approx(ends)


@pytest.mark.parametrize(
    ("low", "high", "decision"),
    [
        (1e-9, 0.1, BETTER),
        (0.0, 0.1, OPEN),
        (-0.1, 0.1, OPEN),
        (-0.1, 0.0, OPEN),
        (-0.1, -1e-9, WORSE),
        (0.0, 0.0, OPEN),
    ],
)
def test_the_decision_is_what_the_interval_of_the_difference_says(low: float, high: float, decision: str) -> None:
    candidate = one("ips", 0.4, 0.05)
    assert candidate.estimate is not None
    away = Interval((low + high) / 2, low, high, 0.01)
    found = judged(replace(candidate, estimate=replace(candidate.estimate, difference=away)))
    assert (found.decision, found.trust) == (decision, SOUND)


@pytest.mark.parametrize("shift", [-0.3, -0.2, -0.1, -0.05, 0.0, 0.05, 0.1, 0.2, 0.3])
@pytest.mark.parametrize("half", [0.09, 0.11, 0.3])
def test_who_answers_does_not_depend_on_what_is_found(shift: float, half: float) -> None:
    """Of the same widths the same estimator answers, wherever the values are."""
    found = judged(one("ips", 0.4 + shift, half), one(IPM, 0.4 - shift, 0.02), one(INTERPOL, 0.4, 0.1))
    assert found.estimator == IPM


def test_the_field_of_older_versions_fails_loudly() -> None:
    with pytest.raises(AttributeError, match="decision"):
        _ = judged(one("ips", 0.5, 0.09)).word


def missing(share: float, severity: Any = "warning") -> Caution:
    return replace(caution(severity, "hidden-mass"), missing=share)


INF, NAN = math.inf, math.nan
# ips is 0.3 +- 0.05 where the log earned 0.4, so the upper end of the difference is -0.05; nothing earns more than 2.
# A share of 0.02 can add 0.04, one of 0.03 adds 0.06. Upwards 0.5 +- 0.05: the lower end is 0.05, and too much of it
# can be 0.09 of 0.5 = 0.045 or 0.11 of 0.5 = 0.055.
DIRECTIONS = [
    (0.3, 0.02, WORSE),
    (0.3, 0.03, OPEN),
    (0.3, INF, OPEN),
    (0.3, NAN, OPEN),
    (0.3, -INF, WORSE),
    (0.3, 0.0, WORSE),
    (0.5, 0.9, BETTER),
    (0.5, -0.09, BETTER),
    (0.5, -0.11, OPEN),
    (0.5, -INF, OPEN),
    (0.5, NAN, OPEN),
    (0.4, INF, OPEN),
]


@pytest.mark.parametrize(("value", "share", "decision"), DIRECTIONS)
@pytest.mark.parametrize("severity", ["note", "warning"])
def test_what_an_error_of_known_direction_could_explain_is_not_declared(
    value: float, share: float, decision: str, severity: Any
) -> None:
    found = judged(one("ips", value, 0.05, missing(share, severity), most=2.0))
    explained = decision == OPEN and value != 0.4
    assert found.decision == decision
    assert (found.reasons[:1] == () or found.reasons[0].code != "known-error") is not explained
    assert found.trust == (CARE if explained or severity == "warning" else SOUND)


def test_what_this_log_cannot_tell_is_named() -> None:
    def codes(found: Verdict) -> list[str]:
        return [one_.code for one_ in found.assumptions]

    usual = ["every-click-logged", "rows-kept-blindly", "same-users"]
    drawn = one("ips", 0.5, 0.05)
    assert codes(judged(one("ips", 0.5, 0.05, logging=None))) == usual
    assert codes(judged(drawn)) == ["propensities-as-drawn", *usual[:2]]
    assert codes(judged(drawn, facts=Facts(tested=frozenset({AS_DRAWN})))) == usual
    assert codes(judged(one("ips", 0.5, 0.05, SERIOUS))) == []
    # a log of rewards: what is said of clicks is not said of them, but of an estimate of clicks it is
    rewards = Facts(rewards=True, tested=frozenset({AS_DRAWN}))
    assert codes(judged(drawn, facts=rewards))[0] == "every-reward-logged"
    assert codes(judged(replace(drawn, outcome="clicks"), facts=rewards))[0] == "every-click-logged"


def test_what_answers_in_the_interval_of_another_rests_on_its_own_assumptions() -> None:
    found = judged(one("ips", 0.5, 0.09), one(INTERPOL, 0.5, 0.05), facts=Facts(tested=frozenset({AS_DRAWN})))
    assert found.estimator == INTERPOL
    assert found.assumptions[0].code == "right-curve"


def test_all_numbers_are_widened_alike() -> None:
    found = judged(one("ips", 0.5, 0.11), one(IPM, 0.45, 0.01))
    assert None not in (found.value, found.difference, found.relative)
    assert (found.value.value, found.value.low, found.value.high) == pytest.approx((0.45, 0.44, 0.51))
    assert (found.difference.low, found.difference.high) == pytest.approx((0.04, 0.11))
    # 0.45 / 0.4 - 1 = 0.125, and 0.5 / 0.4 - 1 = 0.25; 0.01 of 0.4 is 0.025
    assert (found.relative.low, found.relative.high) == pytest.approx((0.1, 0.275))
    assert (found.anchor_name, found.spans, found.logged) == ("ips", False, LOG)


@pytest.mark.parametrize("ends", [(0.44, math.inf), (-math.inf, 0.46)])
def test_without_an_interval_there_is_no_answer(ends: tuple[float, float]) -> None:
    open_ended = one("ips", 0.45, 0.01)
    assert open_ended.estimate is not None
    candidate = replace(open_ended, estimate=replace(open_ended.estimate, low=ends[0], high=ends[1]))
    found = judged(candidate)
    assert found.trust == NONE
    assert [reason.code for reason in found.reasons] == ["no-interval"]


def test_what_is_wrong_with_the_log_binds_what_asks_how_it_was_drawn() -> None:
    wrong = caution("serious", "propensity-mismatch")
    pair = one("ips", 0.5, 0.05), one("pbm", 0.45, 0.01, logging=None)
    assert judged(pair[0], about_log=[wrong]).trust == NONE
    assert judged(pair[0], about_log=[replace(wrong, severity="warning")]).trust == CARE
    assert judged(pair[0], about_log=[replace(wrong, severity="note")]).trust == SOUND
    found = judged(*pair, about_log=[wrong])
    assert (found.trust, found.estimator) == (CARE, "pbm")
    assert [reason.code for reason in found.reasons] == ["assumed"]


def test_an_interval_of_what_is_never_negative_ends_at_zero() -> None:
    candidate = one("ips", 0.02, 0.05)
    assert judged(candidate).value == Interval(0.02, 0.02 - 0.05, 0.02 + 0.05, 0.025)
    found = judged(candidate, nonnegative=True)
    assert found.value is not None
    assert found.relative is not None
    assert found.difference is not None
    assert found.value.low == 0.0
    assert found.relative.low == -1.0
    assert found.difference.low == pytest.approx(-0.38 - 0.05)  # what the log earned is not known exactly
    inside = judged(one("ips", 0.06, 0.05), nonnegative=True)
    assert inside.value is not None
    assert inside.value.low == pytest.approx(0.01)
    below = judged(one("pi", -0.02, 0.01), nonnegative=True)  # of negative weights: shown as it is
    assert below.value is not None
    assert below.value.low == pytest.approx(-0.03)
