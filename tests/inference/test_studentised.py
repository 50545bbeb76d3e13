"""Intervals of skewed means: Hall's transformation, its level and its laws."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import get_args

import numpy as np
import pytest
from scipy import optimize, stats

import offrank
from offrank.folds import BucketsFold, Interval, MomentsFold, Sample
from offrank.folds.clusters import Clusters
from offrank.folds.deviates import transformed, untransformed
from offrank.inference import METHODS, IntervalSpec, Method, Ratio, Spread
from offrank.log.batch import Floats
from tests.estimators.simulated import LOGGING, TARGET, log, source

Z = NormalDist().inv_cdf(0.975)
PLAIN = Ratio(1, 0)


def spread(values: Floats, method: Method = "studentised", confidence: float = 0.95, parts: int = 1) -> Spread:
    """Of rows of these values."""
    sample = Sample(np.column_stack([np.ones(len(values)), values]), np.arange(len(values), dtype=np.uint64))
    spec = IntervalSpec(method, confidence, replicates=20)
    folded = {}
    for name, fold in spec.folds(2).items():
        state = fold.empty()
        for part in np.array_split(np.arange(len(values)), parts):
            state = fold.merge(state, fold.add(fold.empty(), sample.take(part)))
        folded[name] = state
    return spec.spread(folded)


def exponential(n: int) -> Floats:
    """Evenly spaced quantiles."""
    return np.asarray(stats.expon.ppf((np.arange(n) + 0.5) / n))


def test_the_ends_of_an_exponential_mean() -> None:
    n = 40
    values = exponential(n)
    away = values - values.mean()
    error = math.sqrt((away @ away) / (n * (n - 1)))
    skewness = (away**3).mean() / (away @ away / n) ** 1.5 / math.sqrt(n)

    def hall(t: float, z: float) -> float:
        return t + skewness * t**2 / 3 + skewness**2 * t**3 / 27 + skewness / 6 - z

    above = optimize.brentq(lambda t: hall(t, -Z), -20, 0)
    found = spread(values).ratio(PLAIN)
    assert skewness > 0.2
    assert found.skewness == pytest.approx(skewness, rel=1e-9)
    assert found.high == pytest.approx(values.mean() - error * above, rel=1e-9)
    assert found.low == pytest.approx(values.mean() - error * Z, rel=1e-9)  # not nearer, whatever the skewness
    assert optimize.brentq(lambda t: hall(t, Z), 0, 20) < Z < -above - 0.4


def test_ends_of_skewness_to_the_left_are_mirrored() -> None:
    one, other = spread(exponential(30)).ratio(PLAIN), spread(-exponential(30)).ratio(PLAIN)
    assert (other.low, other.high, other.skewness) == pytest.approx((-one.high, -one.low, -one.skewness), rel=1e-12)


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_without_skewness_it_is_the_normal_interval(confidence: float) -> None:
    values = np.concatenate([exponential(50), -exponential(50)])
    found, normal = (spread(values, method, confidence).ratio(PLAIN) for method in ("studentised", "normal"))
    assert (found.low, found.high) == pytest.approx((normal.low, normal.high), rel=1e-9)


@pytest.mark.parametrize("skewness", [-0.9, -0.3, -1e-7, 0.0, 1e-7, 0.02, 0.5, 1.0])
@pytest.mark.parametrize("away", [-6.0, -2.0, -0.1, 0.0, 1.0, 4.0])
def test_the_transformation(away: float, skewness: float) -> None:
    polynomial = away + skewness * away**2 / 3 + skewness**2 * away**3 / 27 + skewness / 6
    assert transformed(away, skewness) == pytest.approx(polynomial, rel=1e-12, abs=1e-12)
    assert transformed(-away, -skewness) == pytest.approx(-polynomial, rel=1e-12, abs=1e-12)
    assert untransformed(polynomial, skewness) == pytest.approx(away, abs=1e-9)


@pytest.mark.parametrize("freedom", [math.inf, 7.0])
@pytest.mark.parametrize("skewness", [-0.4, 0.0, 0.3])
def test_deviations_are_dual_to_intervals(skewness: float, freedom: float) -> None:
    quantile = float(stats.t.ppf(0.975, freedom))
    below, above = max(quantile, untransformed(quantile, skewness)), max(quantile, -untransformed(-quantile, skewness))
    found = Interval(3.0, 3 - 0.5 * below, 3 + 0.5 * above, 0.5, freedom, skewness)
    assert found.deviation(found.low) == pytest.approx(Z, rel=1e-9)
    assert found.deviation(found.high) == pytest.approx(Z, rel=1e-9)
    assert found.deviation(found.low + 0.01) < Z < found.deviation(found.high + 0.01)
    assert found.deviation(3.0) == 0


def test_deviations_alarm_at_their_rate() -> None:
    """Means of 60 exponential variables, which are gamma: one in a thousand is to be 3.3 off."""
    rows, rng = 60, np.random.default_rng(0)
    values = rng.exponential(size=(20_000, rows))
    away = values - values.mean(axis=1, keepdims=True)
    squares = (away**2).sum(axis=1)
    errors, skewness = np.sqrt(squares / rows / (rows - 1)), (away**3).sum(axis=1) / squares**1.5
    plain = np.abs(values.mean(axis=1) - 1) / errors
    found = [
        Interval(mean, -np.inf, np.inf, error, skewness=skewed).deviation(1.0)
        for mean, error, skewed in zip(values.mean(axis=1), errors, skewness, strict=True)
    ]
    assert (plain > 3.3).mean() > 0.008
    assert (np.array(found) > 3.3).mean() < 0.004


def test_fewer_misses_towards_the_tail() -> None:
    rng = np.random.default_rng(1)
    above = {"normal": 0, "studentised": 0}
    for _ in range(400):
        values = rng.lognormal(-0.5, 1.0, 100)
        for method in above:
            above[method] += spread(values, method).ratio(PLAIN).high < 1.0  # type: ignore[arg-type]
    assert above["normal"] > 35
    assert above["studentised"] < 0.7 * above["normal"]


def test_buckets_tell_the_skewness_of_many_rows() -> None:
    values = np.random.default_rng(3).lognormal(0, 1.2, 60_000)
    found = spread(values, parts=7).ratio(PLAIN)
    expected = stats.skew(values) / math.sqrt(len(values))
    assert found.skewness == pytest.approx(expected, abs=4 * math.sqrt(15) / 1024)
    whole = spread(values).ratio(PLAIN)
    assert (found.low, found.high) == pytest.approx((whole.low, whole.high), rel=1e-11)


def test_clusters_are_skewed_by_their_sums() -> None:
    sums = np.column_stack([np.full(40, 5.0), exponential(40)])
    clusters = Clusters("user", sums, np.full(40, 5.0), 4096)
    fold = MomentsFold(2)
    rows = Sample(np.repeat(sums / 5, 5, axis=0), np.arange(200, dtype=np.uint64))
    moments = fold.add(fold.empty(), rows)
    buckets = BucketsFold(2, buckets=1024)
    alone = Spread(moments, "studentised", 0.95, buckets=buckets.add(buckets.empty(), rows)[:, 1:]).ratio(PLAIN)
    found = Spread(moments, "studentised", 0.95, (clusters,)).ratio(PLAIN)
    away = exponential(40) - exponential(40).mean()
    assert found.skewness == pytest.approx((away**3).sum() / (away @ away) ** 1.5, rel=1e-9)
    assert alone.skewness < 0.6 * found.skewness


def test_every_kind_is_there_and_named() -> None:
    assert set(METHODS) == set(get_args(Method))
    for name in get_args(Method):
        found = {level: spread(exponential(50), name, level).ratio(PLAIN) for level in (0.5, 0.9)}
        assert found[0.9].low < found[0.5].low < found[0.5].value < found[0.5].high < found[0.9].high


def test_evaluate_is_studentised_unless_told() -> None:
    def ends(**options: str) -> list[float]:
        found = offrank.evaluate(source(log()), TARGET, LOGGING, ["ips"], cluster=None, **options)["ips"]  # type: ignore[arg-type]
        assert found.difference is not None
        return [found.low, found.high, found.difference.low, found.difference.high]

    usual, named, normal = ends(), ends(interval="studentised"), ends(interval="normal")
    assert usual == pytest.approx(named, rel=1e-12)
    assert usual[1] > normal[1] + 1e-6
    assert usual[3] > normal[3] + 1e-6
