"""In Python too, no verb writes over what it reads, and files of others are replaced only with `overwrite=True`."""

from __future__ import annotations

import importlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import offrank
from offrank.errors import UsageError
from offrank.policies.linear import Encoding, Model
from offrank_papers.adverts import AdvertWorld
from tests.verbs.logs import WORLD, search

READ, THERE = "is an input, so it cannot be written to", "exists already"
LAW = ("top(new_score)", "plackett_luce(old_score)")
SMALL = {"sessions": 20, "queries": 3, "documents": 3}
ADVERTS, QUICK = AdvertWorld(90, slots=1).source(), {"epochs": 1, "bits": 6, "test": False}
Write = Callable[..., Any]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    table = search().slice(0, 400)
    pq.write_table(table, folder / "log.parquet")
    pyarrow.csv.write_csv(_long(table), folder / "log.csv")
    pyarrow.feather.write_feather(_long(table), folder / "long.arrow")
    offrank.fit_clicks(table, "pbm", folder / "pbm.json")
    offrank.evaluate(table, *LAW, "snips", state=folder / "a.state")
    Model(Encoding.plain(4), np.ones(16)).save(folder / "p.npz")
    return folder


def _long(table: Any) -> Any:
    rows = [
        {"impression": number, "item": item, "position": rank, "click": int(click), "propensity": row["propensity"]}
        for number, row in enumerate(table.to_pylist())
        for rank, (item, click) in enumerate(zip(row["slate"], row["clicks"], strict=True), 1)
    ]
    return pyarrow.Table.from_pylist(rows)


@pytest.fixture
def folder(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


OVER_INPUTS: dict[str, tuple[Write, str]] = {
    "convert": (lambda path, **how: offrank.convert(offrank.read_log("log.parquet"), path, **how), "log.parquet"),
    "convert, long": (lambda path, **how: offrank.convert(offrank.read_log("long.arrow"), path, **how), "long.arrow"),
    "simulate": (lambda path, **how: offrank.simulate(path, user="pbm.json", **SMALL, **how), "pbm.json"),
    "learn": (lambda path, **how: offrank.learn("log.parquet", "ips", path, logging="linear('p.npz')", **how), "p.npz"),
    "fit": (lambda path, **how: offrank.fit_clicks(["log.parquet"], "pbm", path, **how), "log.parquet"),
    "fit, read": (lambda path, **how: offrank.fit_clicks(offrank.read_log("log.csv"), "pbm", path, **how), "log.csv"),
    "predict": (lambda path, **how: offrank.predict_clicks("log.csv", "pbm.json", path, **how), "log.csv"),
    "judge": (lambda path, **how: offrank.judge_clicks("x.csv", path, **how), "x.csv"),
    "merge": (lambda path, **how: offrank.merge("*.state", state=path, **how), "a.state"),
    "evaluate, log": (lambda path, **how: offrank.evaluate("log.csv", "uniform", state=path, **how), "log.csv"),
    "evaluate, model": (
        lambda path, **how: offrank.evaluate("log.parquet", *LAW, "pbm", examination="pbm.json", state=path, **how),
        "pbm.json",
    ),
    "compare": (
        lambda path, **how: offrank.compare("log.parquet", {"a": "linear('p.npz')"}, state=path, **how),
        str(Path("p.npz")),
    ),
}


@pytest.mark.parametrize("case", OVER_INPUTS)
def test_no_input_is_an_output(case: str, folder: Path) -> None:
    write, name = OVER_INPUTS[case]
    path = folder / name
    before = path.read_bytes() if path.exists() else None
    for given in (name, path):
        with pytest.raises(UsageError, match=READ):
            write(given, overwrite=True)
    assert (path.read_bytes() if path.exists() else None) == before


def test_nothing_is_written_into_a_folder_that_is_read(folder: Path) -> None:
    (log := folder / "log").mkdir()
    shutil.copy("log.parquet", log)
    with pytest.raises(UsageError, match="read as a whole"):
        offrank.evaluate(log, *LAW, "snips", state=log / "new.state")
    assert len(list(log.iterdir())) == 1


OVER_OTHERS: dict[str, tuple[Write, str]] = {
    "convert": (lambda path, **how: offrank.convert("log.parquet", path, **how), "x.parquet"),
    "simulate": (lambda path, **how: offrank.simulate(path, **SMALL, **how), "x.parquet"),
    "learn": (
        lambda path, **how: offrank.learn(
            AdvertWorld(90, slots=1).source(), "ips", path, epochs=1, bits=6, test=False, **how
        ),
        "x.npz",
    ),
    "fit": (lambda path, **how: offrank.fit_clicks("log.parquet", "pbm", path, **how), "x.json"),
    "fitted": (lambda path, **how: offrank.clicks.load("pbm.json").save(path, **how), "x.json"),
    "predict": (lambda path, **how: offrank.predict_clicks("log.parquet", "pbm.json", path, **how), "x.csv"),
    "judge": (lambda path, **how: offrank.judge_clicks("pbm.json", path, **how), "x.csv"),
    "merge": (lambda path, **how: offrank.merge("a.state", state=path, **how), "x"),
    "evaluate": (lambda path, **how: offrank.evaluate("log.parquet", *LAW, "snips", state=path, **how), "x"),
    "to_json": (lambda path, **how: offrank.check("log.parquet").to_json(path, **how), "x"),
    "save_html": (lambda path, **how: offrank.check("log.parquet").save_html(path, **how), "x"),
    "mapping": (lambda path, **how: offrank.inspect("log.parquet").save(path, **how), "x"),
    "policy": (lambda path, **how: Model(Encoding.plain(4), np.ones(16)).save(path, **how), "x"),
}
LOGS = {"convert", "simulate", "predict", "judge"}
"""What writes tables, which bear no mark."""


@pytest.mark.turns(3)
@pytest.mark.parametrize("case", OVER_OTHERS)
def test_a_file_of_others_is_replaced_only_if_asked(case: str, folder: Path) -> None:
    write, name = OVER_OTHERS[case]
    (path := folder / name).write_text("years of work")
    with pytest.raises(UsageError, match=f"{THERE}.*\n.*overwrite=True"):
        write(path)
    assert path.read_text() == "years of work"
    write(path, overwrite=True)
    assert b"years of work" not in path.read_bytes()
    if case in LOGS:
        with pytest.raises(UsageError, match=THERE):
            write(path)
    else:
        write(path)  # now it is offrank's


def test_a_result_is_not_written_over_what_it_was_made_of(folder: Path) -> None:
    found = offrank.evaluate("log.csv", "logged", estimators="logged")
    model = offrank.fit_clicks("log.parquet", "pbm", "new.json")
    curve = offrank.evaluate("log.parquet", *LAW, "pbm", examination="pbm.json", state="b.state")
    wanted = [(found, "log.csv"), (model, "new.json"), (curve, "pbm.json"), (curve, "./b.state")]
    wanted += [(offrank.inspect("log.csv"), "log.csv"), (offrank.merge("a.state").at(0.9), "a.state")]
    for result, name in wanted:
        before = Path(name).read_bytes()
        for write in (result.to_json, result.save_html):
            with pytest.raises(UsageError, match=READ):
                write(name, overwrite=True)
        assert Path(name).read_bytes() == before


def test_what_simulate_says_of_itself_may_be_replaced(folder: Path) -> None:
    for _ in range(2):
        made = offrank.simulate("x.parquet", **SMALL, overwrite=True)
        assert json.loads(made.to_json("x.json"))["kind"] == "simulate"


def test_the_demo_replaces_its_own_files_and_no_others(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.import_module("offrank.verbs.demo"), "ESTIMATORS", ("ips",))
    pq.write_table(WORLD.table(10, 0), (mine := folder / "log.parquet"))
    before = mine.read_bytes()
    with pytest.raises(UsageError, match=r"log.parquet' exists already"):
        offrank.demo(folder, impressions=1000)
    assert mine.read_bytes() == before
    offrank.demo(folder, impressions=1000, overwrite=True)
    mine.with_name("result.json").unlink()  # as where it was killed
    offrank.demo(folder, impressions=1000)
    mine.with_name("report.html").write_text("mine")
    with pytest.raises(UsageError, match=r"report.html' exists already"):
        offrank.demo(folder, impressions=1000)


def test_a_list_of_rows_and_a_stream_are_left_alone(folder: Path) -> None:
    rows = search().slice(0, 50)
    assert offrank.convert(rows.to_pylist(), "rows.parquet").rows == 50
    stream = pyarrow.RecordBatchReader.from_batches(rows.schema, rows.to_batches())
    assert offrank.fit_clicks(stream, "pbm", "stream.json").fitted.tally.impressions == 50
