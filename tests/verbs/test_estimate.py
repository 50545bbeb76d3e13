"""`estimate`: the numbers of `evaluate`, to the last bit, and the words that nothing was checked."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import offrank
from offrank.errors import ColumnError, EmptyLogError, NoOverlapError, RowError, UsageError
from offrank.estimators import ESTIMATORS as NAMED
from offrank.estimators import JudgedClicks
from offrank.simulation import SearchWorld

LOG = SearchWorld(impressions=1500, queries=30, candidates=4, slots=3, seed=5).table(1500, 0)
LOGGING = "plackett_luce(old_score)"
TARGETS = {"new": "top(new_score)", "old": "top(old_score)"}
ESTIMATORS = ["ips", "snips", "controlled(ips)", "rips", "ipm", "snipm", "clip(snips, 5)", "interpol(window=1)", "pi"]
OTHERS: list[Any] = ["snrips", "wpi", "sninterpol(window=1)", "pbm", "switch(ips, 9)", "shrink(snips, 20)", "logged"]
OTHERS += ["direct(column=new_score)", "dr(column=old_score, residual=ipm)", "weights(pbm)"]
PAIRS = {(row["query"], item) for row in LOG.to_pylist() for item in row["candidates"]}
OTHERS += [JudgedClicks([{"query": query, "item": item, "grade": item % 3} for query, item in sorted(PAIRS)])]
NUMBERS = ("value", "low", "high", "standard_error", "n", "ess", "difference", "cluster", "chosen")


def test_every_estimator_is_compared_with_evaluate() -> None:
    assert {str(one).partition("(")[0] for one in [*ESTIMATORS, *OTHERS]} == {*NAMED}


@pytest.mark.parametrize(
    "asked",
    [
        {"estimators": [*ESTIMATORS, *OTHERS]},
        {"cluster": "none"},
        {"cluster": "query", "interval": "bootstrap", "replicates": 30},
        {"interval": "normal", "confidence": 0.8, "by": "device"},
        {"interval": "bernstein", "cluster": "none"},
    ],
    ids=repr,
)
def test_numbers_are_those_of_evaluate(asked: dict[str, object]) -> None:
    given: dict[str, Any] = {"estimators": ESTIMATORS, "examination": [1, 0.5, 0.3], **asked}
    whole = offrank.evaluate(LOG, TARGETS, LOGGING, **given)
    found = offrank.estimate(LOG, TARGETS, LOGGING, **given)
    assert set(found) == set(whole)
    parts = [(found.estimates, whole.estimates), *((found.groups[name], whole.groups[name]) for name in whole.groups)]
    assert len(parts) == (3 if "by" in asked else 1)
    for some, others in parts:
        for key, one in some.given.items():
            for name in NUMBERS:
                assert repr(getattr(one, name)) == repr(getattr(others[key], name)), (key, name)


@pytest.mark.parametrize("chosen", ["interpol(window=slope)", "clip(ips, auto)", "auto"])
def test_what_the_data_choose_is_what_evaluate_chooses(chosen: str) -> None:
    asked = (LOG, "top(new_score)", LOGGING, chosen)
    one, other = (
        offrank.estimate(*asked, examination=[1, 0.5, 0.3]),
        offrank.evaluate(*asked, examination=[1, 0.5, 0.3]),
    )
    (mine,), (theirs,) = one.values(), other.values()
    assert (mine.chosen, mine.value, mine.low, mine.high) == (theirs.chosen, theirs.value, theirs.low, theirs.high)
    assert not mine.checked
    assert mine.warnings == ()


def test_a_control_gives_the_same() -> None:
    past = np.random.default_rng(1).random(LOG.num_rows)
    asked = (LOG.append_column("past", pa.array(past)), "top(new_score)", LOGGING, "snips")
    one, other = (verb(*asked, control="past")["snips"] for verb in (offrank.estimate, offrank.evaluate))
    assert (one.value, one.low, one.high) == (other.value, other.low, other.high)


def test_numbers_say_everywhere_that_nothing_was_checked() -> None:
    found = offrank.estimate(LOG, TARGETS, LOGGING, "snips")
    said = "the log was not checked"
    assert said in repr(found)
    assert said in str(found)
    assert said in found._repr_html_()
    written = json.loads(found.to_json())
    assert written["checked"] is False
    assert said in written["message"]
    assert [row["checked"] for row in written["estimates"]] == [False, False]
    assert found.to_arrow().column("checked").to_pylist() == [False, False]
    for one in found.values():
        assert not one.checked
        assert not one.trustworthy
        assert "checked=False" in repr(one)


def test_a_checked_estimate_is_trustworthy() -> None:
    one = offrank.evaluate(LOG, "uniform", LOGGING, "snips")["snips"]
    assert one.checked
    assert one.trustworthy


def test_a_broken_rule_is_still_an_error() -> None:
    clicks = [[1, 0], *LOG.column("clicks").to_pylist()[1:]]
    broken = LOG.set_column(LOG.schema.get_field_index("clicks"), "clicks", pa.array(clicks))
    with pytest.raises(RowError, match="row 0"):
        offrank.estimate(broken, "uniform", LOGGING)


def test_no_overlap_and_no_rows_are_errors() -> None:
    shown = pa.table({"slate": [[1, 2]] * 9, "candidates": [[1, 2]] * 9, "clicks": [[0, 1]] * 9, "new": [[0.0, 1]] * 9})
    with pytest.raises(NoOverlapError):
        offrank.estimate(shown.append_column("old", pa.array([[1.0, 0.5]] * 9)), "top(new)", "top(old)", "ips")
    with pytest.raises(EmptyLogError):
        offrank.estimate(LOG.slice(0, 0), "uniform", LOGGING)


def test_wrong_arguments_are_told() -> None:
    with pytest.raises(UsageError, match="no target"):
        offrank.estimate(LOG, [], LOGGING)
    with pytest.raises(TypeError, match=r"estimate\(\)"):
        offrank.estimate(LOG, "uniform", LOGGING, totals={"all": 3})


@pytest.mark.parametrize("verb", [offrank.estimate, offrank.evaluate])
def test_a_target_whose_column_is_missing_is_refused_whatever_is_estimated(verb: Any) -> None:
    for estimators in ("logged", "snips"):
        with pytest.raises(ColumnError, match="nwe_score"):
            verb(LOG, "top(nwe_score)", LOGGING, estimators)
