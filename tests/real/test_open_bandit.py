"""Open Bandit Data: two loggers on one campaign, so that one's log can be held against the other's."""

from __future__ import annotations

from pathlib import Path

import pytest

import offrank
from offrank.readers import open_bandit

CLICKS = {("random", "all"): 38, ("random", "men"): 46, ("bts", "all"): 42, ("bts", "men"): 69}
CAMPAIGNS = pytest.mark.parametrize("campaign", ["all", "men"])


@pytest.fixture
def folder(shared_data: Path) -> Path:
    return shared_data / "open-bandit"


@pytest.mark.parametrize(("logger", "campaign"), CLICKS)
def test_the_on_policy_value(logger: str, campaign: str, folder: Path) -> None:
    log = open_bandit(folder / logger / campaign)
    result = offrank.evaluate(log, target="uniform", estimators=["logged"])
    assert result["logged"].value == pytest.approx(CLICKS[logger, campaign] / 10_000)


@CAMPAIGNS
def test_the_random_logger_is_the_uniform_policy(campaign: str, folder: Path) -> None:
    result = offrank.evaluate(open_bandit(folder / "random" / campaign), target="uniform")
    assert result["ips"].mean_weight == pytest.approx(1, abs=1e-12)
    assert result["ips"].value == pytest.approx(CLICKS["random", campaign] / 10_000)
    assert result["ips"].ess == pytest.approx(10_000)


@CAMPAIGNS
def test_the_uniform_policy_from_the_log_of_the_bandit(campaign: str, folder: Path) -> None:
    result = offrank.evaluate(open_bandit(folder / "bts" / campaign), target="uniform")
    truth = offrank.evaluate(open_bandit(folder / "random" / campaign), target="uniform", estimators=["logged"])
    estimate, logged = result["snips"], truth["logged"]
    apart = abs(estimate.value - logged.value)
    assert apart < 4 * (estimate.standard_error**2 + logged.standard_error**2) ** 0.5
    weight = result["ips"].mean_weight_interval
    assert weight is not None
    assert abs(weight.value - 1) < 3 * weight.standard_error
    assert estimate.ess < 1000
    assert "few-rewards" in {caution.code for caution in estimate.warnings}


def test_by_position(folder: Path) -> None:
    result = offrank.evaluate(open_bandit(folder / "bts" / "men"), target="uniform", by="position")
    assert sorted(result.groups) == ["1", "2", "3"]
    assert sum(estimates["ips"].n for estimates in result.groups.values()) == 10_000


@CAMPAIGNS
def test_the_propensities_pass_the_checks(campaign: str, folder: Path) -> None:
    assert offrank.check(open_bandit(folder / "bts" / campaign)).trustworthy
