"""`offrank clicks judge` and `clicks predict`: the tables that they write, what they print, and what they refuse."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from offrank.clicks import DCTR, GCTR, load
from tests.cli.commands import call
from tests.clicks.aged import aged
from tests.clicks.test_judgements import rows


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("judged") / "model.json"
    DCTR(prior=(1, 3)).fit(rows()).save(path)
    return path


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_the_table_is_that_of_the_model(suffix: str, model: Path, tmp_path: Path) -> None:
    path = tmp_path / f"table.{suffix}"
    done = call("clicks", "judge", model, "-o", path, "--confidence", "0.8")
    assert done.exit_code == 0, done.output
    expected = load(model).judgements(0.8).to_arrow()
    found = pq.read_table(path) if suffix == "parquet" else pyarrow.csv.read_csv(path)
    assert found.column_names == expected.column_names
    for name in ("query", "item", "grade"):
        assert found.column(name).to_pylist() == expected.column(name).to_pylist()
    assert found.column("relevance").to_pylist() == pytest.approx(expected.column("relevance").to_pylist())
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


def test_what_is_printed_and_written(model: Path, tmp_path: Path) -> None:
    files = ("--json", tmp_path / "t.json", "--html", tmp_path / "t.html")
    done = call("clicks", "judge", model, "-o", tmp_path / "t.csv", "--grades", 3, *files)
    told = " ".join(done.output.split())
    judgements = load(model).judgements(grades=3)
    found = re.search(
        r"dctr\(\[1, 3\]\) judges 8 documents of 2 queries; the grade of (\d+) % of them is certain", told
    )
    assert found
    assert float(found[1]) == pytest.approx(100 * (judgements.certainty >= 0.9).mean(), abs=0.51)
    best = judgements.take((-judgements.relevance).argsort()[:1]).records()[0]
    assert f"{best['query']} {best['item']}" in told
    kept = json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))
    assert (kept["kind"], kept["documents"], sum(kept["by_grade"])) == ("click-judgements", 8, 8)
    assert kept["best"][0]["relevance"] == pytest.approx(best["relevance"])
    assert "clicks judge" in (tmp_path / "t.html").read_text(encoding="utf-8")


def test_judgements_that_say_nothing_are_not_to_be_used(tmp_path: Path) -> None:
    GCTR().fit(rows()).save(tmp_path / "gctr.json")
    done = call("clicks", "judge", tmp_path / "gctr.json", "-o", tmp_path / "t.csv", "--strict")
    assert done.exit_code == 3
    assert "doubtful-judgements (serious)" in done.output


def test_what_is_refused(model: Path, tmp_path: Path) -> None:
    done = call("clicks", "judge", model, "-o", tmp_path / "t.xls")
    assert (done.exit_code, "use the suffix .parquet or .csv" in done.output) == (2, True)
    kept = aged(model)
    del kept["ids"]
    (tmp_path / "old.json").write_text(json.dumps(kept), encoding="utf-8")
    done = call("clicks", "judge", tmp_path / "old.json", "-o", tmp_path / "t.csv")
    assert (done.exit_code, "has no document ids" in done.output) == (2, True)
    assert not (tmp_path / "t.csv").exists()


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_predictions_are_those_of_the_model(suffix: str, model: Path, tmp_path: Path) -> None:
    pq.write_table(pa.Table.from_pylist(rows()), tmp_path / "log.parquet")
    path = tmp_path / f"table.{suffix}"
    done = call("clicks", "predict", tmp_path / "log.parquet", "--model", model, "-o", path)
    assert done.exit_code == 0, done.output
    expected = load(model).predict(rows())
    found = pq.read_table(path) if suffix == "parquet" else pyarrow.csv.read_csv(path)
    assert found.column("item").to_pylist() == expected.column("item").to_pylist()
    mean = found.column("click_probability").to_numpy().mean()
    assert mean == pytest.approx(expected.column("click_probability").to_numpy().mean())
    told = " ".join(done.output.split())
    said = re.search(r"predicts 120 slots: (\d+) % of them clicked", told)
    assert said
    assert float(said[1]) == pytest.approx(100 * mean, abs=0.51)


def test_predictions_of_an_unreadable_log_leave_nothing(model: Path, tmp_path: Path) -> None:
    pq.write_table(pa.table({"slate": [["a", "a"]], "query": ["blue"]}), tmp_path / "log.parquet")
    done = call("clicks", "predict", tmp_path / "log.parquet", "--model", model, "-o", tmp_path / "t.csv")
    assert (done.exit_code, "duplicate-item" in done.output) == (1, True)
    assert [one.name for one in tmp_path.iterdir()] == ["log.parquet"]
