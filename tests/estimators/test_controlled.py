"""Self-normalisation's relative: the mean weight as a control variate."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import offrank
from offrank.errors import UsageError
from offrank.estimators import SelfNormalised, estimator
from offrank.inference import Inference
from offrank.log.batch import Floats
from offrank.log.source import Needs
from offrank.policies import policy
from offrank.sums import BootstrapFold, Mean, Sums, ratio, with_control
from offrank.sums.base import Sample
from offrank.sums.moments import MomentsFold
from offrank.sums.sampled import row_contents
from offrank.verbs.estimate import estimate
from tests.estimators.simulated import LOGGING, TARGET, log, source
from tests.exact.additive import world
from tests.inference.numbered import numbered


def columns(n: int, rng: np.random.Generator, mean: float = 1.0) -> Floats:
    """[n, 3] ones, rewards times weights, weights of mean 1."""
    weight = rng.gamma(0.5, 2.0, n)
    return np.column_stack([np.ones(n), weight * rng.normal(mean, 0.5, n), weight])


def moments(values: Floats) -> Sums:
    fold = MomentsFold()
    return numbered(fold.of(Sample.of(values, np.arange(len(values), dtype=np.uint64))))


def best(sums: Sums) -> Mean:
    """The mean with the slope of least variance."""
    return with_control(1, 2, 0, sums.best_slope(1, 2, 0))


def test_the_best_slope_is_that_of_the_regression() -> None:
    values = columns(2000, np.random.default_rng(0))
    sums = moments(values)
    found = best(sums)
    _, value, weight = values.T
    slope = np.cov(value, weight)[0, 1] / weight.var(ddof=1)
    assert sums.best_slope(1, 2, 0) == pytest.approx(slope)
    assert sums.value(found) == pytest.approx(value.mean() - slope * (weight.mean() - 1))
    error = Inference(moments(values), "normal", 0.95).interval(found).standard_error
    assert error == pytest.approx(float((value - slope * weight).std(ddof=1)) / np.sqrt(2000))


def test_it_has_the_least_error_of_the_three() -> None:
    values = columns(5000, np.random.default_rng(1), mean=0.3)
    spread = Inference(moments(values), "normal", 0.95)
    least = spread.interval(best(moments(values))).standard_error
    assert least <= spread.interval(ratio(1, 0)).standard_error
    # Division by the mean weight scales the reported error too.
    assert least <= spread.interval(ratio(1, 2)).standard_error * values[:, 2].mean() * (1 + 1e-3)


def test_its_errors_are_as_large_as_reported() -> None:
    rng = np.random.default_rng(2)
    found = []
    for _ in range(400):
        kept = moments(columns(300, rng))
        found.append(Inference(kept, "normal", 0.95).interval(best(kept)))
    values = np.array([interval.value for interval in found])
    errors = np.array([interval.standard_error for interval in found])
    assert values.std() / errors.mean() == pytest.approx(1, abs=0.15)
    assert abs(values.mean() - 1) < 3 * values.std() / 20 + 0.01
    assert np.mean([interval.low <= 1 <= interval.high for interval in found]) > 0.9


def test_constant_weights_need_no_control() -> None:
    values = np.column_stack([np.ones(10), np.arange(10.0), np.ones(10)])
    assert moments(values).best_slope(1, 2, 0) == 0


@pytest.mark.parametrize("interval", ["normal", "bootstrap", "bernstein"])
@pytest.mark.parametrize("name", ["controlled(ips)", "controlled(ipm)", "controlled(clip(ips, 5))"])
def test_every_interval_holds_the_value(name: str, interval: str) -> None:
    one = estimate(source(log()), TARGET, LOGGING, [name], interval=interval)[name]
    assert one.low < one.value < one.high
    assert one.standard_error > 0


@pytest.mark.parametrize("logging", ["plackett_luce(old)", "uniform"])
def test_on_every_slate_once_it_is_the_truth(logging: str) -> None:
    here = world("top")
    found = estimate(here.source(policy(logging)), "top(new)", logging, ["controlled(pi)", "controlled(ips)"])
    for name in ("controlled(pi)", "controlled(ips)"):
        assert found[name].value == pytest.approx(here.value(policy("top(new)")), rel=1e-9)


def test_spellings() -> None:
    made = estimator("controlled(clip(pi, 10))")
    assert isinstance(made, SelfNormalised)
    assert made.controlled
    assert repr(made) == "controlled(clip(pi, 10))"
    assert estimator("clip(controlled(pi), 10)") == made
    with pytest.raises(UsageError, match="already"):
        estimator("controlled(snips)")
    with pytest.raises(UsageError, match="no self-normalised form"):
        estimator("controlled(pbm)")


def replicate_rows(n: int, replicates: int) -> np.ndarray:
    """[replicates, n] how often each row stands in each replicate of the bootstrap."""
    fold = BootstrapFold(replicates)
    return np.round(fold.of(Sample.of(np.eye(n), np.arange(n, dtype=np.uint64)))).astype(int)


def controlled_mean(value: Floats, weight: Floats, times: Floats) -> float:
    """The controlled mean of rows that stand for so many impressions each, from the definition."""
    mean, mean_weight = (value * times).sum() / times.sum(), (weight * times).sum() / times.sum()
    left, right = times * (value - mean), times * (weight - mean_weight)
    return float(mean - (left @ right) / (right @ right) * (mean_weight - 1))


def test_the_bootstrap_learns_the_slope_anew() -> None:
    rng, n = np.random.default_rng(3), 120
    reward, weight = (rng.random(n) < 0.4).astype(float), 0.5 + rng.lognormal(-0.5, 1, n)
    inclusion = np.where(np.arange(n) % 3, 1.0, 0.5)
    rows = pa.table(
        {
            "slate": pa.array([[1]] * n),
            "candidates": pa.array([[1, 2]] * n),
            "clicks": pa.array(reward[:, None].tolist()),
            "propensity": pa.array(0.5 / weight),
            "inclusion": pa.array(inclusion),
            "query": pa.array(np.arange(n) // 4),
        }
    )

    def found(cluster: str | None) -> Any:
        options: dict[str, Any] = {"interval": "bootstrap", "replicates": 199, "confidence": 0.9, "cluster": cluster}
        return offrank.estimate(rows, "uniform", "logged", ["ips", "controlled(ips)"], **options)["controlled(ips)"]

    value, times = weight * reward, 1 / inclusion
    assert found(None).value == pytest.approx(controlled_mean(value, weight, times))
    [batch] = offrank.read_log(rows).select(Needs(frozenset(["candidates", "propensity"]))).batches(0)
    by_content = np.argsort(row_contents(batch))
    drawn = [np.repeat(by_content, count) for count in replicate_rows(n, 199)]
    values = [controlled_mean(value[some], weight[some], times[some]) for some in drawn]
    assert found(None).standard_error == pytest.approx(np.std(values, ddof=1), rel=1e-9)
    ends = np.quantile(values, [0.05, 0.95], method="weibull")
    assert (found(None).low, found(None).high) == pytest.approx(tuple(ends), rel=1e-9)
    assert found("query").standard_error == pytest.approx(found(None).standard_error, rel=0.35)
