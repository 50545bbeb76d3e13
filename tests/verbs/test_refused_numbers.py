"""Seeds and worths that are none are refused before a log is read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import offrank
from offrank.errors import UsageError
from tests.cli.commands import call

ROWS = [
    {"query": n % 3, "slate": [[1, 2], [2, 1]][n % 2], "clicks": [n % 2, 0], "score": [1.0, 2.0]} for n in range(60)
]

WITH_SEED: dict[str, Callable[[int], object]] = {
    "harvest": lambda seed: offrank.harvest_clicks("no-log.parquet", seed=seed),
    "judge": lambda seed: offrank.judge_clicks("no-model.json", seed=seed),
    "select": lambda seed: offrank.select_clicks("no-log.parquet", ["no-model.json"], "grade", seed=seed),
    "learn": lambda seed: offrank.learn("no-log.parquet", "ips", "policy.npz", seed=seed),
    "demo": lambda seed: offrank.demo("no-demo", seed=seed),
}


@pytest.mark.parametrize("verb", WITH_SEED)
@pytest.mark.parametrize("seed", [-1, 0.5])
def test_a_seed_is_a_whole_number_from_0(verb: str, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=f"seed is {seed}"):
        WITH_SEED[verb](seed)


@pytest.mark.parametrize("worth", [0.0, -2.0, float("nan"), float("inf")])
def test_one_unit_is_worth_more_than_nothing(worth: float) -> None:
    assert call("evaluate", "no-log.parquet", "--target", "uniform", "--worth", worth).exit_code == 2
    result = offrank.evaluate(ROWS, "uniform", "uniform", "ips")
    with pytest.raises(UsageError, match="worth is"):
        result.with_facts(worth=worth)
    assert result.with_facts(worth=1e-9).metadata.worth == 1e-9
