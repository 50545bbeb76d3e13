"""`evaluate`: what it computes, and that one pass is as good as many."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import offrank
from offrank import Ranking, Top, Uniform
from offrank.estimators import IPS
from offrank.sums.estimate import Estimate
from tests.verbs.logs import ALL, CURVE, LOGGING, TARGET, WORLD, coins, replaced, search

TARGETS = {"new": TARGET, "naive": Top("naive_score"), "uniform": Uniform()}


def evaluated(target: Any = TARGET, estimators: Any = ALL, log: Any = None, **options: Any) -> offrank.Result:
    log = search() if log is None else log
    return offrank.evaluate(log, target, LOGGING, estimators, **{"examination": CURVE, "cluster": None, **options})


@pytest.mark.parametrize("name", ["ips", "snips", "ipm", "snipm", "rips", "snrips", "interpol(window=1)"])
@pytest.mark.parametrize("target", TARGETS)
def test_the_truth_is_within_four_standard_errors(target: str, name: str) -> None:
    found = evaluated(TARGETS[target], name)[name]
    truth = WORLD.truth(TARGETS[target])
    assert abs(found.value - truth) < 4 * found.standard_error


@pytest.mark.turns(3)
@pytest.mark.parametrize("interval", ["normal", "bootstrap"])
def test_several_targets_in_one_pass_equal_single_runs(interval: str) -> None:
    together = evaluated(TARGETS, interval=interval)
    for name, target in TARGETS.items():
        alone = evaluated(target, interval=interval)
        for estimator in ALL:
            one, other = together[name, estimator], alone[estimator]
            # Longer rows of numbers may be added up in another order.
            assert one.n == other.n
            for name_of in ("value", "ess", "mean_weight", "tail_index", "low", "high"):
                expected = getattr(other, name_of)  # None where it is not known
                assert getattr(one, name_of) == (expected if expected is None else pytest.approx(expected, rel=1e-11))
            assert one.warnings == other.warnings


def test_plain_and_self_normalised_share_one_evaluation_of_the_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    calls, weights = [], IPS.weigh

    def counting(self: IPS, *arguments: Any) -> Any:
        calls.append(1)
        return weights(self, *arguments)

    monkeypatch.setattr(IPS, "weigh", counting)
    evaluated(estimators=["ips"])
    once = len(calls)
    calls.clear()
    evaluated(estimators=["ips", "snips"])
    assert len(calls) == once > 0


def test_plain_estimates_are_the_plain_formulas() -> None:
    log = coins(500, seed=3)
    result = offrank.evaluate(log, Ranking("best"), "logged", ["ips", "snips"], confidence=0.9, interval="normal")
    clicks = np.array(log["clicks"].to_pylist())[:, 0]
    weight = 2.0 * np.array(log["slate"].to_pylist())[:, 0]
    ips, snips = result["ips"], result["snips"]
    assert ips.value == pytest.approx((weight * clicks).mean())
    assert ips.standard_error == pytest.approx((weight * clicks).std(ddof=1) / math.sqrt(500))
    assert ips.high - ips.low == pytest.approx(2 * 1.6448536 * ips.standard_error)
    assert snips.value == pytest.approx((weight * clicks).sum() / weight.sum())
    variance = ((weight * clicks).sum() / weight.sum()) * (1 - (weight * clicks).sum() / weight.sum())
    assert ips.ess == pytest.approx(variance * 500 / 499 / ips.standard_error**2)
    assert snips.ess == pytest.approx(weight.sum() ** 2 / (weight**2).sum())  # equal weights: as many as there are
    assert ips.mean_weight == pytest.approx(weight.mean())
    assert ips.max_weight_share == pytest.approx(2 / weight.sum())
    assert ips.difference is not None
    assert ips.difference.value == pytest.approx((weight * clicks - clicks).mean())
    paired = (weight * clicks - clicks).std(ddof=1) / math.sqrt(500)
    assert ips.difference.standard_error == pytest.approx(paired)


def test_sub_sampled_rows_count_for_those_left_out() -> None:
    kept = np.array([1.0, 0.25] * 250)
    log = coins(500, inclusion=kept)
    result = offrank.evaluate(log, Ranking("best"), "logged", ["ips", "snips"])
    clicks = np.array(log["clicks"].to_pylist())[:, 0]
    weight = 2.0 * np.array(log["slate"].to_pylist())[:, 0]
    assert result["ips"].value == pytest.approx((weight * clicks / kept).sum() / (1 / kept).sum())
    assert result["snips"].value == pytest.approx((weight * clicks / kept).sum() / (weight / kept).sum())
    assert result.facts["log"]["estimated_impressions"] == pytest.approx(250 * 1 + 250 * 4)


@pytest.mark.parametrize("estimator", ["ips", "ipm", "pbm"])
def test_groups_sum_up_to_the_whole(estimator: str) -> None:
    result = evaluated(estimators=[estimator], by="device")
    whole, groups = result[estimator], [group[estimator] for group in result.groups.values()]
    assert sorted(result.groups) == ["desktop", "phone"]
    assert sum(group.n for group in groups) == whole.n == 4_000
    assert sum(group.n * group.value for group in groups) == pytest.approx(whole.n * whole.value)
    for name, group in result.groups.items():
        rows = search().filter(np.array(search()["device"].to_pylist()) == name)
        alone = evaluated(estimators=[estimator], log=rows)[estimator]
        assert group[estimator].value == pytest.approx(alone.value)
        assert group[estimator].standard_error == pytest.approx(alone.standard_error)


def test_repeated_rows_do_not_tighten_a_clustered_interval() -> None:
    log = replaced(search(), impression_id=[f"i{n}" for n in range(4_000)])
    twice = offrank.read_log([row for row in log.slice(0, 1_000).to_pylist() for _ in range(4)])
    once = evaluated(log=log.slice(0, 1_000), estimators=["ipm"])["ipm"]
    naive = evaluated(log=twice, estimators=["ipm"])["ipm"]
    for interval in ("normal", "bootstrap"):
        honest = evaluated(log=twice, estimators=["ipm"], cluster="impression_id", interval=interval)["ipm"]
        assert honest.value == pytest.approx(once.value)
        assert honest.standard_error == pytest.approx(once.standard_error, rel=0.2)
        assert honest.standard_error > 1.6 * naive.standard_error


@pytest.mark.parametrize("interval", ["normal", "bootstrap", "bernstein"])
def test_more_confidence_is_wider_and_more_rows_are_tighter(interval: str) -> None:
    def width(rows: int, confidence: float) -> float:
        log = search().slice(0, rows)
        found = evaluated(log=log, estimators="ipm", interval=interval, confidence=confidence)["ipm"]
        return found.high - found.low

    assert width(1_000, 0.8) < width(1_000, 0.95) < width(1_000, 0.99)
    assert width(4_000, 0.95) < width(1_000, 0.95)


def test_the_bootstrap_agrees_with_the_normal_interval_and_with_itself() -> None:
    normal = evaluated(estimators="snipm")["snipm"]
    drawn = evaluated(estimators="snipm", interval="bootstrap", seed=4)["snipm"]
    again = evaluated(estimators="snipm", interval="bootstrap", seed=4)["snipm"]
    other = evaluated(estimators="snipm", interval="bootstrap", seed=5)["snipm"]
    assert drawn == again != other
    assert drawn.value == pytest.approx(normal.value, rel=1e-12)
    assert drawn.standard_error == pytest.approx(normal.standard_error, rel=0.2)


@pytest.mark.parametrize("log", [coins(1), coins(1, inclusion=[0.5])])
@pytest.mark.parametrize("options", [{}, {"interval": "bootstrap"}, {"interval": "bernstein"}])
def test_one_impression_has_no_interval(log: Any, options: dict[str, Any]) -> None:
    result = offrank.evaluate(log, Uniform(), "logged", "ips", **options)
    [row] = result.to_dict()["estimates"]
    assert row["value"] is not None
    assert (row["low"], row["high"], row["standard_error"]) == (None, None, None)
    assert "mean-weight" not in {caution.code for caution in result["ips"].warnings}
    assert not result.trustworthy


@pytest.mark.parametrize("interval", ["normal", "bootstrap"])
def test_one_cluster_has_no_interval(interval: Any) -> None:
    result = offrank.evaluate(
        coins(100, user=["me"] * 100), Uniform(), "logged", "ips", cluster="user", interval=interval
    )
    assert result.to_dict()["estimates"][0]["low"] is None
    assert "few-clusters" in {caution.code for caution in result["ips"].warnings}


def test_an_estimate_of_constant_rewards_is_that_constant() -> None:
    log = coins(400, reward=np.full(400, 3.5))
    result = offrank.evaluate(log, Ranking("best"), "logged", ["snips", "logged"])
    for name in ("snips", "logged"):
        assert result[name].value == pytest.approx(3.5)
        assert result[name].standard_error == pytest.approx(0, abs=1e-9)
    assert result.to_dict()["unit"] == "per impression"


def test_every_executor_gives_the_same_answer() -> None:
    default = evaluated()
    with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(3) as three:
        for executor in (one, three):
            assert dict(evaluated(executor=executor).estimates.given) == dict(default.estimates.given)


def test_progress_is_told_to_the_end() -> None:
    steps: list[tuple[int, int]] = []
    evaluated(estimators="ips", progress=lambda done, total: steps.append((done, total)))
    assert steps[-1][0] == steps[-1][1] == len(steps)


def test_the_logged_mean_says_what_was_earned() -> None:
    clicks = np.array(search()["clicks"].to_pylist()).sum(axis=1)
    result = evaluated(estimators=["logged"])
    found: Estimate = result["logged"]
    assert found.value == pytest.approx(clicks.mean())
    assert result.facts["logged"]["value"] == pytest.approx(clicks.mean())
    assert found.difference is not None
    assert found.difference.value == 0
