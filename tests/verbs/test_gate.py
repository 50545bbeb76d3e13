"""The gate of `--require`: the low end against the margin, in shares and in units."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from offrank.findings.gate import Gate
from offrank.findings.verdict import Verdict
from offrank.sums.estimate import Interval

ABSOLUTE, SHARE = Interval(0.5, -0.25, 1.25, 0.375), Interval(0.0625, -0.03125, 0.15625, 0.05)


def said(**changed: object) -> Verdict:
    known = {"decision": "no clear difference", "trust": "sound", "target": "new"}
    return Verdict(**{**known, "difference": ABSOLUTE, "relative": SHARE, **changed})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("margin", "passes"),
    [
        *[(0.25, False), (math.nextafter(0.25, 1), True), ("0.25", False), ("0.2500001", True)],
        *[("3.125%", False), ("3.1250001%", True), (" 3.2 % ", True), (0.0313, False), ("30%", True)],
    ],
)
def test_the_low_end_is_above_minus_the_margin(margin: str | float, passes: bool) -> None:
    assert Gate.of("not-worse", margin).passes(said()) is passes


@pytest.mark.parametrize(
    "changed",
    [{"trust": "with care"}, {"trust": "none", "difference": None, "relative": None}, {"relative": None}],
)
def test_without_sound_trust_or_a_share_nothing_passes(changed: dict[str, object]) -> None:
    assert not Gate.of("not-worse", "99%").passes(said(**changed))


def test_a_share_is_not_needed_for_a_margin_in_units() -> None:
    assert Gate.of("not-worse", 0.5).passes(said(relative=None))


@pytest.mark.parametrize(("decision", "passes"), [("better", True), ("worse", False), ("no clear difference", False)])
def test_better_is_the_decision(decision: str, passes: bool) -> None:
    assert Gate.of("better").passes(said(decision=decision)) is passes


@pytest.mark.parametrize("gate", [Gate.of("better"), Gate.of("not-worse", "99%"), Gate.of("not-worse", 9)])
def test_an_answer_in_clicks_passes_nothing_where_the_log_has_another_reward(gate: Gate) -> None:
    better = said(decision="better", difference=Interval(0.5, 0.25, 0.75, 0.1), outcome="clicks")
    assert not gate.passes(better)
    assert "in clicks, not in the log's reward: ask for an estimator of the reward, such as snips" in gate.said(better)
    reward = replace(better, outcome="reward")
    assert gate.passes(reward)
    assert "clicks" not in gate.said(reward)
