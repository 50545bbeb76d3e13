"""Advice fits the case: the estimator, the log, the interval, and who asks: in Python or on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import offrank
from offrank.cli.command import main
from offrank.findings import cautions_for
from offrank.findings.rows import TrainingEvidence
from offrank.findings.weights import ClustersEvidence
from offrank.wording import worded
from tests.findings.rows import row
from tests.verbs.logs import LOGGING, TARGET, coins, replaced, search

FEW = np.arange(200) < 20


def remedy(code: str, *evidence: object) -> str:
    return next(one.remedy for one in cautions_for(*evidence) if one.code == code)


def told(log: Any, name: str, code: str, target: Any = TARGET, **options: Any) -> str:
    found = offrank.evaluate(log, target, LOGGING if "old_score" in log.column_names else "logged", name, **options)
    return next(one.remedy for one in found[name].warnings if one.code == code)


def test_a_refusal_advises_items_where_they_can_help() -> None:
    never = offrank.evaluate(coins(100, slate=[[0]] * 100), offrank.Ranking("best"), "logged", ["ips", "logged"])
    assert "item-level" not in never.estimates.refused["ranking(best)", "ips"].remedy
    log = search().slice(0, 300)
    log = replaced(log, other=[[*reversed(one), 10**6] for one in log["slate"].to_pylist()])
    log = replaced(log, candidates=[[*one, 10**6] for one in log["candidates"].to_pylist()])
    given = offrank.evaluate(log, "ranking(other)", "logged", ["ips", "logged"])
    assert "item-level" in given.estimates.refused["ranking(other)", "ips"].remedy


def test_no_item_level_estimator_for_slates_of_one_item_nor_for_item_level_estimators() -> None:
    few = search().slice(0, 120)
    assert "item-level" in told(few, "ips", "low-ess")
    assert "item-level" not in told(few, "ipm", "low-ess", offrank.Top("naive_score"))
    assert "item-level" not in told(coins(60), "ips", "low-ess", offrank.Ranking("best"))
    assert "closer" not in told(coins(60), "logged", "low-ess", offrank.Ranking("best"))


@pytest.mark.parametrize(
    ("code", "evidence"),
    [
        ("low-ess", {"ess": 9.0}),
        ("small-ess-share", {"ess": 200.0, "n": 10**6}),
        ("large-weight", {"max_weight_share": 0.3}),
        ("heavy-tail", {"tail_index": 0.8}),
    ],
)
def test_only_whole_slates_of_several_slots_are_sent_to_items(code: str, evidence: dict[str, Any]) -> None:
    helped = remedy(code, row(slots=2, **evidence))
    for other in ({"slots": 1}, {"slots": 0}, {"slots": 2, "weighs": "items"}):
        assert remedy(code, row(**other, **evidence)) != helped
    word = "assumes more" if code == "small-ess-share" else "item-level"
    assert word in helped
    assert word not in remedy(code, row(slots=1, **evidence))


def test_another_interval_only_instead_of_the_normal_one() -> None:
    clicks = FEW.astype(int)[:, None].tolist()
    log, best = coins(200, clicks=clicks), offrank.Ranking("best")
    assert 'interval="studentised"' in told(log, "ips", "few-rewards", best, interval="normal")
    for interval in ("studentised", "bootstrap", "bernstein"):
        assert "interval=" not in told(log, "ips", "few-rewards", best, interval=interval)


def test_no_clipping_where_weights_are_clipped_and_else_how_it_is_spelled() -> None:
    log = coins(4_000, propensity=np.where(np.arange(4_000) == 7, 1e-4, 0.5))
    assert '"clip(snips, 100)"' in told(log, "snips", "large-weight", offrank.Uniform())
    assert '"controlled(clip(ips, 100))"' in told(log, "controlled(ips)", "large-weight", offrank.Uniform())
    assert "clip" not in told(log, "clip(ips, 4000)", "large-weight", offrank.Uniform())


def test_a_click_model_is_not_sent_to_the_part_that_learn_kept_apart() -> None:
    assert "held_out" in remedy("same-log", TrainingEvidence(share=1.0))
    assert "held_out" not in remedy("same-log", TrainingEvidence(share=1.0, policy=False))


def test_clusters_are_named_in_the_users_language() -> None:
    some = ClustersEvidence(column="query", clusters=50, effective=50, design_effect=4.0, chosen=True)
    assert "cluster=None" in remedy("clustered", some)
    assert "--cluster" not in remedy("clustered", some)
    said = worded(remedy("clustered", some), "command line")
    assert "--cluster none" in said
    assert "cluster=None" not in said


def test_the_command_advises_options_and_python_arguments(tmp_path: Path) -> None:
    log = coins(200, clicks=FEW.astype(int)[:, None].tolist())
    pq.write_table(log, tmp_path / "log.parquet")
    words = [
        "evaluate",
        str(tmp_path / "log.parquet"),
        "--target",
        "ranking(best)",
        "-e",
        "ips",
        "--interval",
        "normal",
    ]
    printed = " ".join(CliRunner().invoke(main, words).output.split())
    assert "--interval studentised" in printed
    assert "interval=" not in printed
    assert "--interval" not in str(offrank.evaluate(log, "ranking(best)", "logged", "ips"))


def test_a_check_of_a_log_that_is_worth_little_does_not_praise_it() -> None:
    log = coins(400, propensity=np.where(np.arange(400) == 3, 1e-5, 0.5))
    unasked = offrank.check(log)
    assert "All checks passed" not in str(unasked)
    small = str(offrank.check(coins(27)))
    assert "All checks passed" not in small
    assert "Effective sample size, uniform" in small


def test_a_lucky_effective_size_is_told_as_it_is_to_be_expected() -> None:
    lucky = row(n=1000, ess=200.0, ess_ratio=0.25)
    said = next(one.message for one in cautions_for(lucky) if one.code == "low-ess")
    assert said.startswith("Effective sample size: 50 of 1,000 impressions. This log's own weights suggest 200")
