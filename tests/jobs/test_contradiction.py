"""Estimators that assume more are held against those that assume less."""

from __future__ import annotations

import pytest

import offrank
from offrank.simulation import SearchWorld

ESTIMATORS = ("ips", "snips", "rips", "ipm", "interpol(window=1)", "sninterpol(window=3)", "clip(ips, 2)", "logged")
LOGGING = "plackett_luce(old_score)"


@pytest.fixture(scope="module")
def world() -> SearchWorld:
    return SearchWorld(impressions=60_000, queries=50)


def _codes(result: offrank.Result, name: str) -> list[str]:
    return [caution.code for caution in result[name].warnings]


def test_where_the_examination_is_right_nobody_disagrees(world: SearchWorld) -> None:
    log = world.table(world.impressions, 0)
    result = offrank.evaluate(log, "top(new_score)", LOGGING, ESTIMATORS, examination=world.examination)
    assert [name for name in ESTIMATORS if "disagreement" in _codes(result, name)] == []


def test_a_wrong_examination_is_contradicted_by_what_needs_none(world: SearchWorld) -> None:
    log = world.table(world.impressions, 0)
    result = offrank.evaluate(log, "top(new_score)", LOGGING, ESTIMATORS, examination=world.examination**3)
    assert [name for name in ESTIMATORS if "disagreement" in _codes(result, name)] == [
        "interpol(window=1)",
        "sninterpol(window=3)",
    ]
    caution = next(c for c in result["sninterpol(window=3)"].warnings if c.code == "disagreement")
    assert "`ipm`" in caution.message or "`interpol(window=1)`" in caution.message
    assert not result["sninterpol(window=3)"].trustworthy
    assert "This is ipm" in str(result) or "This is rips" in str(result)


def test_alone_there_is_nothing_to_hold_it_against(world: SearchWorld) -> None:
    log = world.table(world.impressions, 0)
    examination = world.examination**3
    result = offrank.evaluate(
        log, "top(new_score)", LOGGING, ["interpol(window=1)"], examination=examination, cluster=None
    )
    assert _codes(result, "interpol(window=1)") == []
