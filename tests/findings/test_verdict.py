"""The least assuming estimate that is sharp answers, in an interval that what assumes less allows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from offrank import Caution, Estimate
from offrank.errors import NoOverlapError
from offrank.estimators.named import estimator
from offrank.estimators.wrappers import without_normalisation
from offrank.findings.untested import ROWS_KEPT
from offrank.findings.verdict import EstimateRow, Verdict, on_log, verdict
from offrank.folds.estimate import Interval

LOG = Interval(0.40, 0.39, 0.41, 0.005)


def estimate(value: float, half: float, *warnings: Caution, away: float | None = None) -> Estimate:
    """An estimate +- half; the difference to the log has the half-width `away`, else the same."""
    difference = Interval(value - 0.4, value - 0.4 - (away or half), value - 0.4 + (away or half), (away or half) / 2)
    return Estimate(
        value, value - half, value + half, half / 2, 5000, 900.0, 1.0, 0.01, difference=difference, warnings=warnings
    )


def caution(severity: Any, code: str = "low-ess") -> Caution:
    return Caution(code, severity, f"Statement of {code}.", "Do.")


def assumed(name: str) -> frozenset[str]:
    return without_normalisation(estimator(name)).assumptions


def one(name: str, value: float, half: float, *warnings: Caution, **fields: Any) -> EstimateRow[str]:
    """A candidate of a named estimator."""
    assumes = fields.pop("assumes", None) or assumed(name)
    change = value / 0.4 - 1
    relative = Interval(change, change - half / 0.4, change + half / 0.4, half / 0.8)
    given: dict[str, Any] = {"scale": LOG.value, **fields}
    return EstimateRow(name, name, assumes, estimate(value, half, *warnings), LOG, relative, **given)


def judged(*candidates: EstimateRow[str], about_log: Sequence[Caution] = (), **fields: Any) -> Verdict:
    found = verdict("t", candidates, about_log, **fields)
    assert found is not None
    return found


def hidden(name: str, value: float, half: float, *warnings: Caution, **fields: Any) -> EstimateRow[str]:
    return one(name, value, half, *warnings, asked=False, **fields)


WARNING, SERIOUS, NOTE = (caution(severity) for severity in ("warning", "serious", "note"))
ITEMS = assumed("ipm")
CLICKS = one("ips", 0.5, 0.09, caution("note", "clicks-not-reward"), outcome="clicks")
IPM, INTERPOL = "ipm", "interpol(window=2, examination=[1, 0.5, 0.3])"

BETTER, WORSE, OPEN, UNKNOWN = "better", "worse", "no clear difference", "unknown"
SOUND, CARE, NONE = "sound", "with care", "none"

# An interval of the difference is sharp up to 0.25 of the logged mean to either side: 0.25 * 0.4 = 0.1.
CASES: dict[str, tuple[list[EstimateRow[str]], str, str, str | None, tuple[float, float] | None]] = {
    # what assumes nothing and is sharp, whatever it decides
    "better": ([one("ips", 0.5, 0.09), one(IPM, 0.45, 0.01)], BETTER, SOUND, "ips", (0.41, 0.59)),
    "worse": ([one("ips", 0.3, 0.09), one(IPM, 0.35, 0.01)], WORSE, SOUND, "ips", (0.21, 0.39)),
    "around zero": ([one("ips", 0.42, 0.09), one(IPM, 0.45, 0.01)], OPEN, SOUND, "ips", (0.33, 0.51)),
    # it is not sharp: what assumes more answers, in an interval that is stretched to hold 0.5
    "not sharp": ([one("ips", 0.5, 0.11), one(IPM, 0.45, 0.01)], BETTER, CARE, IPM, (0.44, 0.51)),
    "not sharp, though it decides": ([one("ips", 0.6, 0.11), one(IPM, 0.58, 0.01)], BETTER, CARE, IPM, (0.57, 0.61)),
    "stretched downwards": ([one("ips", 0.42, 0.11), one(IPM, 0.45, 0.01)], BETTER, CARE, IPM, (0.41, 0.46)),
    "worse by what assumes more": ([one("ips", 0.38, 0.11), one(IPM, 0.35, 0.01)], WORSE, CARE, IPM, (0.34, 0.39)),
    "stretched too far": ([one("ips", 0.4, 0.11), one(IPM, 0.45, 0.01)], OPEN, CARE, IPM, (0.39, 0.46)),
    "the first that is sharp": (
        [one("ips", 0.42, 0.2), one(IPM, 0.45, 0.03), one(INTERPOL, 0.46, 0.01)],
        OPEN,
        CARE,
        IPM,
        (0.39, 0.48),
    ),
    "else the sharpest": (
        [one("ips", 0.5, 0.3), one(IPM, 0.45, 0.2), one(INTERPOL, 0.46, 0.15)],
        OPEN,
        CARE,
        INTERPOL,
        (0.31, 0.65),
    ),
    "nothing narrower": ([one("ips", 0.5, 0.2), one(IPM, 0.45, 0.25)], OPEN, SOUND, "ips", (0.3, 0.7)),
    "the order is that of assumptions": (
        [one(INTERPOL, 0.46, 0.01), one("rips", 0.47, 0.01), one("ips", 0.42, 0.11), one(IPM, 0.45, 0.01)],
        BETTER,
        CARE,
        "rips",
        (0.41, 0.48),
    ),
    "without a scale all are sharp": (
        [one("ips", 0.5, 0.2, scale=math.nan), one(IPM, 0.45, 0.01)],
        OPEN,
        SOUND,
        "ips",
        (0.3, 0.7),
    ),
    # of equal assumptions the one without a warning, then the surer one
    "the surer one": ([one("ips", 0.5, 0.09), one("snips", 0.5, 0.08)], BETTER, SOUND, "snips", (0.42, 0.58)),
    "the unwarned one": ([one("ips", 0.5, 0.09), one("snips", 0.5, 0.08, WARNING)], BETTER, SOUND, "ips", (0.41, 0.59)),
    "a note is no warning": ([one("ips", 0.5, 0.09, NOTE)], BETTER, SOUND, "ips", (0.41, 0.59)),
    "a warning is care": ([one("ips", 0.5, 0.09, WARNING)], BETTER, CARE, "ips", (0.41, 0.59)),
    "a serious one is left out": ([one("ips", 0.5, 0.09, SERIOUS), one(IPM, 0.5, 0.05)], BETTER, CARE, IPM, None),
    "nothing sound": ([one("ips", 0.5, 0.09, SERIOUS)], UNKNOWN, NONE, None, None),
    # assumptions that nothing checks
    "unchecked": ([one(IPM, 0.45, 0.01)], BETTER, CARE, IPM, (0.44, 0.46)),
    "checked by a reference": ([one(IPM, 0.45, 0.01), hidden("snips", 0.46, 0.05)], BETTER, SOUND, IPM, (0.41, 0.51)),
    "a reference that is not sharp": (
        [one(IPM, 0.45, 0.01), hidden("snips", 0.46, 0.11)],
        BETTER,
        CARE,
        IPM,
        (0.44, 0.47),
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
        (0.41, 0.51),
    ),
    "of two references the one that assumes less": (
        [one(IPM, 0.45, 0.01), hidden("rips", 0.46, 0.02), hidden("snips", 0.46, 0.05)],
        BETTER,
        SOUND,
        IPM,
        (0.41, 0.51),
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
        [one("auto", 0.45, 0.03, assumes=ITEMS, held_to="snips", holds=frozenset())],
        BETTER,
        SOUND,
        "auto",
        (0.42, 0.48),
    ),
    "it holds what assumes something": (
        [one("auto", 0.45, 0.03, assumes=ITEMS, held_to="rips", holds=assumed("rips"))],
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
    found = judged(replace(candidate, found=replace(candidate.estimate, difference=away)))
    assert (found.decision, found.trust) == (decision, SOUND)


@pytest.mark.parametrize("shift", [-0.3, -0.2, -0.1, -0.05, 0.0, 0.05, 0.1, 0.2, 0.3])
@pytest.mark.parametrize("half", [0.09, 0.11, 0.3])
def test_who_answers_does_not_depend_on_what_is_found(shift: float, half: float) -> None:
    """Of the same widths the same estimator answers, wherever the values are."""
    found = judged(one("ips", 0.4 + shift, half), one(IPM, 0.4 - shift, 0.02), one(INTERPOL, 0.4, 0.01))
    assert found.estimator == ("ips" if half < 0.1 else IPM)


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


def test_what_no_log_can_tell_is_named() -> None:
    usual = ["every-click-logged", "rows-kept-blindly", "same-users", "target-from-elsewhere", "no-interference"]
    for needed in (False, True):
        usual = ["propensities-as-drawn"] * needed + usual
        found = judged(replace(one("ips", 0.5, 0.05), requires_logging=needed))
        assert [one_.code for one_ in found.assumptions] == [*usual, "one-look"]
    assert [one_.code for one_ in judged(one(INTERPOL, 0.5, 0.05)).assumptions] == [*usual, "right-curve", "one-look"]
    assert judged(one("ips", 0.5, 0.05, SERIOUS)).assumptions == ()
    kept = judged(one("ips", 0.5, 0.05), tested=frozenset({ROWS_KEPT})).assumptions
    assert [one_.code for one_ in kept] == [*(code for code in usual if code != "rows-kept-blindly"), "one-look"]


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
    candidate = replace(open_ended, found=replace(open_ended.estimate, low=ends[0], high=ends[1]))
    found = judged(candidate)
    assert found.trust == NONE
    assert [reason.code for reason in found.reasons] == ["no-interval"]


def test_what_is_wrong_with_the_log_binds_what_asks_how_it_was_drawn() -> None:
    wrong = caution("serious", "propensity-mismatch")
    pair = one("ips", 0.5, 0.05), one("pbm", 0.45, 0.01, requires_logging=False)
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
    refused = EstimateRow("ips", "ips", frozenset(), NoOverlapError("never", "log more"))
    assert [(reason.code, reason.estimators) for reason in judged(refused).reasons] == [("no-overlap", ("ips",))]
    assert judged(refused, one("snips", 0.5, 0.01)).trust == SOUND


def test_care_names_the_assumption_and_what_assumes_less_says() -> None:
    found = judged(one("ips", 0.5, 0.11), one(IPM, 0.45, 0.01))
    assert [reason.code for reason in found.reasons] == ["assumed"]
    assert found.reasons[0].message == (
        "`ipm` assumes that a click depends on its own item and rank only. "
        "`ips`, which assumes nothing about users, says 0.5000 (0.3900 to 0.6100)."
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
    assert found.decision == UNKNOWN
    assert (found.trust, found.target, [reason.code for reason in found.reasons]) == (trust, "the log", codes)
