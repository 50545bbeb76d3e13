"""How what is said is judged."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace as Any

import pytest

from benchmarks.trust import most_frequent
from benchmarks.trust_worlds.world import NONE, SOUND, WORLDS, Outcome, Share, World, judged, outcome

WORLD = replace(WORLDS["Plackett-Luce, 1 slot"], causes=frozenset({"mean-weight"}))
ERROR = 0.01


def said(trust: str, *codes: str, value: Any | None = None, world: World = WORLD, **verdict: object) -> Outcome:
    """A result whose verdict rests on these findings, judged."""
    reasons = [Any(code=code) for code in codes]
    known = {"estimator": "", "decision": "unknown", "logged": None} | verdict
    found = Any(trust=trust, reasons=reasons, value=value, **known)
    return judged(world, Any(verdict=found, findings=[Any(code="ties", severity="note")]))


def around(value: float, half: float = 1.959964 * ERROR) -> Any:
    """A value with its interval, by default of standard error ERROR."""
    return Any(value=value, low=value - half, high=value + half)


@pytest.mark.parametrize(
    ("errors", "held", "off"), [(1.95, True, False), (1.97, False, False), (2.99, False, False), (3.01, False, True)]
)
@pytest.mark.parametrize("side", [-1, 1])
def test_the_error_is_told_in_standard_errors(errors: float, held: bool, off: bool, side: int) -> None:
    found = said(SOUND, value=around(WORLD.truth + side * errors * ERROR))
    assert (found.held, found.off) == (held, off)


def test_no_number_is_neither_right_nor_wrong() -> None:
    assert said(NONE, "mean-weight", "low-ess") == Outcome(NONE, "mean-weight", right=True)


def test_only_the_first_cause_counts() -> None:
    assert not said(NONE, "low-ess", "mean-weight").right
    assert said(NONE) == Outcome(NONE, "ties", right=False)
    assert said(NONE, world=replace(WORLD, causes=frozenset({"ties"}))).right


def test_an_answer_that_is_not_harmed_is_spared() -> None:
    world = replace(WORLD, spared=frozenset({"ips"}))
    assert said(SOUND, value=around(WORLD.truth), estimator="ips", world=world).spared
    assert not said(SOUND, value=around(WORLD.truth), estimator="ipm", world=world).spared
    assert not said(NONE, "low-ess", world=world).spared


def test_shares() -> None:
    assert str(Share.that([1, 0, 0, 0])) == "25 %"
    assert str(Share.that([])) == ""
    assert most_frequent([Outcome(NONE, code, right=False) for code in ("a", "b", "b")]) == "b"


def test_a_log_that_is_refused_is_not_to_be_used() -> None:
    world = WORLDS["whole slates of a far target"]
    found = outcome(world, 1000, 0)
    assert (found.trust, found.first, found.right) == (NONE, "no-overlap", True)


@pytest.mark.parametrize(
    ("decision", "side", "astray"),
    [("better", -1, True), ("better", 1, False), ("worse", 1, True), ("worse", -1, False), ("unknown", -1, False)],
)
def test_a_decision_is_wrong_where_the_truth_lies_on_the_other_side(decision: str, side: int, astray: bool) -> None:
    logged = around(WORLD.truth - side * 0.2, 0.1)
    found = said(SOUND, value=around(WORLD.truth), estimator="ips", decision=decision, logged=logged)
    assert (found.decided, found.astray) == (decision != "unknown", astray)
