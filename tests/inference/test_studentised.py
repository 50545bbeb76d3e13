"""Intervals of skewed means: Hall's transformation, its level and its laws."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest
from scipy import optimize, stats

import offrank
from offrank.inference import INTERVALS, Inference, IntervalSpec
from offrank.log.batch import Floats
from offrank.sums import Interval, MomentsFold, NamedColumns, Sample, ratio
from offrank.sums.base import total
from offrank.sums.clusters import Clusters
from offrank.sums.estimate import transformed, untransformed
from offrank.sums.sampled import EQUAL, SAID
from tests.estimators.simulated import LOGGING, TARGET, log, source
from tests.inference.numbered import numbered

Z = NormalDist().inv_cdf(0.975)
PLAIN = ratio(1, 0)
COLUMNS = NamedColumns((0, 1))


def spread(values: Floats, method: str = "studentised", confidence: float = 0.95, parts: int = 1) -> Inference:
    """Of rows of these values."""
    key = np.arange(len(values), dtype=np.uint64)
    sample = Sample.of(np.column_stack([np.ones(len(values)), values]), key, {SAID: key, EQUAL: key})
    spec = IntervalSpec(method, confidence, replicates=20)
    folded = {}
    for name, fold in spec.folds(COLUMNS, blocks=((0, 1),)).items():
        state = None
        for part in np.array_split(np.arange(len(values)), parts):
            state = total(state, fold.of(sample.take(part)))
        folded[name] = fold.result(state)
    return spec.inference(COLUMNS, folded)


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
    found = spread(values).interval(PLAIN)
    assert skewness > 0.2
    assert found.skewness == pytest.approx(skewness, rel=1e-9)
    assert found.high == pytest.approx(values.mean() - error * above, rel=1e-9)
    assert found.low == pytest.approx(values.mean() - error * Z, rel=1e-9)  # not nearer, whatever the skewness
    assert optimize.brentq(lambda t: hall(t, Z), 0, 20) < Z < -above - 0.4


def test_ends_of_skewness_to_the_left_are_mirrored() -> None:
    one, other = spread(exponential(30)).interval(PLAIN), spread(-exponential(30)).interval(PLAIN)
    assert (other.low, other.high, other.skewness) == pytest.approx((-one.high, -one.low, -one.skewness), rel=1e-12)


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_without_skewness_it_is_the_normal_interval(confidence: float) -> None:
    values = np.concatenate([exponential(50), -exponential(50)])
    found, normal = (spread(values, method, confidence).interval(PLAIN) for method in ("studentised", "normal"))
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
    assert (plain > 3.3).mean() > 0.006
    assert (np.array(found) > 3.3).mean() < 0.004


def test_fewer_misses_towards_the_tail() -> None:
    rng = np.random.default_rng(1)
    above = {"normal": 0, "studentised": 0}
    for _ in range(400):
        values = rng.lognormal(-0.5, 1.0, 100)
        for method in above:
            above[method] += spread(values, method).interval(PLAIN).high < 1.0  # type: ignore[arg-type]
    assert above["normal"] > 35
    assert above["studentised"] < 0.7 * above["normal"]


@pytest.mark.parametrize("shift", [0.0, 1e4])
def test_any_partition_tells_the_same_skewness(shift: float) -> None:
    values = np.random.default_rng(3).lognormal(0, 1.2, 60_000)
    expected = stats.skew(values) / math.sqrt(len(values))
    for parts in (1, 7):
        found = spread(values + shift, parts=parts).interval(PLAIN)
        assert found.skewness == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("top", "bottom"), [(1, 0), (2, 1), (3, 4)])
def test_skewness_of_ratios_and_differences(top: int, bottom: int) -> None:
    rng = np.random.default_rng(top)
    values = np.column_stack([np.ones(500), rng.lognormal(0, 0.8, (500, 4))])
    fold = MomentsFold(((0, 1, 2), (0, 1, 3, 4)))
    parts = [Sample.of(part, np.arange(len(part), dtype=np.uint64)) for part in np.array_split(values, [90, 200])]
    left, middle, right = (fold.of(part) for part in parts)
    found = Inference(numbered(total(left, total(middle, right))), "studentised", 0.95)
    mean = values[:, top].sum() / values[:, bottom].sum()
    away = (values[:, top] - mean * values[:, bottom]) / values[:, bottom].mean()
    expected = (away**3).sum() / (away**2).sum() ** 1.5
    assert found.interval(ratio(top, bottom)).skewness == pytest.approx(expected, rel=1e-9)
    if top == 1:
        return  # its own difference is nothing
    apart = away - (values[:, 1] - values[:, 1].mean())
    difference = found.difference(ratio(top, bottom), PLAIN).skewness
    assert difference == pytest.approx((apart**3).sum() / (apart**2).sum() ** 1.5, rel=1e-9)


def test_without_third_moments_nothing_counts_as_skewed() -> None:
    fold = MomentsFold(((0, 1),))
    values = np.column_stack([np.ones(60), exponential(60), np.roll(exponential(60), 30)])
    sums = numbered(fold.of(Sample.of(values, np.arange(60, dtype=np.uint64))))
    found = Inference(sums, "studentised", 0.95)
    assert found.interval(PLAIN).skewness > 0.2
    assert found.interval(ratio(2, 0)).skewness == 0


def test_a_column_near_to_one_with_third_moments_is_as_skewed() -> None:
    """Of its variance at least nine tenths have to be known: here the rest is noise of a tenth, or of an eighth."""
    rows = 4000
    known, noise = exponential(rows) - exponential(rows).mean(), np.tile([1.0, -1.0], rows // 2)
    noise -= known * (noise @ known) / (known @ known)
    noise *= np.sqrt((known @ known) / (noise @ noise))
    for share, skewness in ((0.099, 2 * 0.901**1.5), (0.101, 0.0)):
        mixed = np.sqrt(1 - share) * known + np.sqrt(share) * noise
        values = np.column_stack([np.ones(rows), known, mixed])
        fold = MomentsFold(((0, 1),))
        moments = fold.of(Sample.of(values, np.arange(rows, dtype=np.uint64)))
        found = moments.skewness(np.array([0.0, 0.0, 1.0])) * np.sqrt(rows)
        assert found == pytest.approx(skewness, rel=0.02, abs=1e-12)


def test_clusters_are_skewed_by_their_sums() -> None:
    sums = np.column_stack([np.full(40, 5.0), exponential(40)])
    clusters = Clusters("user", sums, np.full(40, 5.0), 4096)
    fold = MomentsFold(((0, 1),))
    rows = Sample.of(np.repeat(sums / 5, 5, axis=0), np.arange(200, dtype=np.uint64))
    moments = numbered(fold.of(rows))
    alone = Inference(moments, "studentised", 0.95).interval(PLAIN)
    found = Inference(moments, "studentised", 0.95, (clusters,)).interval(PLAIN)
    away = exponential(40) - exponential(40).mean()
    assert found.skewness == pytest.approx((away**3).sum() / (away @ away) ** 1.5, rel=1e-9)
    assert alone.skewness < 0.6 * found.skewness


def test_every_kind_is_there_and_named() -> None:
    assert {"bernstein", "bootstrap", "normal", "studentised"} <= set(INTERVALS)
    for name in INTERVALS:
        found = {level: spread(exponential(50), name, level).interval(PLAIN) for level in (0.5, 0.9)}
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
