"""Estimators that assume more are held against those that assume less, asked for or not."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import offrank
from offrank import findings
from offrank.estimators import Interpol
from offrank.findings.assumptions import DisagreementEvidence
from offrank.findings.row import Row
from offrank.simulation import SearchWorld
from offrank.sums.estimate import Interval
from tests.verbs.logs import coins

ESTIMATORS = ("ips", "snips", "rips", "ipm", "interpol(window=1)", "sninterpol(window=3)", "clip(ips, 2)", "logged")
LOGGING, TARGET = "plackett_luce(old_score)", "top(new_score)"


@pytest.fixture(scope="module")
def world() -> SearchWorld:
    return SearchWorld(impressions=60_000, queries=50)


@pytest.fixture(scope="module")
def log(world: SearchWorld) -> pa.Table:
    return world.table(world.impressions, 0)


def _codes(result: offrank.Result, name: str) -> list[str]:
    return [caution.code for caution in result[name].warnings]


def test_where_the_examination_is_right_nobody_disagrees(world: SearchWorld, log: pa.Table) -> None:
    result = offrank.evaluate(log, TARGET, LOGGING, ESTIMATORS, examination=world.examination)
    assert [name for name in ESTIMATORS if "disagreement" in _codes(result, name)] == []


def test_a_wrong_examination_is_contradicted_by_what_needs_none(world: SearchWorld, log: pa.Table) -> None:
    result = offrank.evaluate(log, TARGET, LOGGING, ESTIMATORS, examination=world.examination**3)
    wrong = ["interpol(window=1)", "sninterpol(window=3)"]
    assert [name for name in ESTIMATORS if "disagreement" in _codes(result, name)] == wrong
    assert not result["sninterpol(window=3)"].trustworthy
    assert result.verdict.estimator in {"ips", "snips", "rips", "ipm"}
    assert result.verdict.value is not None
    assert result.verdict.value.low <= world.truth(offrank.Top("new_score")) <= result.verdict.value.high


def test_one_alone_is_held_against_what_nobody_asked_for(world: SearchWorld, log: pa.Table) -> None:
    asked = ["interpol(window=1)"]
    result = offrank.evaluate(log, TARGET, LOGGING, asked, examination=world.examination**3, cluster=None)
    assert "disagreement" in _codes(result, "interpol(window=1)")
    assert (result.verdict.trust, result.verdict.reasons[0].code) == ("none", "disagreement")
    assert list(result) == [(TARGET, "interpol(window=1)")]
    assert [row["estimator"] for row in result.to_dict()["weights"]] == asked
    fine = offrank.evaluate(log, TARGET, LOGGING, asked, examination=world.examination, cluster=None)
    assert "disagreement" not in _codes(fine, "interpol(window=1)")
    assert fine.verdict.anchor_name is not None
    together = offrank.evaluate(log, TARGET, LOGGING, [*asked, "ips"], examination=world.examination, cluster=None)
    for name in ("value", "low", "high", "standard_error", "ess"):
        assert getattr(fine[asked[0]], name) == pytest.approx(getattr(together[asked[0]], name), rel=1e-9)
    assert fine.facts["unit"] == together.facts["unit"]


@pytest.mark.parametrize(("cause", "contradicts"), [("tail", False), ("effective size", True)])
def test_what_may_be_off_by_luck_contradicts_nothing(
    world: SearchWorld, log: pa.Table, monkeypatch: pytest.MonkeyPatch, cause: findings.Cause, contradicts: bool
) -> None:
    doubtful = findings.Statement("warning", "Doubtful.", "Log more.")
    kind = findings.Kind("doubtful", "Doubtful", Row, lambda _: doubtful, (cause,))
    monkeypatch.setattr(findings.FINDINGS, "_parts", {**findings.FINDINGS, "doubtful": kind})
    few, asked = log.slice(0, 20_000), "interpol(window=1)"
    result = offrank.evaluate(few, TARGET, LOGGING, asked, examination=world.examination**3, cluster=None)
    assert "doubtful" in _codes(result, asked)
    assert ("disagreement" in _codes(result, asked)) == contradicts


def test_a_reference_reads_no_column_that_nobody_named_and_refuses_no_row() -> None:
    log = coins(400)
    alone = {"estimators": "pbm", "examination": [1.0]}
    written = offrank.evaluate(log.set_column(4, "propensity", pa.array([-1.0] * 400)), "ranking(best)", **alone)
    assert written.verdict.anchor_name is None
    # Half of the slates are not those of this policy, which `ips` refuses and `pbm` does not ask.
    with pytest.raises(offrank.errors.ImpossibleSlateError):
        offrank.evaluate(log, "ranking(best)", "ranking(best)", "ips")
    never = offrank.evaluate(log, "uniform", "ranking(best)", **alone)
    assert never["pbm"].value == pytest.approx(offrank.evaluate(log, "uniform", "uniform", **alone)["pbm"].value)
    assert never.verdict.anchor_name is None


MORE: dict[str, Any] = {"further": frozenset({"own item and rank"})}


def pair(deviations: float, pairs: int = 1, error_ratio: float = 1.0, width: float = 1.0) -> DisagreementEvidence:
    """Two estimates so many standard errors of their difference apart."""
    apart = Interval(deviations, 0, 0, 1.0)
    return DisagreementEvidence(
        other="ips", difference=apart, width=width, error_ratio=error_ratio, pairs=pairs, **MORE
    )


@pytest.mark.parametrize(
    ("pairs", "below", "above"),
    # Two-sided normal quantiles at 1 - 0.001 / pairs: of one pair 3.2905, of ten 3.8906, of a hundred 4.4172.
    [(1, 3.290, 3.291), (10, 3.890, 3.891), (100, 4.417, 4.418)],
)
def test_one_run_in_a_thousand_however_many_pairs(pairs: int, below: float, above: float) -> None:
    assert findings.cautions_for(pair(below, pairs)) == ()
    assert findings.cautions_for(pair(-below, pairs)) == ()
    for away in (above, -above):
        [caution] = findings.cautions_for(pair(away, pairs))
        assert (caution.code, caution.severity) == ("disagreement", "serious")


def test_an_error_that_is_small_by_luck_contradicts_less() -> None:
    assert findings.cautions_for(pair(2 * 3.290, error_ratio=2.0)) == ()
    assert findings.cautions_for(pair(2 * 3.291, error_ratio=2.0)) != ()


def test_what_differs_by_less_than_a_quarter_of_the_interval_is_left_alone() -> None:
    assert findings.cautions_for(pair(5.0, width=5.0 / 0.25)) == ()
    assert findings.cautions_for(pair(5.0, width=5.0 / 0.2501)) != ()


def test_advice_is_to_believe_only_what_is_sound_and_assumes_nothing() -> None:
    apart: dict[str, Any] = {"difference": Interval(9.0, 0, 0, 1.0), "width": 1.0, **MORE}
    [clear] = findings.cautions_for(DisagreementEvidence(other="ips", **apart))
    assert clear.remedy.endswith("which is wrong here: trust `ips`.")
    [unsound] = findings.cautions_for(DisagreementEvidence(other="ips", other_sound=False, **apart))
    less = frozenset({"reads from the top"})
    [assuming] = findings.cautions_for(DisagreementEvidence(other="rips", other_assumes=less, **apart))
    for caution in (unsound, assuming):
        assert "believe" not in caution.remedy
    assert "users read from the top" in assuming.remedy


def test_clicks_in_reversed_order_are_not_blamed_on_what_assumes_more() -> None:
    world = SearchWorld(impressions=20_000, queries=50, slots=3)
    log = world.table(world.impressions, 0)
    clicks = pa.array([row[::-1] for row in log["clicks"].to_pylist()])
    log = log.set_column(log.column_names.index("clicks"), "clicks", clicks)
    result = offrank.evaluate(log, TARGET, LOGGING, ["rips", "ipm"], cluster=None)
    [caution] = [caution for caution in result["ipm"].warnings if caution.code == "disagreement"]
    assert caution.remedy.endswith("trust `snips`.")
    assert result.verdict.value is not None  # held to the clicks of whole slates, whatever their order
    assert result.verdict.value.low <= world.truth(offrank.Top("new_score")) <= result.verdict.value.high


@pytest.mark.parametrize("asked", [["ips", "snips", "ipm", "interpol(window=1)", "interpol(window=3)"], ["ipm"]])
def test_with_a_curve_that_is_a_little_off_the_answer_does_not_rest_on_it(asked: list[str]) -> None:
    for seed in range(4):
        world = SearchWorld(impressions=5_000, queries=300, seed=seed)
        log = world.table(world.impressions, 0)
        found = offrank.evaluate(log, TARGET, LOGGING, asked, examination=[1, 0.6, 0.45, 0.36], cluster=None).verdict
        assert {found.estimator, found.anchor_name} & {"ips", "snips", "ipm"}  # the interval holds what needs no curve
        assert found.value is not None
        assert found.value.low <= world.truth(offrank.Top("new_score")) <= found.value.high


def test_several_targets_have_a_verdict_each() -> None:
    log = coins(2_000)
    result = offrank.evaluate(log, {"a": "ranking(best)", "b": "uniform"}, "logged", "ips")
    assert list(result.verdicts) == ["a", "b"]
    with pytest.raises(KeyError, match=r"result\.verdicts\[name\], with a name from"):
        _ = result.verdict
    found = result.verdicts["a"]
    assert (found.trust, found.estimator, found.target) == ("sound", "ips", "a")
    assert result.usable
    with pytest.raises(KeyError, match="only the logged ranking"):
        _ = offrank.evaluate(log, "ranking(best)", "logged", "logged").verdict


def test_the_relative_change_has_the_error_of_the_ratio() -> None:
    log = coins(2_000)
    found = offrank.evaluate(log, "ranking(best)", "logged", "ips").difference("ips", "logged", relative=True)
    slate, clicks = log["slate"].to_pylist(), [row[0] for row in log["clicks"].to_pylist()]
    values = [2.0 * click * (item == [1]) for item, click in zip(slate, clicks, strict=True)]
    n, value, mean = len(values), sum(values) / len(values), sum(clicks) / len(clicks)
    # By the jackknife: the ratio without each row.
    left = [(n * value - v) / (n * mean - c) for v, c in zip(values, clicks, strict=True)]
    average = sum(left) / n
    error = ((n - 1) / n * sum((ratio - average) ** 2 for ratio in left)) ** 0.5
    assert found.value == pytest.approx(value / mean - 1)
    assert found.standard_error == pytest.approx(error, rel=2e-3)
    assert found.high - found.low == pytest.approx(2 * 1.96 * error, rel=0.02)
    nothing = coins(200, clicks=[[0]] * 200)
    assert offrank.evaluate(nothing, "ranking(best)", "logged", "ips").verdict.relative is None


def test_what_is_contradicted_itself_contradicts_nothing(world: SearchWorld, log: pa.Table) -> None:
    """Of two windows the narrower assumes less; here its curve is wrong, and that of the wider one is right."""
    narrow = Interpol(window=1, examination=tuple(world.examination**3))
    wide = Interpol(window=3, examination=tuple(world.examination))
    result = offrank.evaluate(log, TARGET, LOGGING, ["snips", narrow, wide], cluster=None)
    contradicted = {name: "disagreement" in _codes(result, name) for _, name in result}
    assert contradicted == {"snips": False, repr(narrow): True, repr(wide): False}
    assert abs(result[repr(narrow)].value - result[repr(wide)].value) > 0.5  # the two could not differ more clearly
    assert result.verdict.usable


def test_of_equally_decisive_contradictions_the_clearest_is_told(world: SearchWorld, log: pa.Table) -> None:
    wrong = "interpol(window=1)"
    asked = ["ips", "snips", wrong]
    for order in (asked, asked[::-1]):
        result = offrank.evaluate(log, TARGET, LOGGING, order, examination=world.examination**3, cluster=None)
        [caution] = [one for one in result[wrong].warnings if one.code == "disagreement"]
        [told] = re.findall(r"differs from `(\w+)`", caution.message)
        away = {one: result.difference((TARGET, wrong), (TARGET, one)).deviation(0.0) for one in ("ips", "snips")}
        assert min(away.values()) > 6  # beyond every threshold of so few pairs: both contradict it
        assert told == max(away, key=lambda one: away[one])


@pytest.mark.parametrize("ties", [False, True])
def test_what_a_log_never_shows_refutes_no_propensity(ties: bool) -> None:
    """It has a known share of a uniform order, whose weights may be one number, or that is counted in a sample."""
    rng = np.random.default_rng(0)
    score = np.repeat([3.0, 2.0, 1.0, 0.0], 2) if ties else np.arange(8.0, 0, -1)
    orders = np.lexsort((rng.random((3000, 8)), np.broadcast_to(-score, (3000, 8))), axis=1)[:, :5]
    if not ties:
        orders[:, :3] = rng.permuted(orders[:, :3], axis=1)
    rows = {"slate": orders.tolist(), "clicks": rng.integers(0, 2, (3000, 5)).tolist()}
    table = pa.table({**rows, "candidates": [[*range(8)]] * 3000, "old": [score.tolist()] * 3000})
    law = "top(old)" if ties else "shuffled(top(old), 3, method=top)"
    targets = ["top(old)", "epsilon(top(old, ascending=True), 0.1)", "uniform"]
    result = offrank.evaluate(table, targets, law, ["snips", "snipm"], cluster=None)
    assert result.verdicts["top(old)"].usable
    assert "mean-weight" not in str(result)
