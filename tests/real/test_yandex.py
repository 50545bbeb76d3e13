"""Search sessions without propensities: rankings judged from sessions that showed other rankings."""

from __future__ import annotations

from pathlib import Path

import pytest

import offrank
from benchmarks import real_clicks
from offrank.readers import yandex


@pytest.fixture
def path(shared_data: Path) -> Path:
    return shared_data / "yandex-relpred" / "trainSample"


def test_what_was_logged(path: Path) -> None:
    result = offrank.evaluate(yandex(path), "uniform", offrank.Counted(by="query"), ["logged", "ipm"])
    assert result["logged"].n == 35_064
    assert result["logged"].value == pytest.approx(42_703 / 35_064)
    assert result.to_dict()["log"]["skipped"] == {"click-outside-slate": 417, "click-repeated": 7201}
    assert "counted-propensities" in {caution.code for caution in result["ipm"].warnings}


def test_twenty_queries_of_unlike_size_say_little(path: Path) -> None:
    result = offrank.evaluate(yandex(path), "uniform", offrank.Counted(by="query"), ["logged"])
    found = result["logged"]
    alone = offrank.evaluate(yandex(path), "uniform", offrank.Counted(by="query"), ["logged"], cluster=None)["logged"]
    assert found.cluster == "query"
    assert (alone.low, alone.high) == pytest.approx((1.202, 1.233), abs=1e-3)
    assert found.low < 0.92
    assert found.high > 1.54
    assert found.effective_clusters < 5  # one query has more than half of the sessions
    assert {caution.code: caution.severity for caution in found.warnings}["few-clusters"] == "serious"


def test_repeated_clicks_count_on_request(path: Path) -> None:
    log = yandex(path, repeats="count")
    result = offrank.evaluate(log, "uniform", offrank.Counted(by="query"), ["logged"])
    assert result["logged"].value > 1.1 * 42_703 / 35_064


def test_held_out_rankings(path: Path) -> None:
    found = list(real_clicks.trials(real_clicks.sessions(path)))
    error = {name: real_clicks.root_mean_square(found, name) for name in real_clicks.ESTIMATORS}
    assert len(found) == 23
    # The truths themselves are known to about .1 only, so no more is claimed than what is plain:
    # a window mends what the item-position model has never seen at the right rank, and the
    # position-based one loses all items that the other sessions did not show.
    assert error["interpol(window=2)"] < 0.75 * error["ipm"]
    assert error["interpol(window=2)"] < error["pbm"] / 2
    assert error["interpol(window=2)"] == pytest.approx(0.15, abs=0.02)
