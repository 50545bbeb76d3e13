"""`select clicks` obeys its own findings: what they convict is chosen by name only, in text, JSON and exit code."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import offrank
from tests.cli.commands import call

# One worker: what these tests share is made once.
pytestmark = pytest.mark.xdist_group("clicks convicted")

QUERIES, ITEMS, TEMPERATURE = 150, 10, 0.1
LOGGING = f"plackett_luce(score, temperature={TEMPERATURE}, log=True)"


def sessions(rows: int, seed: int, temperature: float = TEMPERATURE) -> pa.Table:
    """Users of a position-based model under a policy that knows the grades nearly."""
    world, rng = np.random.default_rng(1), np.random.default_rng(seed)
    grade = world.choice(5, (QUERIES, ITEMS), p=[0.3, 0.3, 0.2, 0.12, 0.08]).astype(float)
    score = grade + world.normal(0, 0.7, grade.shape)
    query = rng.integers(0, QUERIES, rows)
    slate = np.argsort(-(score[query] / temperature + rng.gumbel(size=(rows, ITEMS))), axis=1, kind="stable")
    chance = (0.1 + 0.9 * (2**grade - 1) / 15)[query[:, None], slate] / np.arange(1, ITEMS + 1)
    columns = {"query": query, "slate": list(slate), "candidates": [list(range(ITEMS))] * rows}
    columns |= {"clicks": list((rng.random(slate.shape) < chance).astype(int))}
    return pa.table(columns | {"grade": list(grade[query]), "score": list(score[query])})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("convicted")
    for name, rows, seed in (("train", 9_000, 1), ("test", 1_500, 2)):
        pq.write_table(sessions(rows, seed), path / f"{name}.parquet")
    pq.write_table(sessions(1_500, 3, 1e9), path / "uniform.parquet")
    for model in ("pbm", "ubm", "dctr", "gctr", "cascade"):
        offrank.fit_clicks(path / "train.parquet", model, path / f"{model}.json")
    return path


def words(folder: Path, *models: str, log: str = "test", logging: str = LOGGING) -> list[object]:
    each = [word for name in models for word in ("--model", folder / f"{name}.json")]
    return [folder / f"{log}.parquet", *each, "--labels", "grade", "--logging", logging]


@pytest.mark.turns(3)
def test_by_default_nothing_is_chosen_that_the_same_output_convicts(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "s.json"
    done = call("select", "clicks", *words(folder, "dctr", "gctr", "cascade", "pbm", "ubm"), "--json", out)
    assert done.exit_code == 0, done.output
    written = json.loads(out.read_text())
    expected = {"dctr": "carries-policy", "gctr": "no-information", "cascade": "impossible-clicks"}
    assert set(written["excluded"]) == set(expected)
    assert all(code in written["excluded"][name] for name, code in expected.items())
    assert written["choice"] in {"pbm", "ubm"}
    assert {one["name"] for one in written["choices"].values()} <= {"pbm", "ubm"}
    assert f"{written['choice']} is the choice" in " ".join(done.output.split())
    assert "dctr (carries-policy)" in " ".join(done.output.split())
    models = [folder / f"{name}.json" for name in ("dctr", "pbm")]
    found = offrank.select_clicks(folder / "test.parquet", models, "grade", LOGGING)
    assert found.choice is not None
    assert found.choice.name == "pbm"
    assert found.trustworthy == all(one.severity != "serious" for one in found.cautions["pbm"])


def test_a_published_strategy_is_asked_for_by_name(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "s.json"
    asked = ("--strategy", "cmip", "--relevance", "means", "--json", out)
    done = call("select", "clicks", *words(folder, "gctr", "pbm"), *asked)
    assert done.exit_code == 0, done.output
    written = json.loads(out.read_text())
    assert written["choice"] == "gctr"  # which has a CMIP of 0
    assert "gctr must not be chosen (no-information)" in " ".join(done.output.split())


@pytest.mark.parametrize("models", [["dctr"], ["gctr"], ["dctr", "gctr", "cascade"]])
def test_where_every_model_is_convicted_none_is_chosen(folder: Path, tmp_path: Path, models: list[str]) -> None:
    out = tmp_path / "s.json"
    done = call("select", "clicks", *words(folder, *models), "--json", out)
    assert done.exit_code == 3
    written = json.loads(out.read_text())
    assert (written["choice"], written["choices"]) == (None, {})
    assert set(written["excluded"]) == set(models)
    assert "No model is chosen" in done.output
    assert {one["model"] for one in written["measured"]} == set(models)  # measured all the same


def test_a_policy_that_ranks_nothing_convicts_no_model(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "s.json"
    done = call("select", "clicks", *words(folder, "pbm", "gctr", log="uniform", logging="uniform"), "--json", out)
    assert done.exit_code == 0, done.output
    written = json.loads(out.read_text())
    assert written["choice"] == "pbm"
    assert "no-policy" in done.output
    assert list(written["excluded"]) == ["gctr"]


def test_cmip_is_read_as_what_is_above_a_right_model(folder: Path) -> None:
    """Of the right model about 0, at most a fifth of that of the wrong one; in JSON, frames, terminal and page."""
    models = [folder / f"{name}.json" for name in ("pbm", "dctr")]
    found = offrank.select_clicks(folder / "test.parquet", models, "grade", LOGGING)
    written = found.to_dict()["cmip"]
    right, wrong = written["pbm"]["excess"], written["dctr"]["excess"]
    assert right["low"] <= 0 <= right["high"]
    assert abs(right["value"]) <= 0.2 * wrong["value"]
    assert wrong["low"] > 0
    rows = {one["model"]: one for one in found.records() if one["metric"] == "cmip"}
    for name, excess in (("pbm", right), ("dctr", wrong)):
        assert [rows[name][key] for key in ("value", "low", "high")] == [
            excess[key] for key in ("value", "low", "high")
        ]
        assert written[name]["value"] - written[name]["floor"]["value"]["value"] == pytest.approx(excess["value"])
    for text in (str(found), re.sub(r"</?abbr[^>]*>", "", found.to_document().render())):
        assert "CMIP above an unbiased model" in text
    assert str(found.cmip["pbm"]).startswith("CMIP above an unbiased model's: ")
