"""The Criteo NIPS'17 log: sub-sampling corrected once, and noticed when it is corrected twice."""

from __future__ import annotations

from pathlib import Path

import pytest

import offrank
from offrank.readers import criteo


@pytest.fixture
def path(shared_data: Path) -> Path:
    return shared_data / "criteo-nips17" / "criteo_first2000.txt.gz"


@pytest.fixture
def once(path: Path) -> offrank.Result:
    return offrank.evaluate(criteo(path), target="uniform", estimators=["logged", "ips", "snips"])


@pytest.fixture
def twice(path: Path) -> offrank.Result:
    log = criteo(path, propensities="as-written")
    return offrank.evaluate(log, target="uniform", estimators=["logged", "ips", "snips"])


def codes(estimate: offrank.Estimate) -> set[str]:
    return {caution.code for caution in estimate.warnings}


def test_the_logged_click_rate(once: offrank.Result) -> None:
    # 91 clicks; each of the 1,909 impressions without a click stands for ten.
    assert once["logged"].value == pytest.approx(91 / (91 + 10 * 1909))
    assert once["logged"].n == 2000


def test_the_mean_weight_of_the_uniform_policy(once: offrank.Result) -> None:
    # .816 on these 2,000 impressions; the whole log's is .98. The weights' tail is so heavy that a
    # short log shows too little of it, which the tail index says.
    weight = once["ips"].mean_weight_interval
    assert weight is not None
    assert weight.value == pytest.approx(0.816, abs=0.001)
    assert weight.value + 4 * weight.standard_error > 1
    assert "heavy-tail" in codes(once["ips"])
    assert "double-subsampling" not in codes(once["ips"])


def test_the_mean_weight_close_to_the_logging_policy(path: Path) -> None:
    # Less weight on the tail: 98 % of it is seen.
    result = offrank.evaluate(criteo(path), target="epsilon(logged, 0.1)", estimators=["ips"])
    assert result["ips"].mean_weight == pytest.approx(0.982, abs=0.001)


def test_uniform_earns_less_than_the_logging_policy(once: offrank.Result) -> None:
    assert once["snips"].value < once["logged"].value


def test_correcting_twice_is_noticed(once: offrank.Result, twice: offrank.Result) -> None:
    assert twice["ips"].mean_weight == pytest.approx(8.14, abs=0.01)
    assert "double-subsampling" in codes(twice["ips"])
    assert not twice.trustworthy


def test_check_names_what_is_wrong(path: Path) -> None:
    fine, double = (offrank.check(criteo(path, propensities=p)) for p in ("true", "as-written"))
    assert fine.trustworthy
    assert not double.trustworthy
    assert "already contain that factor" not in fine.to_json()
    assert "already contain that factor" in double.to_json()
