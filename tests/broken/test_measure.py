"""How what is said is judged."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.trust_worlds import WORLDS, World, measure
from benchmarks.trust_worlds.measure import NONE, SOUND, Outcome, Share, Statement, most_frequent, outcome

WORLD = replace(WORLDS["Plackett-Luce, 1 slot"], causes=frozenset({"mean-weight"}))
ERROR = 0.01


def judged(monkeypatch: pytest.MonkeyPatch, said: Statement, world: World = WORLD) -> Outcome:
    monkeypatch.setattr(measure, "said_of", lambda world, rows, seed: said)
    return outcome(world, 1000, 0)


def around(value: float) -> tuple[float, float, float]:
    """A value with its interval of standard error ERROR."""
    return value, value - 1.959964 * ERROR, value + 1.959964 * ERROR


@pytest.mark.parametrize(
    ("errors", "held", "off"), [(1.95, True, False), (1.97, False, False), (2.99, False, False), (3.01, False, True)]
)
@pytest.mark.parametrize("side", [-1, 1])
def test_the_error_is_told_in_standard_errors(
    errors: float, held: bool, off: bool, side: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = judged(monkeypatch, Statement(SOUND, (), around(WORLD.truth + side * errors * ERROR)))
    assert (found.held, found.off) == (held, off)


def test_no_number_is_neither_right_nor_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    found = judged(monkeypatch, Statement(NONE, ("mean-weight", "low-ess")))
    assert found == Outcome(NONE, "mean-weight", right=True)


def test_only_the_first_cause_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not judged(monkeypatch, Statement(NONE, ("low-ess", "mean-weight"))).right
    assert not judged(monkeypatch, Statement(NONE, ())).right


def test_an_answer_that_is_not_harmed_is_spared(monkeypatch: pytest.MonkeyPatch) -> None:
    world = replace(WORLD, spared=frozenset({"ips"}))
    assert judged(monkeypatch, Statement(SOUND, (), around(WORLD.truth), "ips"), world).spared
    assert not judged(monkeypatch, Statement(SOUND, (), around(WORLD.truth), "ipm"), world).spared
    assert not judged(monkeypatch, Statement(NONE, ("low-ess",)), world).spared


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
def test_a_decision_is_wrong_where_the_truth_lies_on_the_other_side(
    decision: str, side: int, astray: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    logged = WORLD.truth - side * 0.2 - 0.1, WORLD.truth - side * 0.2 + 0.1
    said = Statement(SOUND, (), around(WORLD.truth), "ips", decision, logged)
    found = judged(monkeypatch, said)
    assert (found.decided, found.astray) == (decision != "unknown", astray)
