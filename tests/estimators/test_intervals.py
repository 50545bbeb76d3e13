"""Standard errors and intervals of sub-sampled logs, once more in plain NumPy."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from offrank.log.batch import Floats
from offrank.sums.estimate import Estimate
from offrank.verbs.evaluate import evaluate
from tests.estimators.simulated import LOGGING, TARGET, Rows, log, rows, source

NAMES = ["ips", "snips"]


def found(name: str, **options: Any) -> Estimate:
    return evaluate(source(log()), TARGET, LOGGING, NAMES, **{"cluster": None, "interval": "normal", **options})[name]


def influence(here: Rows, name: str) -> tuple[float, Floats]:
    """Value, and each row's influence: (numerator - ratio * denominator) / mean denominator."""
    top, bottom = here.h * here.r * here.w, here.h * (here.w if name == "snips" else 1.0)
    value = float(top.sum() / bottom.sum())
    return value, (top - value * bottom) / bottom.mean()


def logged(here: Rows) -> tuple[float, Floats]:
    value = float((here.h * here.r).sum() / here.h.sum())
    return value, here.h * (here.r - value) / here.h.mean()


def error(rows_influence: Floats) -> float:
    return float(np.std(rows_influence, ddof=1) / math.sqrt(len(rows_influence)))


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.99])
@pytest.mark.parametrize("name", NAMES)
def test_normal_interval(name: str, confidence: float) -> None:
    here = rows(log())
    value, each = influence(here, name)
    estimate = found(name, confidence=confidence)
    half = stats.norm.ppf(0.5 + confidence / 2) * error(each)
    assert estimate.n == len(here.h)
    assert estimate.value == pytest.approx(value, rel=1e-10)
    assert estimate.standard_error == pytest.approx(error(each), rel=1e-10)
    assert (estimate.low, estimate.high) == pytest.approx((value - half, value + half), rel=1e-10)


@pytest.mark.parametrize("name", NAMES)
def test_weights(name: str) -> None:
    here, estimate = rows(log()), found(name)
    w, n = here.h * here.w, len(here.h)
    assert estimate.mean_weight == pytest.approx(w.sum() / here.h.sum(), rel=1e-10)
    mean = (w @ here.r) / w.sum()
    variance = w @ (here.r - mean) ** 2 / w.sum() * n / (n - 1)  # of the reward of an impression of the target
    assert estimate.ess == pytest.approx(variance / error(influence(here, name)[1]) ** 2, rel=1e-9)
    assert estimate.max_weight_share == pytest.approx(w.max() / w.sum(), rel=1e-10)
    assert estimate.mean_weight_interval is not None
    each = here.h * (here.w - w.sum() / here.h.sum()) / here.h.mean()
    assert estimate.mean_weight_interval.standard_error == pytest.approx(error(each), rel=1e-10)


@pytest.mark.parametrize("name", NAMES)
def test_paired_difference(name: str) -> None:
    here = rows(log())
    value, each = influence(here, name)
    before, each_before = logged(here)
    difference = found(name).difference
    assert difference is not None
    assert difference.value == pytest.approx(value - before, rel=1e-9)
    assert difference.standard_error == pytest.approx(error(each - each_before), rel=1e-9)
    unpaired = math.hypot(error(each), error(each_before))
    assert abs(difference.standard_error / unpaired - 1) > 0.02


def test_the_difference_of_a_policy_to_itself_is_nothing() -> None:
    estimate = evaluate(source(log()), LOGGING, LOGGING, ["ips"])["ips"]
    assert estimate.difference is not None
    assert estimate.difference.value == 0
    assert estimate.difference.standard_error == pytest.approx(0, abs=1e-12)


def parts(here: Rows, name: str) -> tuple[Floats, Floats]:
    """What each row adds to the numerator and to the denominator."""
    return here.h * here.r * here.w, here.h * (here.w if name == "snips" else 1.0)


def freedom(sizes: Floats) -> float:
    """Satterthwaite's degrees of freedom, from the matrix of the quadratic form: 2 mean^2 / variance."""
    share = sizes / sizes.sum()
    residual = np.diag(1 / (1 - share)) @ (np.eye(len(share)) - np.outer(share, np.ones(len(share))))
    covariance = residual @ np.diag(share) @ residual.T
    return float(np.trace(covariance) ** 2 / np.trace(covariance @ covariance))


@pytest.mark.parametrize(("cluster", "clusters"), [("query", 4), ("user", 12)])
@pytest.mark.parametrize("name", NAMES)
def test_few_clusters(name: str, cluster: str, clusters: int) -> None:
    top, bottom = parts(rows(log()), name)
    codes = log().contexts.keys[cluster]
    value = top.sum() / bottom.sum()
    without = [top[codes != code].sum() / bottom[codes != code].sum() for code in range(clusters)]
    expected = math.sqrt((clusters - 1) / clusters * sum((one - value) ** 2 for one in without))
    estimate = found(name, cluster=cluster)
    assert estimate.value == pytest.approx(value, rel=1e-10)
    assert estimate.standard_error == pytest.approx(expected, rel=1e-9)
    quantile = stats.t.ppf(0.975, freedom(np.bincount(codes, weights=bottom)))
    assert estimate.high - estimate.value == pytest.approx(quantile * expected, rel=1e-9)
    assert "few-clusters" in [caution.code for caution in estimate.warnings]


def test_many_clusters_are_nearly_independent_rows() -> None:
    alone, each = found("snips"), found("snips", cluster="visit")
    assert each.standard_error == pytest.approx(alone.standard_error, rel=0.1)
    quantile = (each.high - each.value) / each.standard_error
    assert quantile == pytest.approx(stats.norm.ppf(0.975), rel=0.01)


@pytest.mark.parametrize("name", NAMES)
def test_bernstein(name: str) -> None:
    here = rows(log())
    value, each = influence(here, name)
    top, bottom = here.h * here.r * here.w, here.h * (here.w if name == "snips" else 1.0)
    span = (np.ptp(top) + value * np.ptp(bottom)) / bottom.mean()
    assert span >= np.ptp(each)
    level = math.log(4 / 0.05)
    half = math.sqrt(2 * level) * error(each) + 7 * span * level / (3 * (len(each) - 1))
    estimate = found(name, interval="bernstein")
    assert (estimate.low, estimate.high) == pytest.approx((value - half, value + half), rel=1e-9)
    assert "observed-range" in [caution.code for caution in estimate.warnings]


@pytest.mark.parametrize("name", NAMES)
def test_bootstrap_agrees_with_the_normal_interval(name: str) -> None:
    normal = found(name)
    estimate = found(name, interval="bootstrap", replicates=2000)
    assert estimate.value == pytest.approx(normal.value, rel=1e-12)
    assert estimate.standard_error == pytest.approx(normal.standard_error, rel=0.08)
    assert (estimate.low, estimate.high) == pytest.approx((normal.low, normal.high), abs=0.3 * normal.standard_error)


def test_bootstrap_of_clusters_is_wider_where_rows_repeat() -> None:
    narrow = found("snips", interval="bootstrap", replicates=400)
    wide = found("snips", interval="bootstrap", replicates=400, cluster="query")
    normal = found("snips", cluster="query")
    assert wide.standard_error > 1.5 * narrow.standard_error
    assert wide.standard_error == pytest.approx(normal.standard_error, rel=0.4)
    assert "few-clusters" in [caution.code for caution in wide.warnings]


@pytest.mark.parametrize("interval", ["normal", "bootstrap"])
def test_one_cluster_has_no_interval(interval: str) -> None:
    contexts = replace(log().contexts, keys={"all": np.zeros(len(log()), dtype=np.int64)})
    alone = source(replace(log(), contexts=contexts))
    estimate = evaluate(alone, TARGET, LOGGING, ["snips"], cluster="all", interval=interval)["snips"]
    assert not np.isfinite([estimate.low, estimate.high, estimate.standard_error]).any()
    assert not estimate.trustworthy


def test_bootstrap_does_not_depend_on_partitions_but_on_the_seed() -> None:
    options: dict[str, Any] = {"interval": "bootstrap", "replicates": 50}
    one = evaluate(source(log(), 1), TARGET, LOGGING, NAMES, **options)["snips"]
    many = evaluate(source(log(), 11), TARGET, LOGGING, NAMES, **options)["snips"]
    other = evaluate(source(log(), 1), TARGET, LOGGING, NAMES, seed=1, **options)["snips"]
    assert (one.low, one.high) == pytest.approx((many.low, many.high), rel=1e-12)
    assert one.low != other.low
