"""What is decided, how far it is trusted, and what a gate lets pass: at public names only."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import offrank
from offrank.errors import UsageError

LOGGING = "uniform"
ITEMS = 3


def log(rows: int, seed: int = 0, rates: tuple[float, ...] = (0.2, 0.4, 0.6)) -> pa.Table:
    """One slot, drawn uniformly of three items, which are clicked at these rates; a column ranks each of them first."""
    rng = np.random.default_rng(seed)
    slate = rng.integers(ITEMS, size=rows)
    clicks = (rng.random(rows) < np.array(rates)[slate]).astype(float)
    scores = {f"likes_{item}": [[float(one == item) for one in range(ITEMS)]] * rows for item in range(ITEMS)}
    table = {"slate": slate[:, None].tolist(), "clicks": clicks[:, None].tolist()}
    return pa.table({**table, "candidates": [list(range(ITEMS))] * rows, **scores})


def judged(rows: int, target: str, **how: Any) -> offrank.Result:
    return offrank.evaluate(log(rows), target, LOGGING, **how)


@pytest.mark.parametrize(
    ("target", "decision", "truth"),
    [("top(likes_2)", "better", 0.6), ("top(likes_0)", "worse", 0.2), ("top(likes_1)", "no clear difference", 0.4)],
)
def test_a_decision_is_that_of_the_truth(target: str, decision: str, truth: float) -> None:
    found = judged(3000, target).verdict
    assert (found.decision, found.trust) == (decision, "sound")
    assert found.value is not None
    assert found.value.low < truth < found.value.high


def test_what_is_said_begins_with_the_decision() -> None:
    found = judged(3000, "top(likes_0)")
    assert str(found).split("\n\n")[1].startswith("Worse: -")
    row = found.to_dict()["verdicts"]["top(likes_0)"]
    assert (row["decision"], row["trust"]) == ("worse", "sound")
    assert "word" not in row
    assert [one["concerns"] for one in row["assumptions"]] == ["change", "level", "level"]
    assert list(row).index("relative_change") < list(row).index("difference") < list(row).index("value")
    with pytest.raises(AttributeError, match="decision"):
        _ = found.verdict.word


def test_no_trust_no_decision_and_no_number() -> None:
    found = judged(40, "top(likes_2)").verdict
    assert (found.decision, found.trust) == ("unknown", "none")
    assert (found.value, found.difference, found.relative) == (None, None, None)
    assert found.reasons


@pytest.mark.parametrize(
    ("target", "better", "within"),
    [("top(likes_2)", True, True), ("top(likes_1)", False, False), ("top(likes_0)", False, False)],
)
def test_a_gate_lets_pass_what_is_decided(target: str, better: bool, within: bool) -> None:
    found = judged(3000, target)
    assert (found.meets("better"), found.meets("not-worse", margin="1%")) == (better, within)


def test_not_worse_looks_at_the_low_end_and_not_at_the_decision() -> None:
    found = judged(3000, "top(likes_1)")
    assert (found.verdict.decision, found.verdict.trust) == ("no clear difference", "sound")
    low, share = -found.verdict.difference.low, -found.verdict.relative.low
    assert 0 < low != share > 0
    assert not found.meets("not-worse", margin=low)  # at the margin is not above it
    assert found.meets("not-worse", margin=np.nextafter(low, 1))
    assert found.meets("not-worse", margin=repr(float(np.nextafter(low, 1))))
    assert not found.meets("not-worse", margin=f"{100 * share - 1e-9:.12f}%")
    assert found.meets("not-worse", margin=f"{100 * share + 1e-9:.12f}%")
    compared = offrank.compare(log(3000), "top(likes_1)", LOGGING)
    assert compared.meets("not-worse", margin=np.nextafter(-compared.comparisons[0].verdict.difference.low, 1))
    assert not compared.meets("not-worse", margin=-compared.comparisons[0].verdict.difference.low)


def test_a_ranker_that_is_worse_by_less_than_the_margin_passes() -> None:
    found = judged(6000, "top(likes_0)")
    assert found.verdict.decision == "worse"
    assert found.meets("not-worse", margin=1.01 * -found.verdict.difference.low)


@pytest.mark.parametrize("margin", [0, -0.01, math.nan, math.inf, True, "100%", "-1%", "%", "", "1 in 100", [0.1]])
def test_what_is_no_margin(margin: Any) -> None:
    with pytest.raises(UsageError, match="is no margin"):
        judged(40, "top(likes_2)").meets("not-worse", margin=margin)


def test_a_margin_is_for_not_worse_alone_which_needs_one() -> None:
    with pytest.raises(UsageError, match="needs a margin"):
        judged(40, "top(likes_2)").meets("not-worse")
    with pytest.raises(UsageError, match="takes no margin"):
        judged(40, "top(likes_2)").meets("better", margin="1%")


def test_a_gate_asks_for_sound_trust_and_for_every_target() -> None:
    assert not judged(40, "top(likes_2)").meets("not-worse", margin="99%")
    several = offrank.evaluate(log(3000), {"good": "top(likes_2)", "bad": "top(likes_0)"}, LOGGING)
    assert not several.meets("better")
    careful = offrank.evaluate(log(3000), "top(likes_2)", "unconfirmed(uniform, departure=0.1)")
    assert (careful.verdict.decision, careful.verdict.trust) == ("better", "with care")
    assert not careful.meets("better")
    with pytest.raises(UsageError, match="cannot be required"):
        careful.meets("best")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("targets", "baseline", "winner"),
    [
        ({"good": "top(likes_2)", "fair": "top(likes_1)", "bad": "top(likes_0)"}, "fair", "good"),
        ({"good": "top(likes_2)", "fair": "top(likes_1)", "bad": "top(likes_0)"}, "good", "good"),
        ({"fair": "top(likes_1)", "bad": "top(likes_0)"}, "bad", "fair"),
        ({"fair": "top(likes_1)", "same": "uniform"}, "fair", None),  # uniform earns the mean of all: as much
        ({"good": "top(likes_2)", "twin": "top(likes_2)", "bad": "top(likes_0)"}, "bad", None),
        ({"bad": "top(likes_0)"}, "logged", "logged"),
    ],
)
def test_a_comparison_names_who_earns_more_than_all_others(targets: Any, baseline: str, winner: str | None) -> None:
    found = offrank.compare(log(6000), targets, LOGGING, baseline=baseline)
    assert found.winner == winner
    document = found.to_dict()
    assert document["winner"] == winner
    assert str(found).split("\n\n")[1].startswith("No winner." if winner is None else "Winner: ")
    for one in document["comparisons"]:
        assert one["decision"] in ("better", "worse", "no clear difference")


@pytest.mark.turns(3)
@pytest.mark.parametrize("baseline", ["good", "fair", "bad", "logged"])
def test_the_winner_is_that_of_the_intervals_that_are_shown(baseline: str) -> None:
    """At any level: the baseline wins if and only if all say worse, a target if its own, and of two targets, say so."""
    targets = {"good": "top(likes_2)", "fair": "top(likes_1)", "bad": "top(likes_0)"}
    found = offrank.evaluate(log(600), targets, LOGGING, "snips")
    others = [one for one in (*targets, "logged") if one not in (baseline, "logged")]
    named = set()
    for confidence in 1 - np.geomspace(0.9, 1e-12, 16):
        compared = found.at(float(confidence)).comparing(baseline)
        each = {one.target: one.verdict.decision for one in compared.comparisons}
        assert (compared.winner == baseline) is all(one == "worse" for one in each.values())
        pairs = found.at(1 - (1 - float(confidence)) / len(others))
        beats = [
            one
            for one in others
            if each[one] == "better"
            and all(each[other] == "worse" or pairs.difference(one, other).low > 0 for other in others if other != one)
        ]
        assert ([compared.winner] if compared.winner in others else []) == beats
        named.add(compared.winner)
    assert named == {None, "good"}


def test_a_winner_of_comparisons_with_care_is_named_with_care() -> None:
    targets, drawn = {"good": "top(likes_2)", "bad": "top(likes_0)"}, "unconfirmed(uniform, departure=0.1)"
    careful = offrank.compare(log(6000), targets, drawn, baseline="bad")
    assert str(careful).split("\n\n")[1].startswith("Winner: good. It earns more than bad. With care: read")
    assert "With care" not in str(offrank.compare(log(6000), targets, LOGGING, baseline="bad"))


def test_slates_alone_are_no_contexts() -> None:
    """Without candidates a row's own slate is all that is known of its context: it cannot repeat itself too often."""
    rng, rows = np.random.default_rng(3), 4000
    chance = rng.uniform(0.2, 0.8, rows)
    shown = rng.random(rows) < chance
    table = {"slate": shown.astype(int)[:, None].tolist(), "clicks": (rng.random(rows) < 0.3)[:, None].tolist()}
    log_of_two = pa.table({**table, "propensity": np.where(shown, chance, 1 - chance), "new": shown.astype(float)})
    found = offrank.evaluate(log_of_two, "written(slate=new)", "logged", "snips")
    assert "not-random" not in {one.code for one in found.about_log}
