"""The least assuming estimate that decides, in an interval that what assumes less allows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from offrank import Caution, Estimate
from offrank.estimators.named import ESTIMATORS, estimator
from offrank.estimators.wrappers import bare
from offrank.findings.assumptions import in_words
from offrank.findings.verdict import Candidate, Verdict, on_log, verdict
from offrank.folds.estimate import Interval

LOG = Interval(0.40, 0.39, 0.41, 0.005)


def estimate(value: float, half: float, *warnings: Caution, away: float | None = None) -> Estimate:
    """An estimate +- half; the difference to the log has the half-width `away`, else the same."""
    around = half if away is None else away
    difference = Interval(value - 0.4, value - 0.4 - around, value - 0.4 + around, around / 2)
    return Estimate(
        value, value - half, value + half, half / 2, 5000, 900.0, 1.0, 0.01, difference=difference, warnings=warnings
    )


def caution(severity: Any, code: str = "low-ess") -> Caution:
    return Caution(code, severity, f"Statement of {code}.", "Do.")


def assumed(name: str) -> frozenset[str]:
    return bare(estimator(name)).assumptions


def one(name: str, value: float, half: float, *warnings: Caution, **fields: Any) -> Candidate:
    """A candidate of a named estimator."""
    assumes = fields.pop("assumes", None) or assumed(name)
    change = value / 0.4 - 1
    relative = Interval(change, change - half / 0.4, change + half / 0.4, half / 0.8)
    return Candidate(name, assumes, estimate(value, half, *warnings), LOG, relative, **fields)


def judged(*candidates: Candidate, about_log: Sequence[Caution] = (), **fields: Any) -> Verdict:
    found = verdict("t", candidates, about_log, **fields)
    assert found is not None
    return found


def hidden(name: str, value: float, half: float, *warnings: Caution, **fields: Any) -> Candidate:
    return one(name, value, half, *warnings, asked=False, **fields)


WARNING, SERIOUS, NOTE = (caution(severity) for severity in ("warning", "serious", "note"))
IPM, INTERPOL = "ipm", "interpol(window=2, examination=[1, 0.5, 0.3])"

CASES: dict[str, tuple[list[Candidate], str, str | None, tuple[float, float] | None]] = {
    # what assumes nothing and decides
    "decides above": ([one("ips", 0.5, 0.09), one(IPM, 0.45, 0.01)], "use", "ips", (0.41, 0.59)),
    "decides below": ([one("ips", 0.3, 0.09), one(IPM, 0.35, 0.01)], "use", "ips", (0.21, 0.39)),
    # it touches zero: what assumes more decides, in an interval that is stretched to hold 0.5
    "just not": ([one("ips", 0.5, 0.1), one(IPM, 0.45, 0.01)], "use with care", IPM, (0.44, 0.51)),
    "stretched downwards": ([one("ips", 0.42, 0.1), one(IPM, 0.45, 0.01)], "use with care", IPM, (0.41, 0.46)),
    # stretched to 0.41 - 0.01 it does not decide any more, and nobody does
    "stretched too far": ([one("ips", 0.41, 0.1), one(IPM, 0.45, 0.01)], "use", "ips", (0.31, 0.51)),
    "the next decides": (
        [one("ips", 0.42, 0.1), one(IPM, 0.45, 0.03), one(INTERPOL, 0.46, 0.01)],
        "use with care",
        INTERPOL,
        (0.41, 0.47),
    ),
    "the order is that of assumptions": (
        [one(INTERPOL, 0.46, 0.01), one("rips", 0.47, 0.01), one("ips", 0.42, 0.1), one(IPM, 0.45, 0.01)],
        "use with care",
        "rips",
        (0.41, 0.48),
    ),
    # of equal assumptions the one without a warning, then the surer one
    "the surer one": ([one("ips", 0.5, 0.09), one("snips", 0.5, 0.08)], "use", "snips", (0.42, 0.58)),
    "the unwarned one": ([one("ips", 0.5, 0.09), one("snips", 0.5, 0.08, WARNING)], "use", "ips", (0.41, 0.59)),
    "a note is no warning": ([one("ips", 0.5, 0.09, NOTE)], "use", "ips", (0.41, 0.59)),
    "a warning is care": ([one("ips", 0.5, 0.09, WARNING)], "use with care", "ips", (0.41, 0.59)),
    "a serious one is left out": ([one("ips", 0.5, 0.09, SERIOUS), one(IPM, 0.5, 0.05)], "use with care", IPM, None),
    "nothing sound": ([one("ips", 0.5, 0.09, SERIOUS)], "do not use", None, None),
    # assumptions that nothing checks
    "unchecked": ([one(IPM, 0.45, 0.01)], "use with care", IPM, (0.44, 0.46)),
    "checked by a reference": ([one(IPM, 0.45, 0.01), hidden("snips", 0.46, 0.05)], "use", IPM, (0.41, 0.51)),
    "the reference leaves it open": (
        [one(IPM, 0.45, 0.01), hidden("snips", 0.46, 0.06)],
        "use with care",
        IPM,
        (0.44, 0.47),
    ),
    "a warned reference checks nothing": (
        [one(IPM, 0.45, 0.01), hidden("snips", 0.46, 0.05, WARNING)],
        "use with care",
        IPM,
        (0.44, 0.46),
    ),
    "a reference that assumes something": (
        [one(IPM, 0.45, 0.01), hidden("rips", 0.46, 0.05)],
        "use with care",
        IPM,
        (0.41, 0.51),
    ),
    "of two references the one that assumes less": (
        [one(IPM, 0.45, 0.01), hidden("rips", 0.46, 0.02), hidden("snips", 0.46, 0.05)],
        "use",
        IPM,
        (0.41, 0.51),
    ),
    "a reference that assumes something else": (
        [one("pi", 0.45, 0.01), hidden("rips", 0.46, 0.05)],
        "use with care",
        "pi",
        (0.44, 0.46),
    ),
    "a reference never answers": (
        [one(IPM, 0.45, 0.01, SERIOUS), hidden("snips", 0.5, 0.05)],
        "do not use",
        None,
        None,
    ),
    "of another outcome nothing is checked": (
        [one(IPM, 0.45, 0.01, outcome="clicks"), hidden("snips", 0.46, 0.05)],
        "use with care",
        IPM,
        (0.44, 0.46),
    ),
    "clipped": ([one("clip(ips, 10)", 0.45, 0.01)], "use with care", "clip(ips, 10)", (0.44, 0.46)),
    "clipped and checked": (
        [one("clip(ips, 10)", 0.45, 0.01), hidden("snips", 0.46, 0.05)],
        "use",
        "clip(ips, 10)",
        (0.41, 0.51),
    ),
    "the reward is asked before clicks": (
        [one(IPM, 0.45, 0.01, outcome="clicks"), one("pi", 0.5, 0.05)],
        "use with care",
        "pi",
        (0.45, 0.55),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_rule(case: str) -> None:
    candidates, word, name, ends = CASES[case]
    for order in (candidates, candidates[::-1]):
        found = judged(*order)
        assert (found.word, found.estimator) == (word, name)
        assert found.usable is (word != "do not use")
        assert (found.word == "use") is not bool(found.reasons)
        if ends is not None:
            assert found.value is not None
            assert (found.value.low, found.value.high) == pytest.approx(ends)


def test_all_numbers_are_widened_alike() -> None:
    found = judged(one("ips", 0.5, 0.1), one(IPM, 0.45, 0.01))
    assert found.value is not None
    assert found.difference is not None
    assert found.relative is not None
    assert (found.value.value, found.value.low, found.value.high) == pytest.approx((0.45, 0.44, 0.51))
    assert (found.difference.low, found.difference.high) == pytest.approx((0.04, 0.11))
    # 0.45 / 0.4 - 1 = 0.125, and 0.5 / 0.4 - 1 = 0.25; 0.01 of 0.4 is 0.025
    assert (found.relative.low, found.relative.high) == pytest.approx((0.1, 0.275))
    assert (found.anchor_name, found.spans) == ("ips", False)
    assert found.logged == LOG


@pytest.mark.parametrize("ends", [(0.44, math.inf), (-math.inf, 0.46)])
def test_without_an_interval_there_is_no_answer(ends: tuple[float, float]) -> None:
    open_ended = one("ips", 0.45, 0.01)
    assert open_ended.estimate is not None
    candidate = replace(open_ended, estimate=replace(open_ended.estimate, low=ends[0], high=ends[1]))
    found = judged(candidate)
    assert found.word == "do not use"
    assert [reason.code for reason in found.reasons] == ["no-interval"]


def test_what_is_wrong_with_the_log_binds_what_asks_how_it_was_drawn() -> None:
    wrong = caution("serious", "propensity-mismatch")
    pair = one("ips", 0.5, 0.05), one("pbm", 0.45, 0.01, requires_logging=False)
    assert judged(pair[0], about_log=[wrong]).word == "do not use"
    assert judged(pair[0], about_log=[replace(wrong, severity="warning")]).word == "use with care"
    assert judged(pair[0], about_log=[replace(wrong, severity="note")]).word == "use"
    found = judged(*pair, about_log=[wrong])
    assert (found.word, found.estimator) == ("use with care", "pbm")
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
    refused = Candidate("ips", frozenset(), None, refusal=Caution("no-overlap", "serious", "Never.", "Log more."))
    found = judged(refused)
    assert [(reason.code, reason.estimators) for reason in found.reasons] == [("no-overlap", ("ips",))]
    assert judged(refused, one("snips", 0.5, 0.01)).word == "use"


def test_care_names_the_assumption_and_what_assumes_less_says() -> None:
    found = judged(one("ips", 0.5, 0.1), one(IPM, 0.45, 0.01))
    assert [reason.code for reason in found.reasons] == ["assumed"]
    assert found.reasons[0].message == (
        "`ipm` assumes that a click depends on its own item and rank only. "
        "`ips`, which assumes nothing of users, says 0.5 (0.4 to 0.6)."
    )
    assert "No sound estimate that assumes less could check that." in judged(one(IPM, 0.45, 0.01)).reasons[0].message


def test_only_what_was_logged_was_asked() -> None:
    assert verdict("t", []) is None
    assert verdict("t", [hidden("ips", 0.5, 0.1)]) is None


@pytest.mark.parametrize(
    ("severities", "word", "codes"),
    [
        ([], "use", []),
        (["note"], "use", []),
        (["note", "warning"], "use with care", ["c1"]),
        (["warning", "serious", "serious"], "do not use", ["c1", "c2"]),
        (["serious"] * 5, "do not use", ["c0", "c1", "c2"]),
    ],
)
def test_a_log_is_as_good_as_the_worst_that_was_found(severities: list[str], word: str, codes: list[str]) -> None:
    found = on_log([caution(severity, f"c{place}") for place, severity in enumerate(severities)])
    assert (found.word, found.target, [reason.code for reason in found.reasons]) == (word, "the log", codes)


@pytest.mark.parametrize(
    ("less", "more"),
    [
        ("ips", "rips"),
        ("ips", "pi"),
        ("rips", "ipm"),
        ("pi", "ipm"),
        ("ipm", "interpol(window=1)"),
        ("interpol(window=1)", "interpol(window=2)"),
        ("interpol(window=9)", "pbm"),
        ("interpol(window=5000)", "pbm"),
        ("ips", "clip(ips, 3)"),
        ("ipm", "clip(snipm, 3)"),
    ],
)
def test_what_assumes_more(less: str, more: str) -> None:
    assert assumed(less) < assumed(more)


@pytest.mark.parametrize(("one_name", "other"), [("rips", "pi"), ("clip(ips, 3)", "rips"), ("logged", "pbm")])
def test_what_assumes_something_else(one_name: str, other: str) -> None:
    assert not assumed(one_name) <= assumed(other)
    assert not assumed(other) <= assumed(one_name)


@pytest.mark.parametrize(("one_name", "other"), [("ipm", "interpol(window=0)"), ("ips", "snips"), ("pi", "wpi")])
def test_what_assumes_the_same(one_name: str, other: str) -> None:
    assert assumed(one_name) == assumed(other)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("ips", "nothing of users"),
        ("rips", "users read from the top"),
        ("pi", "a slate's reward is a sum over its items"),
        ("ipm", "a click depends on its own item and rank only"),
        (
            "interpol(window=1)",
            "a click depends on its own item and rank only and the examination curve is right within 1 rank",
        ),
        (
            "interpol(window=3)",
            "a click depends on its own item and rank only and the examination curve is right within 3 ranks",
        ),
        ("pbm", "a click depends on its own item and rank only and the examination curve is right at every rank"),
    ],
)
def test_assumptions_in_words(name: str, words: str) -> None:
    assert in_words(assumed(name)) == words


def test_every_estimator_says_what_it_assumes() -> None:
    arguments = dict.fromkeys(("clip", "switch", "shrink"), "(ips, 10)") | {"controlled": "(ips)"}
    arguments |= dict.fromkeys(("interpol", "sninterpol"), "(window=2)")
    for name in sorted(set(ESTIMATORS) - {"direct", "dr"}):  # these need a model
        found = assumed(name + arguments.get(name, ""))
        assert isinstance(found, frozenset)
        assert bool(found) is (name not in {"ips", "snips", "controlled"})
        assert in_words(found)
