"""Seeds and worths that are none are refused before a log is read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import offrank
from offrank.errors import UsageError
from tests.cli.commands import call

ROWS = [
    {"query": n % 3, "slate": [[1, 2], [2, 1]][n % 2], "clicks": [n % 2, 0], "score": [1.0, 2.0]} for n in range(60)
]

WITH_SEED: dict[str, Callable[[Any], object]] = {
    "harvest": lambda seed: offrank.harvest_clicks("no-log.parquet", seed=seed),
    "judge": lambda seed: offrank.judge_clicks("no-model.json", seed=seed),
    "select": lambda seed: offrank.select_clicks("no-log.parquet", ["no-model.json"], "grade", seed=seed),
    "learn": lambda seed: offrank.learn("no-log.parquet", "ips", "policy.npz", seed=seed),
    "demo": lambda seed: offrank.demo("no-demo", seed=seed),
}


@pytest.mark.parametrize("verb", WITH_SEED)
def test_a_seed_is_a_whole_number(verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=r"seed is 0\.5"):
        WITH_SEED[verb](0.5)


def test_a_negative_seed_is_a_seed() -> None:
    found = [offrank.harvest_clicks(ROWS, seed=seed, replicates=20).to_dict() for seed in (-1, -1, 2**64 - 1, -2)]
    assert found[0] == found[1] == found[2] != found[3]


@pytest.mark.parametrize("worth", [0.0, -2.0, float("nan"), float("inf")])
def test_one_unit_is_worth_more_than_nothing(worth: float) -> None:
    assert call("evaluate", "no-log.parquet", "--target", "uniform", "--worth", worth).exit_code == 2
    result = offrank.evaluate(ROWS, "uniform", "uniform", "ips")
    with pytest.raises(UsageError, match="worth is"):
        result.with_facts(worth=worth)
    assert result.with_facts(worth=1e-9).metadata.worth == 1e-9
