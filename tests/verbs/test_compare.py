"""Is B better than A? Paired differences of a result, other levels of it, and `compare`."""

from __future__ import annotations

import json
import math
import pickle
from functools import cache
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import offrank
from offrank import PlackettLuce, Top
from offrank.errors import NoOverlapError, SupportError, UsageError
from tests.cli.commands import call
from tests.verbs.logs import CURVE, LOGGING, WORLD, coins, search
from tests.verbs.schema import assert_document

CLOSE = {"a": PlackettLuce("new_score"), "b": PlackettLuce("new_score", temperature=0.9)}
Z = NormalDist().inv_cdf(0.975)
SIDES = {"a": "written(slate=a)", "b": "written(slate=b)"}


def close(**options: Any) -> offrank.Result:
    return offrank.evaluate(search(), CLOSE, LOGGING, ["ips", "snips", "snipm"], **options)


@cache
def plain() -> offrank.Result:
    return close(cluster=None)


@cache
def columns(rows: int = 300) -> dict[str, np.ndarray]:
    """Skewed weights of two targets that resemble each other, rewards, kept with unlike probability, in clusters."""
    rng = np.random.default_rng(8)
    a = rng.choice([0.05, 0.2, 0.9], rows, p=[0.6, 0.3, 0.1])
    return {
        "a": a,
        "b": np.minimum(a * rng.uniform(0.7, 1.3, rows), 1.0),
        "propensity": np.full(rows, 0.2),
        "reward": rng.gamma(2.0, size=rows),
        "inclusion": rng.choice([0.25, 1.0], rows),
        "shop": rng.integers(0, 12, rows),
    }


def rows_of(found: dict[str, np.ndarray]) -> pa.Table:
    """The same as a log of one slot."""
    slates = pa.array([[0]] * len(found["a"]))
    return pa.table({"slate": slates, **{name: pa.array(column) for name, column in found.items()}})


def means(found: dict[str, np.ndarray], name: str, keep: Any = slice(None)) -> dict[str, float]:
    """The estimates by arithmetic: ips over the sum of 1 / inclusion, snips over that of the weights."""
    weight, reward, inclusion = (found[column][keep] for column in (name, "reward", "inclusion"))
    weight = weight / found["propensity"][keep] / inclusion
    return {"ips": (weight * reward).sum() / (1 / inclusion).sum(), "snips": (weight * reward).sum() / weight.sum()}


def influence(found: dict[str, np.ndarray], name: str, estimator: str) -> np.ndarray:
    """What each row does to an estimate, by the delta method."""
    weight, kept = found[name] / found["propensity"] / found["inclusion"], 1 / found["inclusion"]
    by = kept if estimator == "ips" else weight
    return (weight * found["reward"] - means(found, name)[estimator] * by) / by.mean()


@pytest.mark.parametrize("estimator", ["ips", "snips"])
def test_a_difference_is_that_of_the_rows(estimator: str) -> None:
    found = columns()
    result = offrank.evaluate(rows_of(found), SIDES, "logged", ["ips", "snips"], interval="normal", cluster=None)
    each, n = {name: influence(found, name, estimator) for name in SIDES}, len(found["a"])
    mean = {name: means(found, name)[estimator] for name in SIDES}
    away = result.difference("b", "a", estimator=estimator)
    error = (each["b"] - each["a"]).std(ddof=0) / math.sqrt(n - 1)
    assert (away.value, away.standard_error) == pytest.approx((mean["b"] - mean["a"], error), rel=1e-9)
    assert (away.low, away.high) == pytest.approx((away.value - Z * error, away.value + Z * error), rel=1e-9)
    share = result.difference("b", "a", estimator=estimator, relative=True)
    relative = (each["b"] - mean["b"] / mean["a"] * each["a"]) / mean["a"]
    expected = mean["b"] / mean["a"] - 1, relative.std(ddof=0) / math.sqrt(n - 1)
    assert (share.value, share.standard_error) == pytest.approx(expected, rel=1e-9)


def test_a_difference_heeds_clusters() -> None:
    found = columns()
    result = offrank.evaluate(rows_of(found), SIDES, "logged", "snips", interval="normal", cluster="shop")
    shops = np.unique(found["shop"])
    total = means(found, "b")["snips"] - means(found, "a")["snips"]
    keep = [found["shop"] != shop for shop in shops]
    without = np.array([means(found, "b", one)["snips"] - means(found, "a", one)["snips"] for one in keep])
    away = result.difference("b", "a")
    expected = math.sqrt((len(shops) - 1) / len(shops) * ((without - total) ** 2).sum())
    assert (away.value, away.standard_error) == pytest.approx((total, expected), rel=1e-9)
    assert away.high - away.low > 2 * Z * expected  # Student's quantile: the clusters are twelve


def test_a_difference_heeds_the_kind_of_interval() -> None:
    found = columns()
    made = {
        kind: offrank.evaluate(rows_of(found), SIDES, "logged", "snips", interval=kind, cluster=None)
        for kind in ("normal", "studentised", "bootstrap")
    }
    ends = {kind: result.difference("b", "a") for kind, result in made.items()}
    away = influence(found, "b", "snips") - influence(found, "a", "snips")
    skewness = (away**3).mean() / (away @ away / len(away)) ** 1.5 / math.sqrt(len(away))
    assert abs(skewness) > 0.02
    assert ends["studentised"].skewness == pytest.approx(skewness, rel=1e-9)
    assert ends["studentised"].high - ends["studentised"].low > ends["normal"].high - ends["normal"].low
    width = ends["normal"].high - ends["normal"].low
    assert ends["bootstrap"].high - ends["bootstrap"].low == pytest.approx(width, rel=0.3)
    assert ends["bootstrap"].low != ends["normal"].low


def test_of_two_close_rankers_the_difference_is_far_surer_than_their_intervals() -> None:
    truth = WORLD.truth(CLOSE["b"]) - WORLD.truth(CLOSE["a"])
    for estimator in ("ips", "snips", "snipm"):
        apart = math.hypot(*(plain()[name, estimator].standard_error for name in CLOSE))
        away = plain().difference("b", "a", estimator=estimator)
        assert away.standard_error < apart / 8
        assert away.deviation(truth) < 3
        assert away.value == pytest.approx(plain()["b", estimator].value - plain()["a", estimator].value)


def test_a_difference_does_not_depend_on_who_else_is_asked() -> None:
    targets = {"naive": "plackett_luce(naive_score)", **CLOSE, "c": "uniform"}
    alone = offrank.evaluate(search(), CLOSE, LOGGING, "snips", cluster=None).difference("b", "a")
    more = offrank.evaluate(search(), targets, LOGGING, ["ipm", "snips", "rips"], cluster=None)
    for found in (plain().difference("b", "a", estimator="snips"), more.difference("b", "a", estimator="snips")):
        assert found.to_dict() == pytest.approx(alone.to_dict(), rel=1e-9)
        assert found.skewness == pytest.approx(alone.skewness, rel=1e-6)
        assert found.skewness != 0


def test_any_two_can_be_asked_for() -> None:
    result = plain()
    away = result.difference(("a", "ips"), ("a", "snipm"))
    assert away.value == pytest.approx(result["a", "ips"].value - result["a", "snipm"].value, rel=1e-9)
    mixed = result.difference(("b", "snipm"), "a")
    assert mixed == result.difference("b", "a", estimator="snipm")
    logged = result.difference("a", "logged", estimator="snipm")
    assert logged.to_dict() == pytest.approx(result["a", "snipm"].difference.to_dict(), rel=1e-9)
    assert result.difference("a", "logged") == result.verdicts["a"].difference
    assert result.difference("a", "logged", relative=True) == result.verdicts["a"].relative
    same = result.difference("a", "a", estimator="ips")
    assert (same.value, same.low, same.high) == (0, 0, 0)
    single = offrank.evaluate(search(), Top("new_score"), LOGGING, ["snips", "snipm"])
    paired = single.difference("snips", "snipm")
    assert paired.value == pytest.approx(single["snips"].value - single["snipm"].value, rel=1e-9)


def test_a_difference_within_a_group_is_that_of_its_rows() -> None:
    found, table = close(cluster=None, by="device"), search()
    for group in found.groups:
        alone = offrank.evaluate(table.filter(pc.equal(table["device"], group)), CLOSE, LOGGING, "snipm", cluster=None)
        for relative in (False, True):
            away = found.difference("b", "a", estimator="snipm", group=group, relative=relative)
            expected = alone.difference("b", "a", estimator="snipm", relative=relative)
            assert (away.value, away.low, away.high) == pytest.approx((expected.value, expected.low, expected.high))
    assert found.difference("b", "a", group=group).standard_error > 0
    with pytest.raises(KeyError, match="no group 'tv'; there are"):
        found.difference("b", "a", group="tv")


def test_what_cannot_be_compared_says_why() -> None:
    with pytest.raises(KeyError, match="no target 'snips'; there are"):  # of several targets no estimator says which
        plain().difference("snips", "a")
    with pytest.raises(KeyError, match="no target 'c'"):
        plain().difference(("c", "ips"), "a")
    with pytest.raises(KeyError, match="no estimate 'ipm'"):
        plain().difference("b", "a", estimator="ipm")
    with pytest.raises(UsageError, match="contains no counts of its log"):
        offrank.check(coins(50)).difference("uniform", "logged")
    log = coins(200, slate=[[0]] * 200)
    refused = offrank.evaluate(log, {"best": "ranking(best)", "any": "uniform"}, "logged", ["ips", "logged"])
    with pytest.raises(NoOverlapError):
        refused.difference("best", "any", estimator="ips")
    with pytest.raises(SupportError, match="no estimator has estimates of both"):
        refused.difference("best", "any")
    dull = offrank.evaluate(coins(200, clicks=[[0]] * 200), "uniform", "logged", "ips")
    with pytest.raises(SupportError, match="the value of logged is not clearly above 0"):
        dull.difference("uniform", "logged", relative=True)
    priced = coins(200, reward=np.arange(200.0))
    unlike = offrank.evaluate(priced, "ranking(best)", "logged", ["ips", "rips"])
    with pytest.raises(UsageError, match="`ips` estimates reward, but `rips` estimates clicks"):
        unlike.difference("ips", "rips")


@pytest.mark.turns(3)
@pytest.mark.parametrize("interval", ["studentised", "bootstrap", "bernstein"])
def test_another_level_needs_no_log(tmp_path: Path, interval: str) -> None:
    path = tmp_path / "log.parquet"
    pq.write_table(search().slice(0, 600), path)
    whole = interval == "bootstrap"
    given: dict[str, Any] = {"interval": interval, "examination": CURVE, "replicates": 30}
    given |= {"by": "device"} if whole else {}
    asked = (CLOSE, LOGGING, ["snips", "controlled(ips)", "interpol(window=slope)"] if whole else "snips")
    first, other = (offrank.compare(path, *asked, confidence=level, **given) for level in (0.95, 0.8))
    path.unlink()
    again, expected = first.at(0.8), other.to_dict()
    found = again.to_dict()
    assert {name for name in expected if found[name] != expected[name]} <= {"created", "command"}
    assert found["command"] == f"{first.facts['command']}.at(0.8)"
    assert again["a", "snips"].high < first["a", "snips"].high


def test_a_level_is_between_0_and_1() -> None:
    with pytest.raises(UsageError, match=r"confidence is 1\.5"):
        plain().at(1.5)


def test_a_result_can_be_sent() -> None:
    again = pickle.loads(pickle.dumps(plain()))
    assert again.to_dict() == plain().to_dict()
    assert again.difference("b", "a") == plain().difference("b", "a")
    truths = plain().with_truths({"a": 0.5})
    assert truths.at(0.9).truths == {"a": 0.5}


def test_comparisons_hold_together() -> None:
    targets = {**CLOSE, "naive": "plackett_luce(naive_score)"}
    result = offrank.compare(search(), targets, LOGGING, ["snips"])
    assert_document(result.to_dict())
    assert result.facts["kind"] == "compare"
    assert [(one.target, one.against, one.decided) for one in result.comparisons] == [
        ("b", "a", True),
        ("naive", "a", True),
    ]
    both = result.at(0.95).difference("b", "a"), result.at(0.975).difference("b", "a")  # two of them: Bonferroni
    [row, _] = result.facts["comparisons"]
    assert (row["difference"]["low"], row["difference"]["high"]) == pytest.approx((both[1].low, both[1].high), rel=1e-9)
    assert both[1].low < both[0].low
    assert row["relative"]["value"] == pytest.approx(result.difference("b", "a", relative=True).value)
    assert (row["estimator"], row["rows_needed"]) == ("snips", None)
    told = str(result)
    assert (
        "Winner: b. It earns more than each of the others. Better: +1.1 % (+0.7 % to +1.5 %). b minus a is +0.006"
        in (" ".join(told.split()))
    )
    assert "Both comparisons hold jointly at 95 % (Bonferroni)." in " ".join(told.split())


def test_what_is_sound_for_both_answers() -> None:
    result = offrank.compare(search(), {"a": Top("new_score"), "b": LOGGING}, LOGGING, ["snips", "ipm"])
    assert [one.code for one in result["a", "snips"].warnings if one.severity == "serious"] == ["low-ess"]
    [one] = result.comparisons
    assert (result.verdicts["b"].estimator, one.verdict.estimator, one.verdict.trust) == (
        "snips",
        "ipm",
        "with care",
    )
    assert [reason.code for reason in one.verdict.reasons] == ["assumed"]
    assert result.difference("b", "a") == one.verdict.difference
    least = result.difference("b", "a", estimator="ipm")
    assert one.verdict.difference.low <= least.low < least.high <= one.verdict.difference.high


def test_where_the_data_chose_the_interval_holds_what_the_choice_is_held_to() -> None:
    chosen, targets = "interpol(window=slope)", {"a": Top("new_score"), "b": Top("naive_score")}
    asked = (search(), targets, LOGGING, [chosen, "interpol(window=0)", "interpol(window=2)"])
    result = offrank.evaluate(*asked, examination=CURVE, cluster=None)
    assert {result[name, chosen].chosen for name in targets} == {"interpol(window=2)"}
    own, held, found = (
        result.difference("b", "a", estimator=name) for name in ("interpol(window=2)", "interpol(window=0)", chosen)
    )
    assert (found.value, found.low, found.high) == (own.value, min(own.low, held.low), max(own.high, held.high))
    assert found.high - found.low > own.high - own.low


def test_the_baseline() -> None:
    found = {given: offrank.compare(search(), CLOSE, LOGGING, baseline=given) for given in (None, "b", "logged")}
    pairs = {given: [(one.target, one.against) for one in result.comparisons] for given, result in found.items()}
    assert pairs == {None: [("b", "a")], "b": [("a", "b")], "logged": [("a", "logged"), ("b", "logged")]}
    assert found["b"].comparisons[0].verdict.difference.value == -found[None].comparisons[0].verdict.difference.value
    alone = offrank.compare(search(), "top(new_score)", LOGGING)
    [one] = alone.comparisons
    assert (one.against, one.verdict.difference) == ("logged", alone.verdict.difference)
    listed = offrank.compare(search(), ["top(new_score)", "uniform"], LOGGING, baseline="uniform")
    assert [one.target for one in listed.comparisons] == ["top(new_score)"]
    again = eval(listed.facts["command"], {"offrank": offrank, "log": search()})
    assert again.facts["comparisons"] == listed.facts["comparisons"]
    with pytest.raises(UsageError, match="the baseline 'c' is no target"):
        offrank.compare("no-such-log.parquet", ["uniform", "ranking(best)"], baseline="c")  # before anything is read
    with pytest.raises(UsageError, match="the baseline 'c' is no target"):
        offrank.evaluate(coins(50), ["uniform", "ranking(best)"]).comparing("c")
    with pytest.raises(UsageError, match="nothing to compare uniform with"):
        offrank.compare(coins(50), "uniform", baseline="uniform")


def test_where_one_is_not_to_be_used_nothing_is_claimed(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    pq.write_table(search().slice(0, 250), path)  # worth hardly any whole slates of the target
    words = ["compare", path, "--target", "a=plackett_luce(old_score)", "--target", "b=top(new_score)", "-e", "snips"]
    words += ["--logging", "plackett_luce(old_score)", "--json", tmp_path / "out.json", "--strict"]
    done = call(*words)
    assert done.exit_code == 3
    assert "Unknown. This log cannot say which of b and a would have earned more." in " ".join(done.stdout.split())
    document = json.loads((tmp_path / "out.json").read_text())
    assert_document(document)
    assert document["verdicts"]["a"]["trust"] != "none"
    [row] = document["comparisons"]
    assert (row["trust"], row["estimator"], row["relative"], row["decided"]) == ("none", None, None, False)
    assert set(row["difference"].values()) == {None}
    assert any("Of `b`:" in reason["message"] for reason in row["reasons"])
    result = offrank.compare(path, {"a": LOGGING, "b": Top("new_score")}, LOGGING, "snips")
    assert result.difference("b", "a").standard_error > 0  # whoever asks for the number gets it
    assert not result.usable


def test_an_open_question_says_how_many_rows_would_tell() -> None:
    log = search().slice(0, 700)
    [one] = (result := offrank.compare(log, CLOSE, LOGGING, "snips")).comparisons
    assert not one.decided
    away = one.verdict.difference
    assert one.verdict.value == away
    assert away.low < 0 < away.high
    power = Z + NormalDist().inv_cdf(0.8)
    least = power * away.standard_error
    assert one.verdict.detectable >= least * (1 - 1e-9)
    assert one.rows_needed == math.ceil(700 * (one.verdict.detectable / away.value) ** 2)
    told = " ".join(str(result).split())
    assert (
        "No winner. This log does not show that one of b and a earns more than the other. No clear difference: " in told
    )
    assert "such rows detects it with a power of 80 %." in told


def test_the_command_line_compares_as_python_does(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    pq.write_table(search(), path)
    words = ["compare", path, "--target", "a=plackett_luce(new_score)", "--target", "b=uniform", "--baseline", "logged"]
    words += [
        "--logging",
        "plackett_luce(old_score)",
        "-e",
        "snipm",
        "--confidence",
        "0.9",
        "--json",
        tmp_path / "out.json",
    ]
    assert call(*words, "--quiet").exit_code == 0
    targets = {"a": "plackett_luce(new_score)", "b": "uniform"}
    result = offrank.compare(path, targets, LOGGING, "snipm", baseline="logged", confidence=0.9)
    assert json.loads((tmp_path / "out.json").read_text())["comparisons"] == result.facts["comparisons"]
    done = call(*words[:7], "c", *words[8:10])
    assert (done.exit_code, done.stderr.splitlines()[0]) == (2, "error: the baseline 'c' is no target")
