"""Rows that were written twice are found, and rows that are equal by chance are not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

import offrank
from offrank import Counted, Uniform
from offrank.checks.duplicates import ContentsFold
from offrank.findings import cautions_for
from offrank.findings.log import LogEvidence
from offrank.simulation import SearchWorld
from offrank.sums.sampled import sketch
from tests.verbs.logs import LOGGING, coins, dice, search


def warnings(log: Any, target: Any = "uniform", logging: Any = "logged") -> dict[str, str]:
    found = offrank.evaluate(log, target, logging, ["ips"], cluster=None)
    assert not [caution for caution in found["ips"].warnings if caution in found.about_log]
    return {caution.code: caution.message for caution in found.about_log}


def checks(log: Any) -> dict[str, str]:
    return {row["code"]: row["status"] for row in offrank.check(log).facts["checks"]}


def interleaved(log: pa.Table, times: int = 2) -> pa.Table:
    return log.take(np.repeat(np.arange(log.num_rows), times))


LOGS = {
    "unlike rows": lambda: SearchWorld(impressions=3_000, queries=60, seed=1).table(3_000, 0),
    "few contents": lambda: dice(4_000, sides=4),
    "more than are kept": lambda: SearchWorld(impressions=30_000, queries=2_000, seed=1).table(30_000, 0),
}


@pytest.mark.parametrize("name", LOGS)
def test_a_file_that_is_read_twice_is_found(name: str) -> None:
    log = LOGS[name]()
    assert "duplicate-rows" not in warnings(log)
    assert "duplicate-rows" not in checks(log)
    for twice in (pa.concat_tables([log, log]), interleaved(log)):
        assert "50 %" in warnings(twice)["duplicate-rows"]
        assert checks(twice)["duplicate-rows"] == "warning"


def test_a_join_that_makes_three_of_each_is_found() -> None:
    assert "67 %" in warnings(interleaved(dice(2_000), 3))["duplicate-rows"]


@pytest.mark.parametrize(("share", "found"), [(0.04, False), (0.1, True), (0.3, True)])
def test_copies_of_a_part_are_found_where_rows_are_unlike(share: float, found: bool) -> None:
    log = coins(4_000, user=np.arange(4_000))
    rows = np.sort(np.concatenate([np.arange(4_000), np.arange(int(4_000 * share))]))
    told = offrank.evaluate(log.take(rows), Uniform(), "logged", ["ips"], cluster="user").about_log
    assert ("duplicate-rows" in [caution.code for caution in told]) is found


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("sides", "slots"), [(2, 1), (4, 2), (4, 4), (6, 4), (8, 5)])
def test_rows_that_are_equal_by_chance_are_not(sides: int, slots: int, seed: int) -> None:
    assert "duplicate-rows" not in warnings(dice(3_000, seed, sides=sides, slots=slots))


def test_good_logs_are_not_alarmed() -> None:
    assert "duplicate-rows" not in warnings(search(), logging=LOGGING)
    assert "duplicate-rows" not in warnings(coins(4_000))


def copies(times: NDArray[np.int64]) -> float:
    """What is found of contents that occur so often."""
    return ContentsFold().result(sketch(len(times), np.arange(len(times), dtype=np.uint64), times[:, None]))


def contents(*counts: int) -> float:
    """What is found where `counts[i]` contents occur i + 1 times."""
    return copies(np.repeat(np.arange(1, len(counts) + 1), counts))


def test_how_many_contents_and_copies_it_takes() -> None:
    assert contents(0, 24) == 0
    assert contents(0, 25) == 0.5
    assert contents(0, 0, 25) == pytest.approx(2 / 3)
    # Of 100 contents, each 22 or 23 times, at most a half, give or take 5 standard deviations of 5, are even by chance.
    often = [0] * 21
    assert contents(*often, 74, 26) == 0
    assert contents(*often, 75, 25) == pytest.approx(0.5 * 0.75)
    # Of 4,000 that occur once and 300 twice, 12 at least would occur three times: (300 - 52)^2 / (1.5 * 4,190) = 9.8.
    assert contents(4_000, 300, 0) == pytest.approx(300 / 4_600)
    # None of 9.2 or more is rarer than 1e-4: (293 - 51.4)^2 / (1.5 * 4,191) = 9.3, and (290 - 51.1)^2 to that 9.1.
    assert contents(4_000, 293, 0) == pytest.approx(293 / 4_586)
    assert contents(4_000, 290, 0) == 0
    assert contents(4_000, 280, 0) == 0
    assert contents(4_000, 300, 1) == 0


@pytest.mark.parametrize("rate", [0.02, 0.3, 1.0, 3.0, 30.0])
def test_no_mixture_of_independent_rows_alarms(rate: float) -> None:
    rng = np.random.default_rng(5)
    for spread in (0.0, 1.0, 2.0):
        means = rate * rng.lognormal(0, spread, 3_000) if spread else np.full(3_000, rate)
        times = rng.poisson(means)
        times = times[times > 0]
        assert copies(times) == 0


def counted(rows: int, queries: int) -> list[str]:
    log = coins(rows, query=np.arange(rows) % queries)
    found = offrank.evaluate(log, Uniform(), Counted(), ["ipm", "logged"])
    assert "few-rows-per-context" not in [caution.code for caution in found["logged"].about_log]
    assert found["ipm"].about_log == found.about_log
    return [caution.code for caution in found.about_log]


def test_nothing_is_counted_where_nothing_asks_for_it() -> None:
    log = coins(800, query=np.arange(800) % 40)
    found = offrank.evaluate(log, Uniform(), Counted(), ["logged"], cluster=None)["logged"]
    assert found.warnings == ()


@pytest.mark.parametrize(("rows", "queries", "warned"), [(2_000, 40, False), (1_999, 40, True), (800, 40, True)])
def test_propensities_counted_in_few_rows(rows: int, queries: int, warned: bool) -> None:
    assert ("few-rows-per-context" in counted(rows, queries)) is warned


def test_a_check_says_so_too() -> None:
    log = coins(800, query=np.arange(800) % 40)
    codes = {row["code"]: row["status"] for row in offrank.check(log, Uniform(), Counted()).facts["checks"]}
    assert codes["few-rows-per-context"] == "warning"


def test_many_small_contexts_count_beside_a_large_one() -> None:
    # 5,000 rows of one query and 200 queries of 10: a row in seven, but the contexts have 35 rows on average.
    assert len(cautions_for(LogEvidence(rows_per_context=7_000 / 201, counted_by="query"))) == 1
    log = coins(7_000, query=np.r_[np.zeros(5_000), 1 + np.arange(2_000) // 10].astype(int))
    found = offrank.evaluate(log, Uniform(), Counted(), ["ipm"])
    assert "few-rows-per-context" in [caution.code for caution in found.about_log]
