"""Rows that depend on each other: which column they are clustered by, how wide that is, and what is said of it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

import offrank
from offrank import Ranking
from tests.verbs.logs import coins, replaced

BEST = Ranking("best")


def sized(sizes: Any, seed: int = 0, column: str = "query", alike: bool = True) -> pa.Table:
    """A log of coins whose rows are clicked all or not at all by the values of a column with these many rows each."""
    sizes = np.asarray(sizes)
    codes = np.repeat(np.arange(len(sizes)), sizes)
    log = coins(len(codes), seed)
    lucky = np.random.default_rng(seed).random(len(sizes)) < 0.5
    clicks = lucky[codes] if alike else np.random.default_rng(seed + 1).random(len(codes)) < 0.5
    return replaced(log, clicks=clicks.astype(int)[:, None].tolist(), **{column: codes})


def judged(log: Any, **options: Any) -> Any:
    return offrank.evaluate(log, BEST, "logged", ["ips"], **options)["ips"]


def said(estimate: Any) -> dict[str, str]:
    codes = {"few-clusters", "clustered", "unclustered"}
    return {caution.code: caution.severity for caution in estimate.warnings if caution.code in codes}


def same(one: Any, other: Any) -> bool:
    return (one.low, one.high) == pytest.approx((other.low, other.high), rel=1e-12)


@pytest.mark.parametrize("column", ["query", "user", "session"])
def test_rows_are_clustered_by_default_where_the_log_says_what_they_share(column: str) -> None:
    log = sized([50] * 40, column=column)
    by_default, named, alone = judged(log), judged(log, cluster=column), judged(log, cluster=None)
    assert same(by_default, named)
    assert by_default.cluster == named.cluster == column
    assert by_default.standard_error > 3 * alone.standard_error
    assert by_default.design_effect == pytest.approx((named.standard_error / alone.standard_error) ** 2)
    assert alone.cluster is alone.design_effect is alone.effective_clusters is None
    assert said(by_default) == {"clustered": "note"}
    assert said(named) == said(alone) == {}


def test_a_column_is_found_by_its_role_or_a_word_for_it() -> None:
    log = sized([50] * 40, column="household")
    assert judged(log).cluster is None
    named = judged(offrank.read_log(log, columns={"user": "household"}))
    called = judged(sized([50] * 40, column="customer_id"))
    assert named.cluster == called.cluster == "user"
    assert named.standard_error == called.standard_error


def test_of_several_columns_the_one_that_matters_most_is_taken() -> None:
    log = sized([50] * 40, column="user")
    noise = np.random.default_rng(9).integers(0, 30, size=log.num_rows)
    for other in ("query", "session"):
        assert judged(replaced(log, **{other: noise})).cluster == "user"
    sessions = np.arange(log.num_rows) // 5  # ten in each user
    assert judged(replaced(log, session=sessions)).cluster == "user"


def test_what_is_asked_besides_changes_nothing() -> None:
    log = sized([50] * 40, column="user")
    log = replaced(log, query=np.array(log["slate"].to_pylist())[:, 0] * 20 + np.arange(log.num_rows) % 20)
    together = offrank.evaluate(log, {"a": BEST, "b": offrank.Uniform()}, "logged", ["ips", "snips", "logged"])
    for key, one in together.estimates.given.items():
        alone = offrank.evaluate(log, {"a": BEST, "b": offrank.Uniform()}[key[0]], "logged", key[1])[key[1]]
        assert same(one, alone)
        assert one.cluster == alone.cluster


def test_every_row_by_itself_is_no_cluster() -> None:
    log = coins(2_000, query=np.arange(2_000))
    assert judged(log) == judged(log, cluster=None)


@pytest.mark.parametrize("kind", [pa.int64(), pa.float64(), pa.string()])
def test_a_row_without_a_value_depends_on_no_other(kind: pa.DataType) -> None:
    user = [n % 40 if n % 2 else None for n in range(2_000)]
    log = coins(2_000)
    missing = log.append_column("user", pa.array(user).cast(kind))
    filled = log.append_column("user", pa.array([n if u is None else -1 - u for n, u in enumerate(user)]))
    one, other = judged(missing, cluster="user"), judged(filled, cluster="user")
    assert one.standard_error == pytest.approx(other.standard_error, rel=0.02)
    assert judged(missing).cluster == "user"


@pytest.mark.parametrize(("clusters", "clustered"), [(2, False), (4, False), (5, True), (6, True)])
def test_fewer_than_five_values_are_not_clustered_by_default_and_it_is_said(clusters: int, clustered: bool) -> None:
    log = sized([300] * clusters, alike=False)
    found = judged(log)
    assert (found.cluster == "query") is clustered
    assert ("unclustered" in said(found)) is not clustered
    assert math.isfinite(found.high)
    if not clustered:
        assert same(found, judged(log, cluster=None))


def test_it_is_a_warning_where_the_few_values_differ() -> None:
    log = coins(1_200, query=np.arange(1_200) % 4, clicks=(np.arange(1_200) % 4 == 0).astype(int)[:, None].tolist())
    assert said(judged(log)) == {"unclustered": "warning"}
    assert said(judged(sized([300] * 4, alike=False))) == {"unclustered": "note"}
    assert said(judged(coins(1_200, query=[7] * 1_200))) == {"unclustered": "note"}


def test_bernstein_says_that_it_takes_no_clusters() -> None:
    log = sized([50] * 40)
    assert said(judged(log, interval="bernstein")) == {"unclustered": "warning"}
    assert same(judged(log, interval="bernstein"), judged(log, interval="bernstein", cluster=None))


def test_a_group_of_one_value_is_not_told_of() -> None:
    result = offrank.evaluate(sized([50] * 40), BEST, "logged", ["ips"], by="query")
    assert result.facts["cluster"] == "query"
    for group in result.groups.values():
        assert said(group["ips"]) == {}
        assert math.isfinite(group["ips"].high)


def test_where_one_value_holds_all_the_weight_the_default_still_has_an_interval() -> None:
    log = sized([100] * 10)
    best = [[1] if n < 100 else [2] for n in range(1_000)]  # item 2 is never shown
    log = replaced(log, best=best, candidates=[[0, 1, 2]] * 1_000)
    found = offrank.evaluate(log, BEST, "logged", ["snips"])["snips"]
    assert math.isfinite(found.high)
    assert said(found)["few-clusters"] == "serious"
    assert not math.isfinite(offrank.evaluate(log, BEST, "logged", ["snips"], cluster="query")["snips"].high)


@pytest.mark.parametrize(
    ("clusters", "severity"), [(4, "serious"), (5, "warning"), (19, "warning"), (20, None), (30, None)]
)
def test_few_clusters_of_one_size(clusters: int, severity: str | None) -> None:
    found = offrank.evaluate(sized([100] * clusters), BEST, "logged", ["logged"], cluster="query")["logged"]
    assert found.effective_clusters == pytest.approx(clusters, rel=1e-9)
    assert said(found).get("few-clusters") == severity


def satterthwaite(sizes: np.ndarray) -> float:
    """2 mean^2 / variance of the jackknife's quadratic form in independent rows, from its matrix."""
    share = sizes / sizes.sum()
    residual = np.diag(1 / (1 - share)) @ (np.eye(len(share)) - np.outer(share, np.ones(len(share))))
    form = residual @ np.diag(share) @ residual.T
    return float(np.trace(form) ** 2 / np.trace(form @ form))


def test_clusters_of_unlike_size_are_worth_fewer() -> None:
    sizes = np.round(1_000 / np.arange(1, 61)).astype(int)
    found = offrank.evaluate(sized(sizes), BEST, "logged", ["logged"])["logged"]
    assert 8 < found.effective_clusters < 20
    assert found.effective_clusters == pytest.approx(1 + satterthwaite(sizes), rel=1e-9)
    assert said(found)["few-clusters"] == "warning"
    half = found.high - found.value
    assert half / found.standard_error == pytest.approx(stats.t.ppf(0.975, found.effective_clusters - 1), rel=1e-6)


@pytest.mark.parametrize("clusters", [8, 15, 19])
@pytest.mark.parametrize("times", [1, 3])
def test_quantiles_are_those_of_student_however_many_clusters(clusters: int, times: int) -> None:
    log = sized([20] * (clusters * times))
    found = offrank.evaluate(log, BEST, "logged", ["logged"], cluster="query", interval="normal")["logged"]
    quantile = (found.high - found.value) / found.standard_error
    assert quantile == pytest.approx(stats.t.ppf(0.975, found.effective_clusters - 1), rel=1e-6)
    assert quantile > 1.005 * stats.norm.ppf(0.975)


def test_one_large_cluster_does_not_hide_its_own_error() -> None:
    # With nine rows in ten the large cluster draws the mean to itself: its residual is a tenth of its distance.
    clicks = np.r_[np.ones(900), np.tile([0, 1], 50)].astype(int)
    log = coins(
        1_000, clicks=clicks[:, None].tolist(), query=np.r_[np.zeros(900), 1 + np.arange(100) // 10].astype(int)
    )
    found = offrank.evaluate(log, BEST, "logged", ["logged"])["logged"]
    mean, small = clicks.mean(), 0.5
    without = [small] + [(clicks.sum() - 5) / 990] * 10
    expected = math.sqrt(10 / 11 * sum((one - mean) ** 2 for one in without))
    assert found.standard_error == pytest.approx(expected, rel=1e-9)


def coverage(sizes: np.ndarray, logs: int, **options: Any) -> float:
    """How often the interval of the logged mean holds a half."""
    held = 0
    for seed in range(logs):
        found = offrank.estimate(sized(sizes, seed), BEST, "logged", ["logged"], **options)["logged"]
        held += found.low <= 0.5 <= found.high
    return held / logs


@pytest.mark.turns(3)
@pytest.mark.parametrize("interval", ["normal", "bootstrap"])
def test_coverage_with_zipf_sizes(interval: str) -> None:
    sizes = np.maximum(1, np.round(200 / np.arange(1, 151)).astype(int))
    assert coverage(sizes, 60, interval=interval, replicates=60) >= 0.86  # .95 less three standard errors
    assert coverage(sizes, 30, interval=interval, replicates=60, cluster=None) < 0.7


def test_the_mean_weight_is_judged_by_rows_whatever_they_are_clustered_by() -> None:
    log = replaced(sized([200] * 8), propensity=np.full(1_600, 0.4))
    found = judged(log)
    assert found.cluster == "query"
    assert "mean-weight" in {caution.code for caution in found.warnings}


def test_metrics_are_clustered_too() -> None:
    sizes = [50] * 40
    codes = np.repeat(np.arange(40), sizes)
    rng = np.random.default_rng(0)
    shown = np.argsort(rng.random((2_000, 2)), axis=1)
    right = rng.random(40)[codes] < 0.5
    clicked = (shown == right.astype(int)[:, None]).astype(int)
    log = pa.table(
        {
            "slate": pa.array(shown.tolist()),
            "candidates": pa.array(shown.tolist()),
            "clicks": pa.array(clicked.tolist()),
            "score": pa.array((shown == 1).astype(float).tolist()),
            "query": pa.array(codes),
        }
    )
    found = offrank.measure(log, "score", "uniform", ["pairwise_disagreement"])
    alone = offrank.measure(log, "score", "uniform", ["pairwise_disagreement"], cluster=None)
    [wide], [narrow] = found.estimates.given.values(), alone.estimates.given.values()
    assert wide.standard_error > 3 * narrow.standard_error
    assert found.facts["cluster"] == "query"
    assert alone.facts["cluster"] is None
    assert [caution.code for caution in wide.warnings] == ["clustered"]
